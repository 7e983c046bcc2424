"""Reads the choices of tf.data's AUTOTUNE from a running iterator's own model.

Public (`tf.data.experimental.get_model_proto`); where a TensorFlow lacks it, the choices are
unknown.
"""

import re
from collections.abc import Iterator

from tpudiag.signals import AutotuneChoice, DatasetOp
from tpudiag.sources.job.points import Library
from tpudiag.sources.job.tensorflow.input.serial_times import Model, from_the_end

_SETTINGS = ("parallelism", "buffer_size")


def choices(
    tf: Library, iterator: object, ops: tuple[DatasetOp, ...]
) -> tuple[AutotuneChoice, ...]:
    """What was chosen for each transformation, the last of the pipeline first."""
    try:
        model = tf.data.experimental.get_model_proto(iterator)
    except Exception:
        return ()
    return tuple(_choices(model, ops))


def _choices(model: Model, ops: tuple[DatasetOp, ...]) -> Iterator[AutotuneChoice]:
    """The tunable settings of the model's nodes, beside those the pipeline was built with."""
    left = list(reversed(ops))
    for _, node in from_the_end(model):
        kind = re.sub(r"V\d+$", "", node.name)
        # What is parallel may run as the rewritten form of what was built serial.
        plain = kind.removeprefix("Parallel")
        at = next(
            (n for n, op in enumerate(left) if op.kind.removeprefix("Parallel") == plain), None
        )
        op = left[at] if at is not None else None
        if at is not None:
            # Only their order distinguishes two consecutive maps: match each once.
            del left[: at + 1]
        for parameter in node.parameters:
            if parameter.name in _SETTINGS and parameter.tunable:
                yield AutotuneChoice(
                    transformation=kind,
                    setting=parameter.name,
                    built_with=getattr(op, parameter.name, None),
                    chosen=int(parameter.state_value or parameter.value),
                    held_bytes=int(node.buffered_bytes),
                    location=op.location if op is not None else None,
                )
