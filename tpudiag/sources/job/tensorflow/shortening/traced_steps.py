"""Answers a step that is too heavy for this machine by its trace: it is not run.

Most of what is said of a step is of its graph, which its trace gives. What the step would return
is known from there as well, but for its numbers: those are zero. `_call_flat` is private
(TensorFlow 2.13 to 2.21): where it moved, some examples of the batch are run instead.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tpudiag.script_run import InterventionKind
from tpudiag.sources.job.tensorflow.points import hooks, interventions
from tpudiag.sources.job.tensorflow.watches.functions import FunctionWatch

_HOME = "tensorflow.python.eager.polymorphic_function.concrete_function"
_INITIAL = ("initialize_variables", "fn_with_cond")
"""What TensorFlow runs inside of the first call to give variables their values."""


class TracedSteps:
    """At rest until `begin`: from then on no function that trains, or runs replicas, is run."""

    def __init__(self, tf: Any, functions: FunctionWatch) -> None:
        self._tf, self._functions = tf, functions
        self.active = False

    def begin(self) -> bool:
        """Let the function that is being traced not be run; False where it must be."""
        if self._functions.current is None or not interventions.allowed(InterventionKind.TRACED):
            return False
        try:
            hooks.around(import_module(_HOME).ConcreteFunction, "_call_flat", self._called)
        except (ImportError, AttributeError):
            return False
        self.active = True
        return True

    def _called(self, original: Any, concrete: Any, *args: Any, **kwargs: Any) -> Any:
        """A traced function is about to run."""
        record = self._functions.current
        plain = record is None or not record.is_step or not self._tf.executing_eagerly()
        if plain or any(name in concrete.graph.name for name in _INITIAL):
            return original(concrete, *args, **kwargs)
        outputs = concrete.structured_outputs
        leaves = self._tf.nest.flatten(outputs, expand_composites=True)
        if not all(_is_known(self._tf, leaf) for leaf in leaves):
            return original(concrete, *args, **kwargs)
        interventions.note(InterventionKind.TRACED)
        made = [
            self._tf.zeros(each.shape, each.dtype) if _is_open(each) else each for each in leaves
        ]
        return self._tf.nest.pack_sequence_as(outputs, made, expand_composites=True)


def _is_open(leaf: Any) -> bool:
    """Whether it is a tensor, of which the trace knows but the shape and type."""
    return hasattr(leaf, "dtype") and hasattr(leaf, "shape")


def _is_known(tf: Any, leaf: Any) -> bool:
    """Whether zeros can stand for it."""
    if not _is_open(leaf):
        return True
    return bool(leaf.shape.is_fully_defined()) and leaf.dtype not in (tf.resource, tf.variant)
