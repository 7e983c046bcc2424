"""Watches tf.data pipelines that are distributed or read: which, how often, and by what."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from tpudiag.model import Location
from tpudiag.signals import Pipeline
from tpudiag.sources.job.points import (
    Call,
    Library,
    bounded_call,
    hooks,
    privates,
    table,
    user_lines,
)
from tpudiag.sources.job.points.library_objects import Dataset, Strategy
from tpudiag.sources.job.tensorflow.input import cardinality, files, input_benchmark, parts
from tpudiag.sources.job.tensorflow.input.dataset_reader import DatasetReader
from tpudiag.sources.job.tensorflow.input.feeds import Feed, FeedWatch

FILLED_IN = "_tpudiag_filled_in"
"""Marks a synthetic dataset, which is not the job's own."""
NOT_RUN = "_tpudiag_not_run"
"""Marks a dataset of the job's whose function is traced alone: its elements are synthetic."""


@dataclass
class _ReadPipeline:
    pipeline: Pipeline
    chain: list[Dataset]
    """The dataset of each op of the pipeline."""
    feed: Feed
    passes: int = 0


class PipelineWatch:
    """Hooks making, distributing and iterating datasets."""

    def __init__(self, tf: Library) -> None:
        self._tf = tf
        self._reader = DatasetReader(tf)
        self._read: dict[int, _ReadPipeline] = {}
        self._distributed_as: dict[int, tuple[object, _ReadPipeline]] = {}
        self._distributing = False
        self.feeds = FeedWatch(tf)
        hooks.after(table.DATASET_MADE, self._reader.note_made)
        hooks.after(table.DATASETS_DEBUGGED, self._reader.note_debugged)
        hooks.after(table.DATASET_READ, self._iterated, gives=True)
        hooks.around(table.STRATEGY_DISTRIBUTES, self._distributed)
        hooks.around(table.STRATEGY_DISTRIBUTES_BY_FUNCTION, self._from_function)

    def facts(self) -> tuple[Pipeline, ...]:
        """The pipelines that were distributed or read, in that order."""
        for feed in self.feeds.training():
            if id(feed.dataset) not in self._read:
                self._add(feed.dataset, location=feed.location)
        return tuple(
            replace(read.pipeline, passes=max(read.passes, 1), trains=self._trains(read))
            for read in self._read.values()
        )

    def own(self) -> tuple[Pipeline, ...]:
        """Those made by the job itself."""
        facts = self.facts()
        owners = [read.chain for read in self._read.values()]
        return tuple(
            pipeline
            for pipeline, chain in zip(facts, owners, strict=True)
            if not any(getattr(each, FILLED_IN, False) for each in chain)
        )

    def _trains(self, read: _ReadPipeline) -> bool:
        """Whether a pipeline feeds the training step.

        Where no step shows its input, distributed pipelines do that are not known to feed another
        function.
        """
        if self.feeds.training():
            return read.feed.trains
        return read.pipeline.distributed and not read.feed.evaluates

    def _distributed(
        self, original: Call, strategy: Strategy, dataset: Dataset, *args: object, **kwargs: object
    ) -> object:
        if self._distributing:
            return original(strategy, dataset, *args, **kwargs)
        with hooks.instead(self, _distributing=True):
            read = self._add(dataset, replicas=strategy.num_replicas_in_sync)
            distributed = original(strategy, dataset, *args, **kwargs)
            self._count_passes(distributed, read)
            return distributed

    def _count_passes(self, distributed: object, read: _ReadPipeline) -> None:
        """A distributed dataset is read each time it is iterated, not when it is made."""
        # _add has counted its making as a pass.
        read.passes -= 1
        self._distributed_as[id(distributed)] = distributed, read
        if not isinstance(distributed, self._tf.data.Dataset):
            self.feeds.mark(distributed, read.feed)
        class_ = distributed.__class__
        hooks.after(table.DISTRIBUTED_READ, self._pass_begins, class_, gives=True)
        if not issubclass(class_, self._tf.data.Dataset):
            hooks.before(table.DISTRIBUTED_REDUCED, self._reduced, class_)

    def _pass_begins(self, iterator: object, distributed: object) -> None:
        known = self._distributed_as.get(id(distributed))
        if known is not None:
            known[1].passes += 1
            self.feeds.read_by(iterator, known[1].feed)

    def _reduced(self, distributed: object, *_: object, **__: object) -> None:
        """AutoGraph made one operation from a loop over a distributed dataset."""
        known = self._distributed_as.get(id(distributed))
        if known is not None:
            self.feeds.consumed.append(known[1].feed)

    def _from_function(
        self,
        original: Call,
        strategy: Strategy,
        dataset_fn: Callable[[object], Dataset],
        *args: object,
        **kwargs: object,
    ) -> object:
        """A function that makes a dataset of per-replica batches is passed to the strategy."""
        if self._distributing:
            return original(strategy, dataset_fn, *args, **kwargs)
        made: list[_ReadPipeline] = []

        def noted(context: object) -> Dataset:
            dataset = dataset_fn(context)
            replicas = strategy.num_replicas_in_sync
            made.append(self._add(dataset, replicas=replicas, per_replica=True))
            return dataset

        with hooks.instead(self, _distributing=True):
            distributed = original(strategy, noted, *args, **kwargs)
            if made:
                self._count_passes(distributed, made[0])
            return distributed

    def _iterated(self, iterator: object, dataset: Dataset) -> None:
        if self._tf.executing_eagerly():
            self.feeds.read_by(iterator, self.feeds.of(dataset))
            if user_lines.direct_caller() is not None:
                self._add(dataset)

    def _add(
        self,
        dataset: Dataset,
        replicas: int | None = None,
        per_replica: bool = False,
        location: Location | None = None,
    ) -> _ReadPipeline:
        """Read a pipeline once; count its starts."""
        read = self._read.get(id(dataset))
        if read is None:
            chain = self._reader.chain(dataset)
            pipeline = self._reader.pipeline(dataset, chain, replicas, per_replica)
            apart = files.tried(lambda: parts.in_other_orders(self._reader, chain, pipeline.ops))
            pipeline = replace(pipeline, location=location or pipeline.location, apart=apart)
            read = _ReadPipeline(pipeline, chain, self.feeds.of(dataset))
            self._read[id(dataset)] = read
        read.passes += 1
        return read

    def count(self) -> None:
        """Count what training pipelines reread in every pass."""
        for read in self._read.values():
            if self._trains(read):
                pipeline = cardinality.counted(self._tf, read.chain, read.pipeline)
                read.pipeline = with_host_bytes(self._tf, read.chain, pipeline)

    def measure(self, budget_s: float) -> None:
        """Measure the gain of fixes for the first training pipeline."""
        for read in self._read.values():
            # Keras' own pipelines for arrays have no line, and nothing for the user to fix.
            if self._trains(read) and any(op.location for op in read.pipeline.ops):
                read.pipeline = input_benchmark.measured(
                    self._tf, read.feed.dataset, read.chain, read.pipeline, budget_s
                )
                return


COMPONENT_BYTES = 180
"""Per tensor of a held element: allocation, tensor, vector (shuffle and cache of 400,000 small
elements, TensorFlow 2.21: 170 to 200)."""
SAMPLES = 16
LONGEST_S = 1.0
HOLDS = ("Shuffle", "Cache", "Prefetch")
"""The transformations that hold elements."""


def with_host_bytes(tf: Library, chain: list[Dataset], pipeline: Pipeline) -> Pipeline:
    """The pipeline with an element's size for each transformation that holds some.

    Where shapes do not suffice, some elements are read, in a thread that may hang.
    """
    if len(chain) != len(pipeline.ops):
        return pipeline
    end = time.monotonic() + 2 * LONGEST_S
    ops = list(pipeline.ops)
    for number, op in enumerate(ops):
        if op.kind in HOLDS and time.monotonic() < end:
            ops[number] = replace(op, host_bytes=_host_bytes(tf, chain[number], op.element_bytes))
    return replace(pipeline, ops=tuple(ops))


def _host_bytes(tf: Library, dataset: Dataset, payload_bytes: int | None) -> int | None:
    """By shapes where known, else by the mean of some elements."""
    components = len(tf.nest.flatten(dataset.element_spec))
    if payload_bytes is None:
        # Read its input, not its output: a shuffle would fill its whole buffer first.
        inner = privates.inputs(dataset)
        payload_bytes = bounded_call.within(
            2 * LONGEST_S, lambda: _sampled(tf, inner[0] if inner else dataset)
        )
    return None if payload_bytes is None else payload_bytes + COMPONENT_BYTES * components


def _sampled(tf: Library, dataset: Dataset) -> int | None:
    sizes: list[int] = []
    end = time.monotonic() + LONGEST_S
    for element in dataset.take(SAMPLES):
        sizes.append(
            sum(_tensor_bytes(t) for t in tf.nest.flatten(element, expand_composites=True))
        )
        if time.monotonic() > end:
            break
    return sum(sizes) // len(sizes) if sizes else None


def _tensor_bytes(tensor: Any) -> int:
    values = tensor.numpy()
    if tensor.dtype.name == "string":
        flat = values.reshape(-1) if hasattr(values, "reshape") else [values]
        return sum(len(each) for each in flat)
    return int(values.nbytes)
