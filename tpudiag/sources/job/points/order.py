"""The order in which subscribers are notified of an event."""

import functools
from functools import cache

from tpudiag.sources.job.points import Call

_ABOVE = "tpudiag.sources.job."
INNER_TO_OUTER = (
    # Redirections lie directly on the library; all others see the job's call and its result.
    "held_back.file_calls",
    "held_back",
    "tensorflow.fake_data",
    "tensorflow.devices.tpu_stubs",
    "tensorflow.devices.tpu_strategy",
    "tensorflow.input.iterators",
    "tensorflow.devices.tpu",
    "tensorflow.watches.training",
    "tensorflow.watches.functions",
    "tensorflow.watches.strategies",
    "tensorflow.graphs.lowering",
    "tensorflow.input",
    "tensorflow.watches.variables",
    "tensorflow.watches.keras",
    "tensorflow.watches.layers",
    "tensorflow.graphs.operation_lines",
    "tensorflow.shortening.real_checkpoints",
    "tensorflow.watches.checkpoints",
    "tensorflow.devices",
    # Shortening may answer for the library: counters of the job's requests lie over it.
    "tensorflow.shortening",
    "tensorflow.watches",
    "tensorflow.graphs",
    "tensorflow",
    # Whoever is told of data is told of some.
    "tensorflow.fake_data.dataset_holes",
)
"""Modules and rooms; the innermost that a subscriber is in counts. Of one module: as they came."""


def rank(call: Call) -> int:
    """A subscriber's position, by its module; the last for all others."""
    while isinstance(call, functools.partial):
        call = call.func
    return _rank_of_module(str(getattr(call, "__module__", None) or type(call).__module__))


@cache
def _rank_of_module(module: str) -> int:
    within = module.removeprefix(_ABOVE) + "."
    rooms = [room for room in INNER_TO_OUTER if within.startswith(f"{room}.")]
    if not rooms or not module.startswith(_ABOVE):
        return len(INNER_TO_OUTER)
    return INNER_TO_OUTER.index(max(rooms, key=len))
