"""Large variables whose values are never written, for a job that is planned and not run.

Their memory is reserved and stays untouched, so that a model larger than this machine is lowered.
What a program is made of does not depend on the values of its variables.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

LEAST_BYTES = 64 << 20
"""A variable from this size on is left unwritten."""


def initial(tf: Any, made: Callable[[], Any], dtype: Any) -> Callable[[], Any] | None:
    """What gives an unwritten value like the one that `made` gives; None where that is small.

    `made` is traced for its shape, not run.
    """
    spec = _spec(tf, made)
    if spec is None or not spec.shape.is_fully_defined():
        return None
    kind = tf.as_dtype(dtype) if dtype is not None else spec.dtype
    if kind.size * spec.shape.num_elements() < LEAST_BYTES or not _plain(kind):
        return None
    return lambda: tf.raw_ops.Empty(shape=spec.shape.as_list(), dtype=kind, init=False)


def _spec(tf: Any, made: Callable[[], Any]) -> Any:
    """Shape and type of an initial value; None where it cannot be traced, which the job may do."""
    traced = tf.function(lambda: tf.convert_to_tensor(made()), autograph=False)
    try:
        with tf.init_scope():
            return traced.get_concrete_function().structured_outputs
    except Exception:
        return None


def _plain(kind: Any) -> bool:
    """Whether values are numbers that need no making."""
    return bool(kind.is_floating or kind.is_integer)
