"""Measures the gain of input pipeline fixes: original and fixed pipelines run in turns."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import TypeAlias

from tpudiag.signals import InputCost, InputSpeed, Pipeline
from tpudiag.signals.input_pipeline import PaddedLength, UnmixedLabel
from tpudiag.sources.job.points import Library, bounded_call, hooks
from tpudiag.sources.job.points.library_objects import Dataset
from tpudiag.sources.job.tensorflow.input import (
    graph_rewrite,
    label_mix,
    padded_lengths,
    serial_times,
)

TURNS = 2
COST_S = 1.0
"""How long the original pipeline runs to measure its cost, plus a quarter to fill its buffers."""
LOOK_S = 1.0
"""How long a pipeline without a needed fix runs, so that AUTOTUNE can choose."""
FEWEST_LOOKED_AT, MOST_LOOKED_AT = 4, 32
"""Batches whose shapes and labels are compared."""
GRACE_S = 2.0
"""The time for one element beyond the budget, before the measurement is abandoned."""


def fixes(
    tf: Library, dataset: Dataset, chain: list[Dataset], pipeline: Pipeline
) -> dict[str, Dataset]:
    """The pipeline with each applicable fix, by name."""
    wanted: dict[str, graph_rewrite.Change] = {
        "parallel calls": graph_rewrite.in_parallel,
        "AUTOTUNE": graph_rewrite.autotuned,
    }
    if any(op.reads_files for op in pipeline.ops):
        wanted["parallel reads"] = graph_rewrite.readers_in_parallel
    costly = pipeline.worth_caching
    if costly is not None and len(chain) == len(pipeline.ops):
        wanted["cache"] = graph_rewrite.cached_after(tf, chain[costly])
    made = {n: graph_rewrite.rewritten(tf, dataset, change) for n, change in wanted.items()}
    if not pipeline.ends_ahead:
        made["prefetch"] = dataset.prefetch(tf.data.AUTOTUNE)
    return {name: mended for name, mended in made.items() if mended is not None}


def measured(
    tf: Library, dataset: Dataset, chain: list[Dataset], pipeline: Pipeline, budget_s: float
) -> Pipeline:
    """The pipeline with its fixes' gains; unchanged where they cannot be measured.

    Runs in a thread; the caller waits only for the budget and a moment, since a pipeline may hang.
    """
    made = pipeline

    def work() -> None:
        nonlocal made
        run = Run(dataset)
        made = replace(made, cost=cost(tf, run, pipeline, min(COST_S, budget_s / 4)))
        shapes, unmixed, padded = run.look(tf)
        made = replace(made, shapes=shapes, unmixed=unmixed, padded=padded)
        mended = fixes(tf, dataset, chain, pipeline)
        runs: dict[str, Run] = {}
        if mended:
            for speed in _speeds(dataset, mended, pipeline, budget_s, runs):
                made = replace(made, speeds=(*made.speeds, speed))
        elif any(-1 in (op.parallelism, op.buffer_size) for op in pipeline.ops):
            runs[""] = Run(dataset)
            runs[""].rate(min(budget_s, LOOK_S))
        tuned = runs.get("AUTOTUNE") or runs.get("")
        if tuned is not None:
            chosen = serial_times.choices(tf, tuned.iterator, pipeline.ops)
            made = replace(made, autotuned=tuple(chosen))

    bounded_call.within(budget_s + GRACE_S, work)
    return made


def cost(tf: Library, run: Run, pipeline: Pipeline, for_s: float) -> InputCost:
    """CPU time, wall time and bytes of the original pipeline, once its buffers are full.

    Separately: the work that must stay on one thread, and the Python part of it.
    """
    run.rate(for_s / 4)
    read, busy, began = _read_bytes(), time.process_time(), time.perf_counter()
    elements = run.elements
    run.rate(for_s)
    seconds, used, after = time.perf_counter() - began, time.process_time() - busy, _read_bytes()
    examples = max(1, run.elements - elements) * pipeline.examples_per_element
    share = examples / (run.elements * pipeline.examples_per_element)
    serial = serial_times.of_iterator(tf, run.iterator, pipeline.ops)
    return InputCost(
        examples,
        seconds,
        used,
        after - read if read is not None and after is not None else None,
        cores=serial_times.usable_cores(),
        serial_seconds=serial.longest_s * share if serial is not None else None,
        python_seconds=serial.python_s * share if serial is not None else None,
    )


def _read_bytes() -> int | None:
    # Not read_bytes, which counts only disks: neither sockets nor cached files.
    with suppress(OSError, KeyError, ValueError), open("/proc/self/io") as counters:  # noqa: PTH123
        return int(dict(line.split(": ") for line in counters)["rchar"])
    return None


def _speeds(
    dataset: Dataset,
    mended: dict[str, Dataset],
    pipeline: Pipeline,
    budget_s: float,
    runs: dict[str, Run],
) -> Iterator[InputSpeed]:
    # A turn runs the original, each fix, and once more the original with a slow consumer; one turn
    # fills a cache.
    turn_s = budget_s / (TURNS * (2 + len(mended)) + 1)
    runs |= {name: Run(each) for name, each in {"": dataset, **mended}.items()}
    if "cache" in runs and not runs["cache"].filled(pipeline.elements_to_cache, budget_s / 4):
        del runs["cache"]
    rates: dict[str, list[float]] = {name: [] for name in runs}
    slowed: list[float] = []
    step_s = 0.0
    began, elsewhere = time.perf_counter(), _by_others_s()
    for _ in range(TURNS):
        for name, run in runs.items():
            rates[name].append(run.rate(turn_s, step_s if name == "prefetch" else 0.0))
            # The original comes first in each turn: it sets the consumer's speed.
            step_s = step_s or 1 / rates[""][0]
        if "prefetch" in runs:
            slowed.append(runs[""].rate(turn_s, step_s))
    since, took = _by_others_s(), (os.cpu_count() or 1) * (time.perf_counter() - began)
    others = None if elsewhere is None or since is None else max(0.0, since - elsewhere) / took
    size = pipeline.examples_per_element
    for name in runs:
        if name:
            # The best turn: other work on this machine can only slow them down.
            before = slowed if name == "prefetch" else rates[""]
            first, best, least = size * max(before), size * max(rates[name]), size * min(before)
            yield InputSpeed(name, first, best, least, others)


def _by_others_s() -> float | None:
    """The seconds that the cores have worked for other processes, since the machine started."""
    with suppress(OSError, ValueError):
        with open("/proc/stat", encoding="ascii") as counters:  # noqa: PTH123
            user, nice, system, _, _, *rest = map(int, counters.readline().split()[1:9])
        return (user + nice + system + sum(rest)) / os.sysconf("SC_CLK_TCK") - time.process_time()
    return None


_Shapes: TypeAlias = tuple[tuple[int, ...], ...]


def _shapes(tf: Library, element: object) -> _Shapes | None:
    shapes = [t.shape[1:] for t in tf.nest.flatten(element) if hasattr(t, "shape")]
    if any(size is None for shape in shapes for size in shape):
        return None
    return tuple(tuple(shape) for shape in shapes)


class Run:
    """A pipeline that is read endlessly, element by element."""

    def __init__(self, dataset: Dataset) -> None:
        self.iterator = iter(dataset if int(dataset.cardinality()) == -1 else dataset.repeat())
        # The first element also starts threads and opens files.
        next(self.iterator)
        self.elements = 1
        """Read so far."""

    def look(
        self, tf: Library
    ) -> tuple[tuple[_Shapes, ...], UnmixedLabel | None, PaddedLength | None]:
        """Look at the next batches.

        The shapes of their tensors without the batch, if each comes several times; a label that is
        not mixed; sequences and their width.
        """
        seen: set[_Shapes | None] = set()
        labels: list[Counter[float] | None] = []
        lengths: list[list[PaddedLength | None] | None] = []
        began = time.perf_counter()
        while len(labels) < MOST_LOOKED_AT and time.perf_counter() - began < LOOK_S:
            element = next(self.iterator)
            seen.add(_shapes(tf, element))
            labels.append(hooks.quietly(label_mix.of_batch, element))
            lengths.append(hooks.quietly(padded_lengths.of_batch, tf, element))
        if len(labels) < FEWEST_LOOKED_AT:
            return (), None, None
        few = FEWEST_LOOKED_AT * len(seen) <= len(labels) and None not in seen
        shapes = tuple(filter(None, seen if few else ()))
        return shapes, label_mix.unmixed(labels), padded_lengths.worst(lengths)

    def filled(self, elements: int, within_s: float) -> bool:
        """Read one whole pass, and report whether it ended in time."""
        end = time.perf_counter() + within_s
        for _ in range(elements):
            next(self.iterator)
            if time.perf_counter() > end:
                return False
        return True

    def rate(self, for_s: float, step_s: float = 0.0) -> float:
        """Elements per second; the consumer takes `step_s` for each."""
        count, began = 0, time.perf_counter()
        while (took := time.perf_counter() - began) < for_s:
            if step_s:
                time.sleep(step_s)
            next(self.iterator)
            count += 1
        self.elements += count
        return count / took
