"""The time of a pipeline's parts that cannot use another core.

From a running iterator's own model (`tf.data.experimental.get_model_proto`): each transformation's
time without those before it. Between two that work ahead on threads of their own (parallel calls,
prefetch) all others share one thread, one element after the other.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

from tpudiag.records import dataclass
from tpudiag.signals import AutotuneChoice, DatasetOp
from tpudiag.sources.job.points import Library

GENERATOR = "Generator"
"""The op of `from_generator`, inside the FlatMap that a script's pipeline shows."""
_AHEAD = (2, 4, 6)
"""Node classes (tensorflow/core/framework/model.proto) with threads of their own."""
_MANY_READERS = 2
"""Parallel interleave: what is before it runs once per reader."""


class Node(Protocol):
    """A transformation in tf.data's model of a running iterator."""

    name: str
    node_class: int
    buffered_bytes: int
    processing_time: int
    """Nanoseconds."""
    inputs: Iterable[int]
    parameters: Iterable[Any]


class Model(Protocol):
    """That model."""

    nodes: Mapping[int, Node]


@dataclass(frozen=True)
class SerialTimes:
    """Seconds since the iterator began."""

    longest_s: float
    """The longest part that runs on one thread."""
    python_s: float
    """Python maps and generators that are not parallel."""


def of_iterator(tf: Library, iterator: object, ops: tuple[DatasetOp, ...]) -> SerialTimes | None:
    """None where this TensorFlow does not support it."""
    try:
        parts = _parts(tf.data.experimental.get_model_proto(iterator))
    except Exception:
        return None  # an older TensorFlow has no model, or does not expose it
    # Without parallel calls: their time includes waiting for each other.
    python = {op.kind for op in ops if op.python and not op.kind.startswith("Parallel")}
    in_python = {*python, GENERATOR} if python else set[str]()
    return SerialTimes(
        longest_s=max((sum(took for _, took in part) for part in parts), default=0.0),
        python_s=sum(took for part in parts for name, took in part if name in in_python),
    )


def _parts(model: Model) -> list[list[tuple[str, float]]]:
    """Names and seconds of the transformations that share a thread, from the end backwards."""
    parts: list[list[tuple[str, float]]] = [[]]
    part_of: dict[int, list[tuple[str, float]]] = {}
    for number, node in from_the_end(model):
        part = part_of.get(number) if part_of else parts[0]
        if part is None or node.node_class == _MANY_READERS:
            continue
        if node.node_class in _AHEAD:
            part = list[tuple[str, float]]()
            parts.append(part)
        if node.node_class not in _AHEAD or _one_at_a_time(node):
            built = "Map" if _one_at_a_time(node) else re.sub(r"V\d+$", "", node.name)
            part.append((built, node.processing_time / 1e9))
        part_of = {int(each): part for each in node.inputs} | part_of
    return parts


def _one_at_a_time(node: Node) -> bool:
    """Whether it calls its function ahead, but one call at a time: a serial map that tf.data fused
    with the batch after it."""
    fixed = [each for each in node.parameters if each.name == "parallelism" and not each.tunable]
    return any(each.value == 1 for each in fixed)


def from_the_end(model: Model) -> Iterator[tuple[int, Node]]:
    """The nodes from the output back to the sources, with their numbers."""
    output = int(getattr(model, "output", 0)) or min(model.nodes, default=0)
    pending, visited = [output], set[int]()
    while pending:
        number = pending.pop(0)
        if number not in visited and number in model.nodes:
            visited.add(number)
            yield number, model.nodes[number]
            pending.extend(int(each) for each in model.nodes[number].inputs)


def usable_cores() -> int:
    """The cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except (AttributeError, OSError):  # not Linux
        return os.cpu_count() or 1


_SETTINGS = ("parallelism", "buffer_size")


def choices(tf: Library, iterator: object, ops: tuple[DatasetOp, ...]) -> Iterator[AutotuneChoice]:
    """What AUTOTUNE chose for each transformation, the last first; unknown without a model."""
    try:
        model: Model = tf.data.experimental.get_model_proto(iterator)
    except Exception:
        return
    left = list(reversed(ops))
    for _, node in from_the_end(model):
        kind = re.sub(r"V\d+$", "", node.name)
        # What is parallel may run as the rewritten form of what was built serial.
        plain = kind.removeprefix("Parallel")
        alike = (n for n, op in enumerate(left) if op.kind.removeprefix("Parallel") == plain)
        at = next(alike, None)
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
