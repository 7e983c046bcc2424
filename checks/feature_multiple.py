from math import prod
from typing import NamedTuple

from tpudiag.model import BOTH, Evidence, Finding, Judgement, Severity, check
from tpudiag.signals import MatrixOp, Signals

from ._compiler import UNVERIFIED, compilation
from ._need import need, of_a_job, percent, share_of
from .batch_multiple import hidden_dimensions, up

LIMIT = 0.20
"""Share of the MXU's work lost to feature dimensions that the author could choose."""
MATERIAL = 0.05
"""A product below this share of all products' work is not worth a word; one whose padding alone is
below it is worth a note."""
LEAST_MS = 0.05
"""Of a step: padding that takes the MXU less, at its peak, is a note. A dispatch takes as long."""


@check("TPU402", Severity.WARNING, needs_model=True, frameworks=BOTH)
def feature_multiple(signals: Signals, limit: float = LIMIT) -> Judgement:
    """Feature dimensions of matrix products fill the MXU badly.

    ## What it sees
    The matrix products of the traced forward step (in a profile: of the program's HLO, without
    those of the backward pass as far as their names tell): their contraction and column dimensions,
    compared with the target's MXU tile (128, on v6e 256). Left out are dimensions that the data or
    the labels fix (784 pixels, 10 classes), widths that divide the tile (64, 32), as small models
    have, and the batched products of attention, whose sizes are heads and lengths. A convolution
    counts as the product of its patches; its channels need only be multiples of 8 if the
    per-replica batch is a multiple of 128. If the TPU compiler ran, also the cycles that it
    estimates for the longest products.

    ## Why it costs
    Each dimension is padded up to the tile: a layer of 130 does the work of one of 256.

    ## What to do
    ```python
    keras.layers.Dense(128)   # not Dense(100); 256 on v6e
    ```

    ## Source
    Cloud TPU performance guide; openxla/xla tiled_layout.md
    """
    if signals.matrix_ops is None:
        of_a_job(signals, "the shapes of matrix products")
    traced = need(signals.matrix_ops, "a traced training step")
    known = [op for op in traced if op.forward and op.batch == 1 and op.sizes_known]
    ops = need(known or None, "a matrix product in the step")
    tile = signals.target.hardware.mxu_tile if signals.target else 128
    lane_batch = signals.batch is not None and signals.batch.per_replica_batch % 128 == 0
    chosen = hidden_dimensions(tuple(ops)) - _of_data(signals)
    padded = [_padded(op, tile, lane_batch, chosen) for op in ops]
    work = sum(each.flops for each in padded)
    wasted = [each for each in padded if each.dims and each.flops >= MATERIAL * work]
    # By width: a layer that is used forty times is mended once, where its product is largest.
    most_work = {frozenset(each.dims): each for each in sorted(wasted, key=lambda e: e.flops)}
    for product in most_work.values():
        if product.lost > limit:
            yield _finding(product, work, tile, limit, small=_lost_ms(product, signals) < LEAST_MS)
    lost_all = 1 - sum(op.flops for op in ops) / work
    yield share_of("padding of chosen dimensions", lost_all, "% of MXU work", limit)
    yield Evidence("MXU tile", tile, "lanes", source="target")
    step = compilation(signals)
    if step is not None and step.program is not None:
        for name, cycles in step.program.products[:3]:
            yield Evidence(f"longest products: {name}", cycles, "cycles", source=UNVERIFIED)


class _Padded(NamedTuple):
    op: MatrixOp
    flops: float
    dims: tuple[int, ...]
    """Those that needed it."""

    @property
    def lost(self) -> float:
        """The share of its work that is padding."""
        return 1 - self.op.flops / self.flops


def _of_data(signals: Signals) -> set[int]:
    """Widths of examples, as they are or flattened; of whole numbers the last is a length."""
    inputs = (each for each in signals.step_inputs or () if each.dtype not in ("int32", "int64"))
    shapes = [[size or 0 for size in (each.shape or ())[1:]] for each in inputs]
    return {size for shape in shapes if shape for size in (shape[-1], prod(shape))}


def _lost_ms(product: _Padded, signals: Signals) -> float:
    """What a product's padding takes forward and backward, at the peak of the MXU."""
    if signals.target is None:
        return LEAST_MS
    # The backward pass takes two products for each of the forward pass.
    flops = 3 * (product.flops - product.op.flops)
    return 1e3 * flops / signals.target.hardware.peak_flops_per_device


def _finding(product: _Padded, work: float, tile: int, limit: float, *, small: bool) -> Finding:
    op, dims = product.op, product.dims
    return Finding(
        f"{op.op} of {op.rows} x {op.contraction} x {op.columns}: {product.lost:.0%} of its MXU "
        f"work is padding, since {' and '.join(map(str, dims))} "
        f"{'is no multiple' if len(dims) == 1 else 'are no multiples'} of {tile}.",
        f"use a multiple of {tile} for the layer's width: "
        f"{', '.join(f'{size} -> {max(round(size / tile), 1) * tile}' for size in dims)}",
        (
            share_of("padding", product.lost, "% of the product", limit),
            Evidence("share of the step's products", percent(product.flops / work), "%"),
        ),
        op.location,
        severity=Severity.INFO if small or product.flops - op.flops < MATERIAL * work else None,
    )


def _padded(op: MatrixOp, tile: int, lane_batch: bool, chosen: set[int]) -> _Padded:
    # A convolution may lay the batch along the lanes: then its channels lie along the 8 sublanes.
    step = 8 if op.convolves and lane_batch else tile
    dims = tuple(
        size
        for size in dict.fromkeys((op.contraction, op.columns))
        if size in chosen and size % step and tile % size
    )
    flops = float(op.flops)
    for size in (op.contraction, op.columns):
        if size in dims:
            flops *= up(size, step) / size
    return _Padded(op, flops, dims)
