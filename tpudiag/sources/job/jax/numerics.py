"""The step's numerics: random draws, state that differs between devices, state in 16 bit."""

from tpudiag.signals import HalfState, ReplicasApart, StepArgument, StepNumerics
from tpudiag.sources.job.jax import pairs
from tpudiag.sources.job.jax.random_keys import RandomKeys
from tpudiag.sources.job.jax.state_values import LOOKS, StateValues
from tpudiag.sources.job.jax.step import TracedStep


def read(step: TracedStep) -> StepNumerics:
    """All of it."""
    values, batch = step.call.record.values, step.batch()
    compared = values is not None and values.looks >= LOOKS
    known = values if compared else None
    jaxpr = step.traced.jaxpr.jaxpr
    keys = RandomKeys(jaxpr)
    rows = batch.per_replica_batch if batch is not None else 0
    numbers = {key: n for n, key in enumerate(step.keys)}
    fixed, alike = (
        frozenset(numbers[key] for key in found if key in numbers)
        for found in ((known.fixed, known.alike) if known is not None else ((), ()))
    )
    state = frozenset(numbers[key] for key, _ in step.state_arguments() if key in numbers)
    same = keys.same(rows, step.devices, fixed if compared else None, alike)
    return StepNumerics(
        same_draws=tuple(dict.fromkeys(same)),
        draws=len(keys.draws),
        replicas_apart=_apart(step, known) if known is not None else None,
        state_compared=compared,
        half_state=_half(step, known) if known is not None else None,
        paired_loss=pairs.read(jaxpr, state, rows, step.devices),
        loss_followed=bool(state and rows),
    )


def _apart(step: TracedStep, values: StateValues) -> ReplicasApart | None:
    """State of which the devices have copies of their own that differ by now."""
    state = [each for each in step.state_arguments() if "float" in each[1].dtype]
    found = [argument for key, argument in state if key in values.apart]
    if not found:
        return None
    return ReplicasApart(
        names=tuple(argument.name for argument in found),
        bytes=sum(_own_bytes(argument) for argument in found),
        of_bytes=sum(_own_bytes(argument) for _, argument in state),
        replicas=step.devices,
        location=step.call.record.location,
    )


def _own_bytes(argument: StepArgument) -> int:
    """Of an array on one device."""
    return argument.bytes // max(argument.parts, 1)


def _half(step: TracedStep, values: StateValues) -> HalfState | None:
    """State in 16 bit that steps change, and that is no copy of some in 32."""
    # What a step leaves whole is not trained by it.
    found = [
        (values.unchanged[key], each)
        for key, each in step.state_arguments()
        if values.unchanged.get(key, 1.0) < 1.0
    ]
    total = sum(each.bytes for _, each in found)
    if not total:
        return None
    return HalfState(
        dtype=found[0][1].dtype,
        bytes=sum(_own_bytes(each) for _, each in found),
        unchanged=sum(share * each.bytes for share, each in found) / total,
        location=step.call.record.location,
    )
