"""The step's numerics: random draws, state that differs between devices, what is in 16 bit."""

import re
import sys
from collections.abc import Iterator
from functools import lru_cache
from math import prod
from types import CodeType

from tpudiag.signals import HalfState, ReplicasApart, StepNumerics
from tpudiag.signals.step_numerics import (
    FrozenNorm,
    LossInput,
    LostMoments,
    LowPrecisionOp,
    MergedNumbers,
)
from tpudiag.sources.job.jax import devices_in_use, loss_inputs, pairs
from tpudiag.sources.job.jax.equations import LITERAL, Seen, product
from tpudiag.sources.job.jax.lost_state import MadeAnew
from tpudiag.sources.job.jax.programs import line, within
from tpudiag.sources.job.jax.random_keys import RandomKeys
from tpudiag.sources.job.jax.state_values import HALF, LOOKS, StateValues
from tpudiag.sources.job.jax.step import TracedStep
from tpudiag.sources.job.jax.stored_variances import StoredVariances
from tpudiag.sources.job.points import script_text

_NORMALISES = frozenset(("exp", "log", "log1p", "logistic"))
_SAME = frozenset(("convert_element_type", "broadcast_in_dim", "reshape", "squeeze"))
_POSITIONS, _SHARED_OUT = _SAME | {"iota", "add", "sub"}, _SAME | {"div"}
"""Operations that leave positions what they are, and those that leave a softmax so."""
MOST_NUMBERS = 2**17
_MODE = re.compile(r"train|running|determin|eval|infer", re.IGNORECASE)


def read(step: TracedStep) -> StepNumerics:
    """All of it."""
    values, batch = step.call.record.values, step.batch()
    known = values if values is not None and values.looks >= LOOKS else None
    jaxpr = step.traced.jaxpr.jaxpr
    keys, anew, low, positions, (entropies, unfit) = _of_equations(step)
    rows = batch.per_replica_batch if batch is not None else 0
    fixed = step.numbers(known.fixed) if known is not None else None
    alike = step.numbers(known.alike) if known is not None else frozenset[int]()
    state = step.numbers({key for key, _ in step.state_arguments()})
    same = keys.same(rows, step.devices, fixed, alike, step.call.record.called_at)
    own = getattr(step.call.jitted.python_function, "__code__", None)
    return StepNumerics(
        loss_dtype=loss_dtype(step.seen),
        low_precision=low[::-1],
        frozen_norms=_in_inference_mode(step, fixed or frozenset(), own)
        or tuple(
            # The step's own line, where it has one, could have handed them on.
            FrozenNorm(
                step.by_path[step.keys[n]].name if n >= 0 else "a constant of its program",
                line(made, own) or line(made),
                statistics_lost=True,
            )
            for n, made in anew.unread.items()
            if n < 0 or n in (fixed or ())
        ),
        merged=positions,
        same_draws=tuple(dict.fromkeys(same)),
        draws=len(keys.draws),
        replicas_apart=_apart(step, known) if known is not None else None,
        state_compared=known is not None,
        half_state=_half(step, known) if known is not None else None,
        lost_moments=_lost(step, anew, known) if known is not None else None,
        paired_loss=pairs.read(jaxpr, state, rows, step.devices),
        loss_followed=bool(state and rows),
        cross_entropies=entropies,
        loss_inputs=unfit,
    )


# What a step was given is read at several of its calls, and its equations once.
@lru_cache(maxsize=1)
def _of_equations(
    step: TracedStep,
) -> tuple[
    RandomKeys,
    MadeAnew,
    tuple[LowPrecisionOp, ...],
    tuple[MergedNumbers, ...],
    tuple[int, tuple[LossInput, ...]],
]:
    """What its equations alone tell."""
    jaxpr, positions = step.traced.jaxpr.jaxpr, tuple(dict.fromkeys(merged(step.seen)))
    low = tuple(low_precision(step.seen))
    losses = loss_inputs.read(jaxpr, step.call.record.called_at)
    return RandomKeys(jaxpr), MadeAnew(jaxpr), low, positions, losses


def _in_inference_mode(
    step: TracedStep, fixed: frozenset[int], own: CodeType | None
) -> tuple[FrozenNorm, ...]:
    """Normalisations by a stored variance that no step changes, whose scale is trained."""
    if not fixed:
        return ()
    scaled = StoredVariances(step.traced.jaxpr.jaxpr).scaled.items()
    unlearnt = ((n, e) for n, (scale, e) in scaled if n in fixed and scale not in fixed)
    found = [(n, line(e, own) or line(e)) for n, e in unlearnt]
    # A mode that the call names is meant; where a library calls the model, no line names one.
    return tuple(
        FrozenNorm(step.by_path[step.keys[n]].name, at)
        for n, at in found
        if at is not None and at != step.call.record.called_at
        if not _MODE.search(script_text.call_at(at))
    )


def loss_dtype(step: list[Seen]) -> str:
    """Of the last number that is differentiated; nothing where that has 16 bits."""
    made = [out.aval for seen in step if seen.forward for out in seen.equation.outvars[:1]]
    floats = [str(each.dtype) for each in made if not each.shape and "float" in str(each.dtype)]
    # JAX sums what has 16 bits in 32 by itself.
    return next((each for each in floats[-1:] if each not in HALF), "")


def low_precision(step: list[Seen]) -> Iterator[LowPrecisionOp]:
    """What normalises the results of the last product of the forward pass in 16 bits."""
    forward = [seen for seen in step if seen.forward and not within(seen.equation)]
    last = max((n for n, e in enumerate(forward) if product(e.equation)), default=len(forward))
    after = forward[last + 1 :]
    factors = [e.given for e in after if str(e.equation.primitive) == "mul"]
    # The derivative of a sigmoid p multiplies it by 1 - p; what multiplies others is an activation.
    less = [e for e in after if str(e.equation.primitive) == "sub"]
    not_data = {LITERAL} | {e.gives[0] for e in less if e.given[0] == LITERAL}
    gates = {n for both in factors if not_data.isdisjoint(both) for n in both}
    of_last = forward[last].equation.outvars[0].aval.shape if after else ()
    weights = _weights(after, prod(of_last))
    for seen in after:
        equation, name = seen.equation, str(seen.equation.primitive)
        of_data = name == "logistic" and seen.gives[0] in gates
        if name not in _NORMALISES or of_data or seen.gives[0] in weights:
            continue
        given = equation.invars[0].aval
        if given.shape == of_last and str(given.dtype) in HALF:
            yield LowPrecisionOp(name, seen.place.scope, str(given.dtype), line(equation))


def _weights(step: list[Seen], size: int) -> set[int]:
    """What multiplies data of which there are several to each of so many numbers."""
    found: set[int] = set()
    for seen in reversed(step):
        name, made = str(seen.equation.primitive), seen.equation.outvars[0].aval
        several = name == "mul" and prod(made.shape) > size
        if several or (name in _SHARED_OUT and not found.isdisjoint(seen.gives)):
            found.update(seen.given)
    return found


def merged(step: list[Seen]) -> Iterator[MergedNumbers]:
    """Positions that are several to one number in 16 bits."""
    known: dict[int, int] = {}
    for seen in step:
        equation = seen.equation
        name, about = str(equation.primitive), equation.params
        count = next((known[n] for n in seen.given if n in known), 0)
        if name == "iota":
            count = int(about["shape"][about["dimension"]])
        if name not in _POSITIONS or not 0 < count < MOST_NUMBERS:
            continue
        known[seen.gives[0]] = count
        dtype = equation.outvars[0].aval.dtype
        if str(dtype) in HALF and name in ("iota", "convert_element_type"):
            left = len(set(sys.modules["numpy"].arange(count).astype(dtype).tolist()))
            if left < count:
                yield MergedNumbers(str(dtype), count, left, line(equation))


def _apart(step: TracedStep, values: StateValues) -> ReplicasApart | None:
    """State of which the devices have copies of their own that differ by now."""
    state = [each for each in step.state_arguments() if "float" in each[1].dtype]
    found = [argument for key, argument in state if key in values.apart]
    if not found:
        return None
    return ReplicasApart(
        names=tuple(argument.name for argument in found),
        bytes=sum(argument.own_bytes for argument in found),
        of_bytes=sum(argument.own_bytes for _, argument in state),
        axes=devices_in_use.unsummed(step.seen),
        replicas=step.devices,
        by_program=step.call.jitted.mapped or any(seen.place.sizes for seen in step.seen),
        location=step.call.record.location,
    )


def _lost(step: TracedStep, anew: MadeAnew, values: StateValues) -> LostMoments | None:
    """Moments that no call finds changed, though the rest of the state goes on.

    Where all of it stays what it was, the step is only timed.
    """
    record = step.call.record
    found = {n: step.keys[n] for n in anew.moments if step.keys}
    moments = [step.by_path[key] for key in found.values()]
    names = tuple(each.name for each in moments)
    compared = values.small.keys() & found.values()
    state = {key for key, _ in step.state_arguments()}
    restarts = min((record.restarts[key] for key in found.values()), default=0)
    if restarts > 1:
        at = record.made_first(moments) or record.called_at
        return LostMoments(names=names, location=at, returned=True, restarts=restarts)
    if not compared:  # of moments that only some steps change a counter tells
        stays = (each for key, each in step.by_path.items() if key in values.raised & values.fixed)
        names = tuple(each.name for each in stays)
        lost = LostMoments(names=names, location=record.called_at, returned=True)
        return lost if names and state else None
    if not compared <= values.fixed or state <= {*found.values()}:
        return None
    first, others = next(iter(found)), step.call.anew
    returned = first in anew.returned
    # Moments of what gets no gradients stay zero, but what is given is then the last call's result.
    if returned and (others is None or found[first] in others):
        return None
    at = record.called_at if returned else anew.moments[first]
    return LostMoments(names=names, location=at, returned=returned)


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
        bytes=sum(each.own_bytes for _, each in found),
        unchanged=sum(share * each.bytes for share, each in found) / total,
        location=step.call.record.location,
    )
