"""How long those parts of a pipeline take that run one element after the other.

From the model that a running iterator keeps of itself (`tf.data.experimental.get_model_proto`).
"""

from __future__ import annotations

import re
from typing import Any

from tpudiag.records import dataclass
from tpudiag.signals import DatasetOp

GENERATOR = "Generator"
"""What `from_generator` runs as, inside the FlatMap that a script's pipeline shows."""


@dataclass(frozen=True)
class SerialTimes:
    """Seconds since the iterator began."""

    functions_s: float
    """Of maps and generators that are not parallel."""
    python_s: float
    """Of these, in Python."""


def of_iterator(tf: Any, iterator: Any, ops: tuple[DatasetOp, ...]) -> SerialTimes | None:
    """None where this TensorFlow does not tell.

    Parallel calls are left out: the time of one that waits for another is no time of work.
    """
    try:
        model = tf.data.experimental.get_model_proto(iterator)
    except Exception:
        return None  # an older TensorFlow keeps no model, or does not show it
    times = [
        (re.sub(r"V\d+$", "", node.name), node.processing_time / 1e9)
        for node in model.nodes.values()
    ]
    python = {op.kind for op in ops if op.python and not op.kind.startswith("Parallel")}
    in_python = {*python, GENERATOR} if python else set[str]()
    return SerialTimes(
        functions_s=sum(took for name, took in times if name in {"Map", *in_python}),
        python_s=sum(took for name, took in times if name in in_python),
    )
