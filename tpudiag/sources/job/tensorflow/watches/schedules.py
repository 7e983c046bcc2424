"""The learning rate schedule of a fit, beside the steps that the fit was asked for."""

import contextlib
import math
from collections.abc import Mapping
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
    found = _rate(getattr(model, "optimizer", None))
    steps = given.get("steps_per_epoch") or (batches if batches > 0 else _of_arrays(given))
    if found is None or not steps or found.get("class_name") not in _ENDS:
        return None
    config = found["config"]
    first = config.get("warmup_target") or config.get("initial_learning_rate")
    values = config.get("values") or (first, config.get("end_learning_rate", 0.0))
    if not values[-1] < values[0] or config.get("cycle"):
        return None  # it rises, or begins again
    warmup = int(config.get("warmup_steps") or 0)
    ends = config.get("boundaries") or [config["decay_steps"] + warmup]
    return FitSchedule(
        name=found["class_name"],
        steps=int(ends[-1]),
        warmup=warmup,
        steps_per_epoch=int(steps),
        epochs=int(given.get("epochs") or 1) - int(given.get("initial_epoch") or 0),
        location=bindings.only_call(found["class_name"]) or location,
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
