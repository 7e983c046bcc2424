"""Ends a rehearsal that this machine cannot hold, so that it is started again with fewer replicas.

A model may be too large for the memory, or its step too slow for the cores.
"""

from __future__ import annotations

import os
from dataclasses import replace
from math import prod

from tpudiag.signals import JobEnd
from tpudiag.sources.job.points import Library
from tpudiag.sources.job.process import host_memory
from tpudiag.sources.job.process.protocol import JobSpec, Recorder
from tpudiag.sources.job.tensorflow.graphs import cpu_cost
from tpudiag.sources.job.tensorflow.graphs.batches import batch_of
from tpudiag.sources.job.tensorflow.watch_order import Watches
from tpudiag.sources.job.tensorflow.watches.training import GradientCall

_KEPT = ("Conv", "Depthwise", "FusedBatchNorm", "MatMul", "BatchMatMul", "Einsum", "Relu", "Mul")
"""Operations whose results are most of what a forward pass keeps."""


def end_if_too_large(spec: JobSpec, watches: Watches, recorder: Recorder) -> None:
    """While a model is built, and before its first step: one too large ends the try."""
    # The variables of a job that only lowers its step are reserved and never written.
    replicas = watches.replicas
    if replicas is None or spec.requests >= 0:
        return
    if replicas.count == 1:
        _end_if_one_is_too_large(watches, recorder)
        return
    fitting = host_memory.replicas_that_fit(watches.variables.facts(), replicas.count)
    if fitting < replicas.count:
        replicas.end(fitting)


def _end_if_one_is_too_large(watches: Watches, recorder: Recorder) -> None:
    """The only replica is too large: that is said while there is memory to say it."""
    available = host_memory.available_bytes()
    short = host_memory.shortage(watches.variables.facts(), available)
    if short is not None:
        recorder.put(end=JobEnd(how="unsupported", error=short))
        os._exit(0)


def judge_speed(tf: Library, spec: JobSpec, watches: Watches, call: GradientCall) -> None:
    """Replica 0 has traced its forward pass: is the step one for this machine?

    One too slow for so many replicas ends the try. What is too much for it even alone is traced and
    not run: for the other replicas, too, which takes less than to begin anew.
    """
    watches.gradients.on_first_replica = lambda _: None
    replicas = watches.replicas
    if replicas is None or spec.requests >= 0:
        return
    # Before the first step nothing is known to train: what was distributed is taken for it.
    pipelines = [replace(p, trains=True) for p in watches.pipelines.facts() if p.distributed]
    strategies = watches.strategies
    batch = batch_of(
        strategies.last_inputs, pipelines, strategies.replicas or 1, None, watches.keras.fit_batch
    )
    if batch is None:
        return
    cores = os.cpu_count() or 1
    flops = cpu_cost.replica_flops(tf, call.graph, batch.per_replica_batch)
    alone = host_memory.PASSES * flops
    kept_bytes = _forward_bytes(call, batch.per_replica_batch)
    heavy = host_memory.is_heavy(alone, cores) or not host_memory.has_room(kept_bytes)
    current = watches.functions.current
    if heavy and watches.heavy is not None and current is not None:
        watches.heavy.leave(current, alone)
        return
    in_time = 1 if heavy else host_memory.replicas_in_time(alone, replicas.count, cores)
    if in_time < replicas.count:
        replicas.end(in_time)


def _forward_bytes(call: GradientCall, examples: int) -> int:
    """What the forward pass of one replica leaves for the backward pass; an estimate.

    An open first dimension is taken for the batch.
    """
    total = 0
    for operation in call.graph.get_operations()[: call.forward_operations]:
        if not operation.type.startswith(_KEPT) or not operation.outputs:
            continue
        made = operation.outputs[0]
        if made.shape.rank:
            first, *rest = made.shape
            sizes = [examples if first is None else first, *rest]
            total += prod(size or 1 for size in sizes) * made.dtype.size
    return total
