"""Python state that each replica finds as the first one did.

A TPU's strategy runs the Python code of a replica's function once, while it is traced; CPU
replicas run it once each. A counter that the code moves, or a draw, would then differ between
them, and with it the branch that they take ("Some replicas made a different number of
replica_context().merge_call() calls"), which happens on no TPU.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable

from tpudiag.script_run import InterventionKind
from tpudiag.sources.job.points import Call, hooks, interventions, python_slots


def started_alike(fn: Call) -> Call:
    """A replica's function that starts from the same numbers and draws on each replica."""
    own = hasattr(fn, "get_concrete_function")  # a tf.function keeps traces of its own
    if own or not interventions.allowed(InterventionKind.ALIKE):
        return fn
    restore = hooks.quietly(_restorer, fn)
    if restore is None:
        return fn

    @functools.wraps(fn)
    def replica(*args: object, **kwargs: object) -> object:
        hooks.quietly(restore)
        return fn(*args, **kwargs)

    vars(replica)["autograph_info__"] = {}  # `fn` is converted already: AutoGraph leaves it be
    return replica


def _restorer(fn: Call) -> Callable[[], None]:
    """What sets the counters and draws that a function moves to what they are now."""
    import numpy

    slots = [(slot, slot.get()) for slot in python_slots.written_slots(fn)]
    draws, numpy_draws = random.getstate(), numpy.random.get_state()

    def restore() -> None:
        for slot, value in slots:
            if slot.get() is not value:
                interventions.note(InterventionKind.ALIKE)
            slot.put(value)
        random.setstate(draws)
        numpy.random.set_state(numpy_draws)

    return restore
