import re
from collections.abc import Iterator
from dataclasses import dataclass

from tpudiag.model import BOTH, Evidence, Finding, Judgement, NotMeasured, Severity, check
from tpudiag.prediction.step import DISPATCH_MS
from tpudiag.signals import Batch, MatrixOp, Signals

from ._compiler import fits_at
from ._need import need, of_a_job, share_of

LIMIT = 128
"""The multiple of the per-replica batch that fills the lanes of a tile."""
SOFT_LIMIT = 8
"""The multiple that is enough where every feature dimension is a multiple of 128."""


MATERIAL = 0.05
"""A product below this share of the forward products' work is not worth a word."""
WORTH_TUNING = 0.2
"""Padding below this share of the work is a note: too little to tune a job to another batch for."""
ENOUGH = ": enough, since all features are multiples of 128; 128 a replica fills every tile."
UNKNOWN = "; no product is known whose rows it makes."
_GATES = {"lstm": 4, "gru": 3}
PASSES = 3
"""A step's products for each of its forward pass: by inputs and by weights in the backward pass."""
NEGLIGIBLE = 0.01
"""Padding below this share of the work costs nothing."""
_UNLESS_WANTED = "# nothing need be changed; where another batch is wanted for other reasons:\n"


@check("TPU401", Severity.WARNING, needs_model=True, frameworks=BOTH)
def batch_multiple(signals: Signals, limit: float = LIMIT) -> Judgement:
    """The global batch is not a multiple of 128 x replicas.

    ## What it sees
    The per-replica batch that reaches the traced step, the replicas of the target, and the rows and
    features of the step's matrix products. Rows may be batch x length, or batch x height x width.
    If those are multiples of 128, or so many that less than 1 % of the work is padding, the finding
    is only a note with the cost. It is also a note if the cost is below 20 %, if the padding takes
    less time than a step's dispatch, if no product is known, or if the softer of the two documented
    rules holds: 8 per replica, and features in multiples of 128. A batch that would not fit the
    target is not proposed.

    ## Why it costs
    Tiles are 8 x 128. XLA pads rows and features up to them: the padding is computed and stored.

    ## What to do
    ```python
    global_batch = 128 * strategy.num_replicas_in_sync
    ```

    ## Source
    Cloud TPU performance guide (1,024 for 8 cores with features in multiples of 8, or 64 with
    features in multiples of 128); openxla/xla tiled_layout.md
    """
    of_a_job(signals, "the batch of the step")
    if "batch" in signals.stand_in_kinds:
        raise NotMeasured("the batch is a stand-in's (--fake-data)", "run where the data is")
    batch = need(signals.batch, "a batch at a training step")
    padding = _padding(signals, batch, int(limit))
    rows, odd, matter, lost = padding.rows, padding.odd, padding.matter, padding.lost
    evidence = _evidence(batch, rows, int(limit))
    if batch.global_batch % (int(limit) * batch.replicas) == 0:
        yield from evidence
        return
    soft = batch.per_replica_batch % SOFT_LIMIT == 0 and odd == []
    wasted_ms = _wasted_ms(signals, matter, lost)
    toy = wasted_ms is None or wasted_ms < DISPATCH_MS[0]
    advice = f", no multiple of {int(limit)}"
    # It breaks the rule and loses nothing, for rows are more than examples.
    if padding.free and rows[0] > batch.per_replica_batch:
        most = f"{rows[0]:,} rows (examples x positions) in the largest product"
        advice += f": that costs 0 % here, with {most}."
    elif soft:
        advice = ENOUGH
    elif matter:
        advice += f": up to {lost:.0%} of the products' work is the padding of their rows."
    else:
        advice += UNKNOWN
    small = bool(matter) and lost < WORTH_TUNING
    yield Finding(
        f"a global batch of {batch.global_batch} is {batch.per_replica_batch} a replica{advice}",
        better_batch(signals, batch, int(limit)),
        (
            *evidence,
            share_of("padding of rows", lost, "% of the products", WORTH_TUNING, "estimate"),
            *_time(wasted_ms),
            Evidence("features off 128", ", ".join(map(str, (odd or [])[:5])) or "none"),
        ),
        batch.location,
        severity=Severity.INFO if soft or toy or small else Severity.WARNING,
    )


def _evidence(batch: Batch, rows: list[int], limit: int) -> tuple[Evidence, ...]:
    whole = f"n x {limit * batch.replicas}"
    return (
        Evidence("global batch", batch.global_batch, "examples", whole),
        Evidence("replicas", batch.replicas, "replicas"),
        Evidence("per-replica batch", batch.per_replica_batch, "examples", f"n x {limit}"),
        *(Evidence("rows of a product", count, "rows", f"n x {limit}") for count in rows[:3]),
    )


@dataclass
class _Padding:
    """What the batch costs in padding."""

    rows: list[int]
    """Those that it gives to the products that matter."""
    odd: list[int] | None
    """Features off the lanes; None where none is known."""
    matter: list[MatrixOp]
    lost: float

    @property
    def free(self) -> bool:
        """Whether it costs nothing."""
        return bool(self.matter) and self.lost < NEGLIGIBLE


def _padding(signals: Signals, batch: Batch, limit: int) -> _Padding:
    forward = [op for op in signals.matrix_ops or () if op.forward]
    rows = _rows(forward, batch.per_replica_batch)
    features = hidden_dimensions(tuple(forward))
    odd = sorted({size for size in features if size % 128}) if features else None
    # Features that fill the 128 lanes leave the batch to the 8 sublanes of a tile.
    tile = SOFT_LIMIT if odd == [] else limit
    matter = forward if rows else []
    return _Padding(rows, odd, matter, _lost(matter, batch.per_replica_batch, tile))


def _wasted_ms(signals: Signals, forward: list[MatrixOp], lost: float) -> float | None:
    work = sum(op.flops for op in forward)
    if not work or signals.target is None:
        return None
    padding = PASSES * work * lost / (1 - lost)
    return 1e3 * padding / signals.target.hardware.peak_flops_per_device


def _time(wasted_ms: float | None) -> Iterator[Evidence]:
    """The same as evidence, held against what dispatching a step takes at least."""
    if wasted_ms is not None:
        name = "time of that padding in a step, at the peak"
        yield Evidence(name, float(f"{wasted_ms:.2g}"), "ms", DISPATCH_MS[0], "estimate")


def _rows(forward: list[MatrixOp], replica_batch: int) -> list[int]:
    """The rows that the batch gives to the products that matter, the longest product first.

    Those of batched products (attention) are a length: the batch only counts them.
    """
    work = sum(op.flops for op in forward)
    counted = [op for op in forward if op.batch == 1 and op.rows % replica_batch == 0]
    # Of many small products (a deep network of narrow convolutions) none may matter by itself.
    matter = [op for op in counted if op.flops >= MATERIAL * work] or counted
    return [*dict.fromkeys(op.rows for op in sorted(matter, key=lambda op: -op.flops))]


def _lost(forward: list[MatrixOp], replica_batch: int, tile: int) -> float:
    """The share of the forward products' work that pads rows up to a tile; of a batch of rows
    where no product is known."""
    work = sum(op.flops for op in forward)
    if not work:
        return 1 - replica_batch / up(replica_batch, tile)
    padded = sum(
        # Rows of batched products (attention) are lengths, which no batch changes: counted as they
        # are.
        op.flops * (up(op.rows, tile) / op.rows if op.batch == 1 and op.rows else 1.0)
        for op in forward
    )
    return 1 - work / padded


def better_batch(signals: Signals, batch: Batch, limit: int = LIMIT) -> str:
    """The nearest batch that fills the tiles of all devices that are to share it, and fits."""
    step, now, replicas = signals.sharding, batch.global_batch, batch.replicas
    if step is not None and (step.devices < step.here or step.whole):
        replicas = step.here
    free = _padding(signals, batch, limit).free
    if free and now % replicas:
        return f"global_batch = {up(now, replicas)}  # not {now}: equal parts"
    multiple, soft = limit * replicas, SOFT_LIMIT * replicas
    # Nearest first, then below: a batch that was chosen with care is changed by as little as does
    # it, and never to what does not fit.
    nearest, below = max(multiple, round(now / multiple) * multiple), now // multiple * multiple
    for better in (nearest, below, up(now, soft), now // soft * soft):
        each = better // replicas
        if better and better != now and fits_at(signals, each) is not False:
            return (
                _UNLESS_WANTED * free + f"global_batch = {better}  # {each} x {replicas} replicas"
            )
    return (
        "a larger batch does not fit: make the layers' widths multiples of 128, and multiples of "
        "8 a replica are enough"
    )


def up(size: int, multiple: int) -> int:
    """The next multiple."""
    return -(-size // multiple) * multiple


def hidden_dimensions(ops: tuple[MatrixOp, ...]) -> set[int]:
    """Feature dimensions that the model's author chose: no example's width, no class count.

    They are the ones that one forward product makes and another consumes, the widths of embeddings,
    and the units of recurrent cells, whose product makes all gates at once.
    """
    forward = [op for op in ops if op.forward and op.sizes_known]
    made: set[int] = set()
    consumed: set[int] = set()
    for op in forward:
        # Patches of 3 x 3 x 1 are as wide as 9 classes, which are made later.
        if op.contraction in made or not op.convolves:
            consumed.add(op.contraction)
        # A square one keeps a width, if need be that of the data.
        if op.columns != op.contraction:
            made.add(op.columns)
    embedded = {op.contraction for op in forward if op.reads_embedding}
    units = {op.contraction for op in forward if _is_recurrent(op)}
    return (made & consumed) | embedded | units


def _is_recurrent(op: MatrixOp) -> bool:
    """Whether a product makes the gates of an LSTM or a GRU from the state before, by its name."""
    # By its name, for the graph has no other sign of a cell; the width of four (or three) gates
    # must agree.
    cell = re.search(r"(lstm|gru)[^/]*/[^/]+$", op.name.lower())
    return cell is not None and op.columns == _GATES[cell[1]] * op.contraction
