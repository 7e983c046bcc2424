"""The learning rate schedule of a fit or a loop, beside the steps that were asked for or taken."""

import contextlib
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tpudiag.model import Location
from tpudiag.signals.training_loop import FitSchedule
from tpudiag.sources.job.points import bindings

_ENDS = ("CosineDecay", "PiecewiseConstantDecay", "PolynomialDecay")
"""Keras' schedules that come to an end: the others go on, or begin again."""


def of_fit(
    model: Any, given: Mapping[str, Any], batches: int, location: Location | None
) -> FitSchedule | None:
    """Of a fit's arguments, whose data has so many batches (negative where unknown).

    None without a schedule that ends and falls, or where the steps of an epoch are not known.
    """
    steps = given.get("steps_per_epoch") or (batches if batches > 0 else _of_arrays(given))
    falling = _falling(getattr(model, "optimizer", None))
    if falling is None or not steps:
        return None
    return replace(
        falling,
        steps_per_epoch=int(steps),
        epochs=int(given.get("epochs") or 1) - int(given.get("initial_epoch") or 0),
        location=falling.location or location,
    )


def of_loop(optimizer: Any, taken: int | None) -> FitSchedule | None:
    """Of an optimizer that a loop has used at a rate of 0 for most of its steps."""
    falling = _falling(optimizer)
    if falling is None or falling.last_rate or taken is None or taken < 2 * falling.steps:
        return None
    return replace(falling, steps_per_epoch=taken)


def _falling(optimizer: Any) -> FitSchedule | None:
    """A schedule that ends and falls, for no steps yet."""
    found = _rate(optimizer)
    if found is None or found.get("class_name") not in _ENDS:
        return None
    config = found["config"]
    first = config.get("warmup_target") or config.get("initial_learning_rate")
    last = (config.get("alpha") or 0.0) * (first or 0.0)
    values = config.get("values") or (first, config.get("end_learning_rate", last))
    if not values[-1] < values[0] or config.get("cycle"):
        return None  # it rises, or begins again
    warmup = int(config.get("warmup_steps") or 0)
    ends = config.get("boundaries") or [config["decay_steps"] + warmup]
    return FitSchedule(
        name=found["class_name"],
        steps=int(ends[-1]),
        warmup=warmup,
        last_rate=float(values[-1]),
        steps_per_epoch=0,
        epochs=0,
        location=bindings.only_call(found["class_name"]),
    )


def _rate(optimizer: Any) -> dict[str, Any] | None:
    """The schedule as Keras writes it down; a schedule of the job's own need not have a form."""
    config: dict[str, Any] = {}
    with contextlib.suppress(Exception):
        config = optimizer.get_config()
        config = config.get("inner_optimizer", config)
        config = config.get("config", config)
    rate: Any = config.get("learning_rate")
    return rate if isinstance(rate, dict) else None  # pyright: ignore[reportUnknownVariableType]


def _of_arrays(given: Mapping[str, Any]) -> int | None:
    """The steps of an epoch over arrays."""
    shape = getattr(given.get("x"), "shape", ())
    share = 1 - (given.get("validation_split") or 0.0)
    return math.ceil(int(shape[0]) * share / (given.get("batch_size") or 32)) if shape else None
