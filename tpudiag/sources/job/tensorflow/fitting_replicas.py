"""Ends a rehearsal that this machine cannot hold, so that it is started again with fewer replicas.

A model may be too large for the memory, or its step too slow for the cores.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from tpudiag.signals import JobEnd, MatrixOp
from tpudiag.sources.job.process import host_memory
from tpudiag.sources.job.process.protocol import JobSpec, Recorder
from tpudiag.sources.job.tensorflow import graphs, matrix_products
from tpudiag.sources.job.tensorflow.batches import batch_of
from tpudiag.sources.job.tensorflow.training import GradientCall
from tpudiag.sources.job.tensorflow.watches import Watches
from tpudiag.sources.job.tensorflow.wide_convolutions import SLOWER

_LOOPS = ("While", "StatelessWhile")


def end_if_too_large(spec: JobSpec, watches: Watches, recorder: Recorder) -> None:
    """While a model is built, and before its first step: one too large ends the try."""
    # The variables of a job that only lowers its step are reserved and never written.
    if not spec.rehearse or spec.requests >= 0:
        return
    if spec.real_replicas == 1:
        _end_if_one_is_too_large(watches, recorder)
        return
    fitting = host_memory.replicas_that_fit(watches.variables.facts(), spec.real_replicas)
    if fitting < spec.real_replicas:
        _end(recorder, fitting)


def _end_if_one_is_too_large(watches: Watches, recorder: Recorder) -> None:
    """The only replica is too large: that is said while there is memory to say it."""
    available = host_memory.available_bytes()
    short = host_memory.shortage(watches.variables.facts(), available)
    if short is not None:
        recorder.put(end=JobEnd(how="unsupported", error=short))
        os._exit(0)


def end_if_too_slow(
    tf: Any, spec: JobSpec, watches: Watches, recorder: Recorder, call: GradientCall
) -> None:
    """Replica 0 has traced its forward pass: one too slow for so many replicas ends the try."""
    watches.gradients.on_first_replica = lambda _: None
    if not spec.rehearse or spec.real_replicas == 1 or spec.requests >= 0:
        return
    # Before the first step nothing is known to train: what was distributed is taken for it.
    pipelines = [replace(p, trains=True) for p in watches.pipelines.facts() if p.distributed]
    strategies = watches.strategies
    batch = batch_of(strategies.last_inputs, pipelines, strategies.replicas or 1, None)
    if batch is None:
        return
    products = matrix_products.matrix_ops(call, lambda _: None, batch.per_replica_batch)
    widened = not spec.lower_to
    turns = turns_of_loops(tf, call.graph)
    flops = sum(
        _cpu_flops(product, widened) * turns.get(product.name, 1)
        for product in products
        if product.forward
    )
    in_time = host_memory.replicas_in_time(flops, spec.real_replicas, os.cpu_count() or 1)
    if in_time < spec.real_replicas:
        _end(recorder, in_time)


def turns_of_loops(tf: Any, graph: Any) -> dict[str, int]:
    """How often operations inside loops run, by their names: a recurrence goes over its steps.

    `tf.while_loop` counts in its first argument, up to its second where one is given.
    """
    turns: dict[str, int] = {}
    for operation, outermost in graphs.operations(graph):
        if outermost is not operation and outermost.type in _LOOPS and len(outermost.inputs) > 1:
            most = tf.get_static_value(outermost.inputs[1])
            turns[operation.name] = max(int(most), 1) if most is not None and most.ndim == 0 else 1
    return turns


def _cpu_flops(product: MatrixOp, widened: bool) -> float:
    """What a product costs a CPU; a convolution in 16 bits is slow, unless it was widened."""
    slow = not widened and product.op.startswith("Conv") and "16" in product.dtype
    return product.flops * (SLOWER if slow else 1.0)


def _end(recorder: Recorder, fitting_replicas: int) -> None:
    """End the process; the parent starts the job again with the replicas that fit."""
    # Not by an exception, which the job might catch and go on with what does not fit.
    recorder.put(fitting_replicas=fitting_replicas)
    os._exit(0)
