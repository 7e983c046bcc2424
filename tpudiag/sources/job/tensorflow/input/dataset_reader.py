"""Reads a tf.data dataset as it was built: each transformation, its settings, its line."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tpudiag.model import Location
from tpudiag.signals import DatasetOp, Pipeline, TensorSeen
from tpudiag.sources.job.points import Library, privates, user_lines
from tpudiag.sources.job.points.library_objects import Dataset, Graph
from tpudiag.sources.job.tensorflow.input import batch_names, files
from tpudiag.sources.job.tensorflow.input.cardinality import ENDLESS

ASKED_BUFFER = "_tpudiag_asked_buffer"
"""What a script asked to shuffle or prefetch of what is synthetic, and was not held."""
_COSTLY = re.compile(
    r"Decode|Parse|Resize|ReadFile|MatMul|Conv|FFT|Regex|StringSplit|While|PyFunc|Unbatch|Einsum"
    r"|Crop|AdjustContrast|AdjustHue|ImageProjective"
)
_RANDOM = re.compile(
    r"^(Random|Multinomial|TruncatedNormal|ParameterizedTruncated|Rng|NonDeterministic|Stateful"
    r"|SampleDistorted|Assign)"
)
"""Random at each call; a stateless op only where its seed is a changing variable."""
_SEEDS = "StatelessRandomGetKeyCounter"
"""Makes a key of a stateless draw's seed."""
_MAPPERS = {
    "Map": "map",
    "ParallelMap": "map",
    "Interleave": "interleave",
    "ParallelInterleave": "interleave",
}
"""The methods that make these from a user function; others (unbatch) have their own."""
_OF_BODIES = re.compile(
    r"(Stateful)?PartitionedCall|(Stateless)?(If|While|Case)|Assert|Placeholder"
)
"""Operations that are stateful only if their functions are."""


class DatasetReader:
    """Remembers where each dataset was made, and reads requested ones."""

    def __init__(self, tf: Library) -> None:
        self._tf = tf
        self._made_at: dict[int, Location | None] = {}
        self._inside_library: set[int] = set()
        self._batch_names: dict[int, tuple[tuple[str, ...], int | None]] = {}
        self._debugged: Location | None = None

    def note_made(self, dataset: object, *_: object, **__: object) -> None:
        """Remember the user's line that made a dataset; None where a library made it."""
        # Ids are reused after a dataset is gone: forget the previous one.
        self._inside_library.discard(id(dataset))
        self._batch_names.pop(id(dataset), None)
        module, name = user_lines.called()
        by_keras = module.partition(".")[0] in ("keras", "tf_keras")
        self._made_at[id(dataset)] = None if by_keras else user_lines.caller()
        if (
            not module.startswith(privates.DATASET_MODULES)
            or _MAPPERS.get(kind_of(dataset), name) != name
        ):
            self._inside_library.add(id(dataset))
        size = _integer(privates.BATCH_SIZE.of(dataset, None))
        if size is not None:
            self._batch_names[id(dataset)] = batch_names.names_of(size), batch_names.global_batch()

    def note_debugged(self, *_: object, **__: object) -> None:
        """Remember the user's line that called for tf.data's debug mode."""
        self._debugged = user_lines.caller()

    def chain(self, dataset: Dataset) -> list[Dataset]:
        """The datasets of a pipeline, from its sources to itself."""
        datasets: list[Dataset] = []
        self._walk(dataset, datasets, set())
        return datasets

    def pipeline(
        self,
        dataset: Dataset,
        chain: Sequence[Dataset],
        replicas: int | None = None,
        per_replica: bool = False,
    ) -> Pipeline:
        """A dataset's transformations as facts, one for each of its chain.

        `replicas` is set for one passed to a strategy, `per_replica` for one with a replica's
        batches.
        """
        bounded = self._bounded(chain)
        ops = [self._op(each) for each in chain]
        # An endless repeat that something else ends: mostly constants beside each example.
        ops = [
            replace(op, count=1) if op.endless and id(each) in bounded else op
            for op, each in zip(ops, chain, strict=True)
        ]
        policy = None
        options = files.tried(dataset.options)
        if not _rewrites(options, "map_parallelization"):
            ops = [replace(op, parallel_by_itself=False) for op in ops]
        if options is not None:
            policy = getattr(options.experimental_distribute.auto_shard_policy, "name", None)
        return Pipeline(
            ops=tuple(ops),
            elements=self._elements(dataset),
            location=user_lines.caller(),
            distributed=replicas is not None,
            auto_shard_policy=policy,
            files=files.named(dataset) if any(op.opens_files for op in ops) else None,
            per_replica=per_replica,
            replicas=replicas,
            debugged=self._debugged,
            prefetched_by_itself=_rewrites(options, "inject_prefetch"),
        )

    def _walk(self, dataset: Dataset, chain: list[Dataset], visited: set[int]) -> None:
        dataset = own(dataset)
        if id(dataset) in visited:
            return
        visited.add(id(dataset))
        for parent in files.tried(lambda: privates.inputs(dataset)) or ():
            self._walk(parent, chain, visited)
        chain.append(dataset)

    def _bounded(self, chain: Sequence[Dataset]) -> set[int]:
        """The datasets zipped with a finite one, which also ends endless ones."""
        ends = (
            each
            for each in chain
            if kind_of(each) == "Zip" and _integer(files.tried(each.cardinality)) != ENDLESS
        )
        return {id(parent) for zipped in ends for parent in self.chain(zipped)}

    def _op(self, dataset: Dataset) -> DatasetOp:
        kind = kind_of(dataset)
        wrapper = privates.MAP_FUNCTION.of(dataset, None) or privates.PREDICATE.of(dataset, None)
        graph = files.tried(lambda: wrapper.function.graph) if wrapper is not None else None
        kinds = _op_types(graph)
        same_draws = files.tried(lambda: self._same_draws(graph))
        named, global_named = self._batch_names.get(id(dataset), ((), None))
        drops = _integer(privates.DROP_REMAINDER.of(dataset, None))
        elements = _integer(files.tried(dataset.cardinality))
        return DatasetOp(
            kind=kind,
            parallelism=_integer(privates.PARALLEL_CALLS.of(dataset, None)),
            buffer_size=_integer(
                getattr(dataset, ASKED_BUFFER, privates.BUFFER_SIZE.of(dataset, None))
            ),
            batch_size=_integer(privates.BATCH_SIZE.of(dataset, None)),
            drop_remainder=None if drops is None else bool(drops),
            count=_integer(privates.COUNT.of(dataset, None)),
            # What is the same by mistake is random once it is mended.
            stateful=kind == "Random" or bool(same_draws) or any(map(_RANDOM.match, kinds)),
            same_draws=same_draws,
            python=any("PyFunc" in name or name == "GeneratorDataset" for name in kinds),
            pads=kind == "PaddedBatch" or "RaggedTensorToTensor" in kinds,
            gives_unknown=any(
                spec.shape is None or None in spec.shape for spec in self._elements(dataset)
            ),
            opens_files=files.opens(kind, kinds),
            batch_named=named,
            global_batch_named=global_named,
            reads_files=files.one_by_one(dataset, kind, kinds),
            elements=elements if elements and elements > 0 else None,
            element_bytes=self._element_bytes(dataset),
            seeded=bool(_integer(privates.SEED.of(dataset, None))),
            keeps_order=privates.RESHUFFLES.of(dataset, None) is False,
            in_file=kind == "Cache" and bool(files.cache_file(dataset)),
            costly=any(_COSTLY.search(name) for name in kinds),
            inside_library=id(dataset) in self._inside_library,
            parallel_by_itself=kind == "Map" and not any(map(_is_stateful, kinds)),
            location=self._made_at.get(id(dataset)),
        )

    def _same_draws(self, graph: Graph | None) -> Location | None:
        """The user's line that draws by a seed which no element or epoch changes."""
        operations: Any = graph.get_operations() if graph is not None else ()
        seeds = (op for op in operations if op.type == _SEEDS)
        fixed = (op for op in seeds if self._tf.get_static_value(op.inputs[0]) is not None)
        return next(filter(None, map(user_lines.of_operation, fixed)), None)

    def _element_bytes(self, dataset: Dataset) -> int | None:
        total = 0
        for spec in files.tried(lambda: self._tf.nest.flatten(dataset.element_spec)) or ():
            count = files.tried(spec.shape.num_elements) if hasattr(spec, "shape") else None
            size = getattr(getattr(spec, "dtype", None), "size", None)
            if count is None or not size:
                return None
            total += count * size
        return total

    def _elements(self, dataset: Dataset) -> tuple[TensorSeen, ...]:
        flat = files.tried(lambda: self._tf.nest.flatten(dataset.element_spec)) or ()
        return tuple(
            TensorSeen(
                getattr(spec, "name", None) or f"component {index}",
                str(getattr(getattr(spec, "dtype", None), "name", type(spec).__name__)),
                None if spec.shape.rank is None else tuple(spec.shape.as_list()),
            )
            for index, spec in enumerate(flat)
            if hasattr(spec, "shape")
        )


def own(dataset: Dataset) -> Dataset:
    """The dataset wrapped for a script of TensorFlow 1."""
    while type(dataset).__name__ == "DatasetV1Adapter" and hasattr(dataset, privates.HELD.name):
        dataset = privates.HELD.of(dataset)
    return dataset


def kind_of(dataset: object) -> str:
    """The kind of a transformation: its class name without decoration and version."""
    return re.sub(r"^_|Dataset(V\d+)?$", "", type(dataset).__name__)


def _is_stateful(kind: str) -> bool:
    """Whether tf.data runs a function with such an operation serially; private, False if moved."""
    if _OF_BODIES.fullmatch(kind):
        return False
    definition = files.tried(lambda: privates.OPERATIONS.get()(kind))
    return bool(getattr(definition, "is_stateful", False))


def _rewrites(options: Any, name: str) -> bool:
    """Whether tf.data applies an optimisation of its own, which are on by default."""
    if options is None or options.autotune.enabled is False:
        return False
    optimisations = options.experimental_optimization
    if optimisations.apply_default_optimizations is False:
        return False
    # None is tf.data's default, which is on.
    return getattr(optimisations, name, False) is not False


def _op_types(graph: Graph | None) -> list[str]:
    if graph is None:
        return []
    defined = graph.as_graph_def()
    bodies = [defined.node, *(function.node_def for function in defined.library.function)]
    return [str(node.op) for body in bodies for node in body]


def _integer(value: Any) -> int | None:
    if value is None or isinstance(value, str):
        return None
    return files.tried(lambda: int(value))
