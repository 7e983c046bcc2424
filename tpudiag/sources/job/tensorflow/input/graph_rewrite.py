"""Applies a fix to a tf.data pipeline's graph: parallel calls, cache, prefetch.

Where the private names moved, pipelines cannot be rewritten, and a fix's gain is not measured.
"""

from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeAlias

from tpudiag.sources.job.points import Library, privates
from tpudiag.sources.job.points.library_objects import Dataset

AUTOTUNE = -1
SIGNATURE = ("output_types", "output_shapes")
FUNCTION = (*SIGNATURE, "f", "Targuments")


class _Node(Protocol):
    name: str
    op: str
    input: list[str]
    attr: dict[str, Any]


class _Program(Protocol):
    node: Any
    """Its nodes, as a protobuf list."""
    ParseFromString: Callable[[bytes], object]
    SerializeToString: Callable[[], bytes]


Change: TypeAlias = Callable[[_Program], Iterator[_Node]]
"""Changes a pipeline; gives each node that was changed."""


def rewritten(tf: Library, dataset: Dataset, change: Change) -> Dataset | None:
    """The dataset with its graph changed; None where `change` changed nothing."""
    graph = _graph(tf, dataset)
    if not list(change(graph)):
        return None
    variant = tf.raw_ops.DatasetFromGraph(graph_def=graph.SerializeToString())
    made: Dataset = privates.VARIANT_DATASET.get()(variant, dataset.element_spec)
    return made


def in_parallel(graph: _Program) -> Iterator[_Node]:
    """Give every serial map and interleave AUTOTUNE parallel calls."""
    for node in list(graph.node):
        if node.op == "MapDataset":
            calls = _constant(graph, AUTOTUNE)
            yield _become(node, "ParallelMapDatasetV2", [*node.input, calls], FUNCTION)
        elif node.op == "InterleaveDataset":
            ahead = [_constant(graph, AUTOTUNE) for _ in range(3)]
            yield _become(node, "ParallelInterleaveDatasetV4", [*node.input, *ahead], FUNCTION)
        elif node.op in _CALLS_AT and _static(graph, node.input[_CALLS_AT[node.op]]) == 1:
            node.input[_CALLS_AT[node.op]] = _constant(graph, AUTOTUNE)
            yield node


def readers_in_parallel(graph: _Program) -> Iterator[_Node]:
    """Read several files at once instead of one after the other."""
    for node in list(graph.node):
        if node.op in ("FlatMapDataset", "InterleaveDataset"):
            own = node.input if node.op == "FlatMapDataset" else list(node.input)[:-2]
            added = [_constant(graph, number) for number in (AUTOTUNE, 1, *[AUTOTUNE] * 3)]
            yield _become(node, "ParallelInterleaveDatasetV4", [*own, *added], FUNCTION)


def autotuned(graph: _Program) -> Iterator[_Node]:
    """Leave static parallel calls and prefetch buffers above 1 to AUTOTUNE."""
    for node in list(graph.node):
        at = _CALLS_AT.get(node.op) or (1 if node.op == "PrefetchDataset" else 0)
        if at and (_static(graph, node.input[at]) or 0) > 1:
            node.input[at] = _constant(graph, AUTOTUNE)
            yield node


def cached_after(tf: Library, prefix: Dataset) -> Change:
    """A change that inserts a memory cache after the last transformation of `prefix`."""
    end = next(node.input[0] for node in _graph(tf, prefix).node if node.op == "_Retval")

    def change(graph: _Program) -> Iterator[_Node]:
        made = next((node for node in graph.node if node.name == end), None)
        if made is None:
            return
        name = _constant(graph, b"")
        readers = [node for node in graph.node if end in node.input]
        cache = graph.node.add(name=f"{end}_cached", op="CacheDataset", input=[end, name])
        for key in SIGNATURE:
            cache.attr[key].CopyFrom(made.attr[key])
        for node in readers:
            for at, given in enumerate(node.input):
                if given == end:
                    node.input[at] = cache.name
        yield cache

    return change


_CALLS_AT = {"ParallelMapDatasetV2": -1, "ParallelInterleaveDatasetV4": -1}
"""The position of num_parallel_calls among a transformation's inputs."""


def _graph(tf: Library, dataset: Dataset) -> _Program:
    policy = tf.data.experimental.ExternalStatePolicy.IGNORE
    graph: _Program = tf.compat.v1.GraphDef()
    graph.ParseFromString(privates.SERIALIZED.of(dataset)(external_state_policy=policy).numpy())
    return graph


def _become(node: _Node, op: str, inputs: list[str], kept: tuple[str, ...]) -> _Node:
    for key in [key for key in node.attr if key not in kept]:
        del node.attr[key]
    node.op = op
    del node.input[:]
    node.input.extend(inputs)
    node.attr["deterministic"].s = b"default"
    return node


def _constant(graph: _Program, value: int | bytes) -> str:
    node = graph.node.add(name=f"added_constant_{len(graph.node)}", op="Const")
    tensor = node.attr["value"].tensor
    tensor.tensor_shape.SetInParent()
    if isinstance(value, bytes):
        tensor.dtype = node.attr["dtype"].type = 7  # DT_STRING
        tensor.string_val.append(value)
    else:
        tensor.dtype = node.attr["dtype"].type = 9  # DT_INT64
        tensor.int64_val.append(value)
    return str(node.name)


def _static(graph: _Program, name: str) -> int | None:
    node = next((node for node in graph.node if node.name == name), None)
    if node is None or node.op != "Const" or node.attr["dtype"].type != 9:
        return None
    tensor = node.attr["value"].tensor
    if tensor.int64_val:
        return int(tensor.int64_val[0])
    return int.from_bytes(tensor.tensor_content[:8], "little", signed=True)
