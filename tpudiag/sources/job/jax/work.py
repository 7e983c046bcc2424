"""The work of one device in a step: matrix products, and bytes read and written."""

from collections.abc import Iterable
from math import prod

from tpudiag.signals import Batch, StepArgument, StepWork
from tpudiag.sources.job.jax.equations import Equations, product
from tpudiag.sources.job.jax.programs import line, within


def read(
    program: Equations, steps: int, batch: Batch | None, arguments: Iterable[StepArgument]
) -> StepWork:
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
        times, here = max(seen.place.times // steps, 1), bool(seen.place.sizes)
        made += times * sum(prod(s) * size // share(s, here) for s, size in seen.made)
        sizes = product(seen.equation)
        split = max((share(s, here) for s, _ in (*seen.made, *seen.read)), default=1)
        work = times * sizes.flops // split if sizes is not None else 0
        flops += work
        if seen.again:
            again += work
            asked_at = asked_at or line(seen.equation)
        moved += times * sum(
            _padded(s) * size // share(s, here) for s, size in (*seen.made, *seen.read)
        )
    return StepWork(
        flops=flops,
        recomputed_flops=again,
        recomputed_at=asked_at,
        made_bytes=made,
        moved_bytes=moved,
    )


def _padded(shape: tuple[int, ...]) -> int:
    """Elements of an array in tiles of 8 x 128."""
    if len(shape) < 2:
        return prod(shape)
    return prod(shape[:-2]) * -(-shape[-2] // 8) * 8 * -(-shape[-1] // 128) * 128
