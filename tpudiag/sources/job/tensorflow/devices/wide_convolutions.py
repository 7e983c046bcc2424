"""Computes convolutions and batch norms of 16-bit floats in float32, while rehearsing.

On CPUs without instructions for bfloat16 TensorFlow's gradient of such a convolution takes some 40
times as long as in float32 (measured, TensorFlow 2.21). The step's graph says so by the names of
two casts, by which those who read it see the type that the job asked for.

The fused batch norm, by which Keras 2 normalises layers too, takes no bfloat16 on CPUs up to
TensorFlow 2.14 (InvalidArgumentError, seen on 2.13).

`gen_nn_ops` is private: every public way to a convolution leads through it (TensorFlow 2.13 to
2.21). Where it moved, convolutions stay as they are.
"""

from __future__ import annotations

from typing import Any

from tpudiag.script_run import InterventionKind
from tpudiag.sources.job.points import hooks, interventions, table

WIDENED = InterventionKind.WIDE
WIDE, NARROW = "tpudiag_wide", "tpudiag_narrow"
"""Names of the casts before and after such a convolution."""
SLOWER = 40.0
"""How many times as long such a convolution takes where it stays in 16 bits."""
NORMALISES_BFLOAT16 = (2, 15)
"""TensorFlow's first release whose fused batch norm was seen to take bfloat16 on a CPU."""


class WideConvolutions:
    """Hooks the operations of convolution."""

    def __init__(self, tf: Any) -> None:
        self._tf = tf
        hooks.around(table.CONVOLUTIONS, self.convolved)
        if _release(tf) < NORMALISES_BFLOAT16:
            hooks.around(table.BATCH_NORMALISED, self.normalised)

    # `input` and `filter` are TensorFlow's own names, by which tf.nn gives them.
    def convolved(self, original: Any, input: Any, filter: Any, *args: Any, **kwargs: Any) -> Any:
        """One convolution."""
        tf = self._tf
        dtype = getattr(input, "dtype", None)
        if dtype not in (tf.bfloat16, tf.float16) or not interventions.allowed(WIDENED):
            return original(input, filter, *args, **kwargs)
        interventions.note(WIDENED)
        wide = (tf.cast(each, tf.float32, name=WIDE) for each in (input, filter))
        return tf.cast(original(*wide, *args, **kwargs), dtype, name=NARROW)

    def normalised(self, original: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        """One fused batch norm: its first result is of the input's type, the others float32."""
        tf = self._tf
        if getattr(x, "dtype", None) != tf.bfloat16 or not interventions.allowed(WIDENED):
            return original(x, *args, **kwargs)
        interventions.note(WIDENED)
        result = original(tf.cast(x, tf.float32, name=WIDE), *args, **kwargs)
        return result._replace(y=tf.cast(result.y, tf.bfloat16, name=NARROW))


def _release(tf: Any) -> tuple[int, ...]:
    """The first two numbers of TensorFlow's version."""
    return tuple(int(number) for number in str(tf.__version__).split(".")[:2])


def is_wide(operation: Any) -> bool:
    """Whether an operation is the cast before a convolution of ours."""
    return operation.type == "Cast" and WIDE in operation.name


def is_narrow(operation: Any) -> bool:
    """Whether an operation is the cast after a convolution of ours."""
    return operation.type == "Cast" and NARROW in operation.name


def asked_dtype(tensor: Any) -> str:
    """The type of a tensor as the job asked for it."""
    source = tensor.op.inputs[0] if is_wide(tensor.op) else tensor
    return str(source.dtype.base_dtype.name)
