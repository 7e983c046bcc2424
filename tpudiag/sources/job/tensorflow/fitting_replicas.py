"""Ends a rehearsal that is too large for this machine, so that it restarts with fewer replicas.

A model may exceed the memory, or its step be too slow for the cores, to run or to trace.
"""

import os
import threading
import time
from dataclasses import replace
from math import prod

from tpudiag.signals import JobEnd
from tpudiag.sources.job.points import Library
from tpudiag.sources.job.process import host_memory
from tpudiag.sources.job.process.protocol import JobSpec, Recorder
from tpudiag.sources.job.tensorflow.graphs import matrix_products
from tpudiag.sources.job.tensorflow.graphs.batches import batch_of
from tpudiag.sources.job.tensorflow.watch_order import Watches
from tpudiag.sources.job.tensorflow.watches.training import GradientCall

_KEPT = ("Conv", "Depthwise", "FusedBatchNorm", "MatMul", "BatchMatMul", "Einsum", "Relu", "Mul")
"""Operations whose results are most of what a forward pass keeps."""


def end_if_too_large(spec: JobSpec, watches: Watches, recorder: Recorder) -> None:
    """While a model is built, and before its first step, end a try that is too large."""
    # A job that only lowers its step never writes its variables.
    replicas = watches.replicas
    if replicas is None or spec.requests >= 0:
        return
    if replicas.count == 1:
        # Report that even a single replica is too large, while there is memory to do so.
        short = host_memory.shortage(watches.variables.facts(), host_memory.available_bytes())
        if short is not None:
            recorder.put(end=JobEnd(how="unsupported", error=short))
            os._exit(0)
        return
    fitting = host_memory.replicas_that_fit(watches.variables.facts(), replicas.count)
    if fitting < replicas.count:
        replicas.end(fitting)


def judge_speed(tf: Library, spec: JobSpec, watches: Watches, call: GradientCall) -> None:
    """Replica 0 has traced its forward pass: decide whether this machine can run the step.

    One too slow for so many replicas ends the try. What is too slow even alone is traced but not
    run, for the other replicas, too, which is faster than a restart.
    """
    watches.gradients.on_first_replica = lambda _: None
    replicas = watches.replicas
    if replicas is None or spec.requests >= 0:
        return
    # Before the first step training pipelines are unknown: assume the distributed ones.
    pipelines = [replace(p, trains=True) for p in watches.pipelines.facts() if p.distributed]
    strategies = watches.strategies
    batch = batch_of(
        strategies.last_inputs, pipelines, strategies.replicas or 1, None, watches.keras.fit_batch
    )
    if batch is None:
        return
    flops = matrix_products.replica_flops(tf, call.graph, batch.per_replica_batch)
    alone = host_memory.PASSES * flops
    kept_bytes = _forward_bytes(call, batch.per_replica_batch)
    heavy = host_memory.is_heavy(alone) or not host_memory.has_room(kept_bytes)
    current = watches.functions.current
    if heavy and watches.heavy is not None and current is not None:
        watches.heavy.leave(current, alone)
        return
    in_time = 1 if heavy else host_memory.replicas_in_time(alone, replicas.count)
    # A replica has a thread of its own, which has done nothing else.
    if threading.current_thread() is not threading.main_thread():
        in_time = min(in_time, host_memory.replicas_in_trace(time.thread_time(), replicas.count))
    if in_time < replicas.count:
        replicas.end(in_time)


def _forward_bytes(call: GradientCall, examples: int) -> int:
    """An estimate of what one replica's forward pass keeps for the backward pass.

    An open first dimension counts as the batch.
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
