"""The work of one device in a step: matrix products, and bytes read and written."""

from collections.abc import Iterable
from math import prod

from tpudiag.signals import Batch, MatrixOp, StepArgument, StepWork
from tpudiag.sources.job.jax.equations import Equations, passes, product
from tpudiag.sources.job.jax.programs import line, within


def read(program: Equations, batch: Batch | None, arguments: Iterable[StepArgument]) -> StepWork:
    """What one device does in a step: bounds, for the compiler joins operations."""
    whole, shared = (batch.global_batch, batch.replicas) if batch is not None else (0, 1)
    shards = {a.shape: a.parts for a in arguments if a.parts > 1}
    flops = again = made = moved = 0
    asked_at = None

    def share(shape: tuple[int, ...], local: bool) -> int:
        of_batch = whole and any(size and size % whole == 0 for size in shape)
        return 1 if local else shards.get(shape, shared if of_batch else 1)

    for seen in program.seen:
        if within(seen.equation):
            continue
        times, here = max(seen.place.times // program.steps, 1), bool(seen.place.sizes)
        made += times * sum(prod(s) * size // share(s, here) for s, size in seen.made)
        sizes = product(seen.equation)
        all_of_it = (*seen.made, *seen.read)
        split = max((share(s, here) for s, _ in all_of_it), default=1)
        work = times * sizes.flops // split if sizes is not None else 0
        flops += work
        if seen.again:
            again += work
            asked_at = asked_at or line(seen.equation)
        moved += times * sum(_padded(s) * size // share(s, here) for s, size in all_of_it)
    return StepWork(
        flops=flops,
        recomputed_flops=again,
        recomputed_at=asked_at,
        made_bytes=made,
        moved_bytes=moved,
    )


def matrix_ops(program: Equations, batch: Batch | None) -> tuple[MatrixOp, ...]:
    """The products of a step, on one device, as the MXU sees them."""
    whole, split = (batch.global_batch, batch.replicas) if batch is not None else (0, 1)
    # Older releases (0.4.30) name none: no product is known to be one of the forward pass then.
    names_transforms = any("jvp(" in seen.place.scope for seen in program.seen)
    found: list[MatrixOp] = []
    for seen in program.seen:
        equation, local = seen.equation, bool(seen.place.sizes)
        sizes = product(equation, whole // split if local else whole)
        if sizes is None:
            continue
        shape = [sizes.rows, sizes.contraction, sizes.batch]
        # The jaxpr has the shapes of all devices together: those made of the batch are shared out.
        of_batch = [n for n, size in enumerate(shape) if whole and size % whole == 0 and not local]
        for n in of_batch[:1]:
            shape[n] //= split
        rows, contraction, many = shape
        times = max(seen.place.times // program.steps, 1)
        found.append(
            MatrixOp(
                op=str(equation.primitive),
                name=seen.place.scope or str(equation.primitive),
                dtype=str(equation.invars[0].aval.dtype),
                rows=rows,
                contraction=contraction,
                columns=sizes.columns,
                flops=2 * many * rows * contraction * sizes.columns * times,
                batch=many,
                location=line(equation),
                forward=names_transforms and "transpose(" not in seen.place.scope,
                passes=passes(equation),
            )
        )
    return tuple(found)


def _padded(shape: tuple[int, ...]) -> int:
    """Elements of an array in tiles of 8 x 128."""
    if len(shape) < 2:
        return prod(shape)
    return prod(shape[:-2]) * -(-shape[-2] // 8) * 8 * -(-shape[-1] // 128) * 128
