"""Lets each replica start from the same Python state.

TPUStrategy runs the Python code of a replica function once, during tracing; CPU replicas run it
once each. A counter or random draw in it would then differ between them, and with it the branch
taken ("Some replicas made a different number of replica_context().merge_call() calls"), which
happens on no TPU.
"""

import functools
import random
from collections.abc import Callable

from tpudiag.script_run import InterventionKind
from tpudiag.sources.job.points import Call, hooks, interventions, python_slots


def started_alike(fn: Call) -> Call:
    """A replica function that starts from the same numbers and random state on each replica."""
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

    vars(replica)["autograph_info__"] = {}  # `fn` is converted already: AutoGraph skips it
    return replica


def _restorer(fn: Call) -> Callable[[], None]:
    """Restores the counters and random state that a function changes to their current values."""
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
