"""Who hears an event in which order."""

import functools
from functools import cache

from tpudiag.sources.job.points import Call

_ABOVE = "tpudiag.sources.job."
INNER_TO_OUTER = (
    # What changes where a call goes lies on the library; all others see the call as the job made it
    # and what it then gave.
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
    "tensorflow.watches.layer_builder",
    "tensorflow.graphs.operation_lines",
    "tensorflow.shortening.real_checkpoints",
    "tensorflow.watches.checkpoints",
    "tensorflow.devices",
    # What shortens may answer in the library's place: who counts what the job asked for lies over
    # it.
    "tensorflow.shortening",
    "tensorflow.watches",
    "tensorflow.graphs",
    "tensorflow",
    # Whoever is told of data is told of some.
    "tensorflow.fake_data.handed_over",
)
"""Modules and rooms; the innermost that a subscriber is in counts. Of one module: as they came."""


def rank(call: Call) -> int:
    """The place of a subscriber, by the module that it is written in; the last for all others."""
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
