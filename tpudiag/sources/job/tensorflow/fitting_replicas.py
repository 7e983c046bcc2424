"""Ends a rehearsal that this machine cannot hold, so that it is started again with fewer replicas.

A model may be too large for the memory, or its step too slow for the cores.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from math import prod
from typing import Any

from tpudiag.signals import Batch, JobEnd, MatrixOp
from tpudiag.sources.job.points import hooks, table
from tpudiag.sources.job.process import host_memory
from tpudiag.sources.job.process.protocol import JobSpec, Recorder
from tpudiag.sources.job.tensorflow.devices.wide_convolutions import SLOWER
from tpudiag.sources.job.tensorflow.graphs import graphs, matrix_products
from tpudiag.sources.job.tensorflow.graphs.batches import batch_of
from tpudiag.sources.job.tensorflow.watch_order import Watches
from tpudiag.sources.job.tensorflow.watches.training import GradientCall

_LOOPS = ("While", "StatelessWhile")
_KEPT = ("Conv", "Depthwise", "FusedBatchNorm", "MatMul", "BatchMatMul", "Einsum", "Relu", "Mul")
"""Operations whose results are most of what a forward pass keeps."""


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
    tf: Any,
    spec: JobSpec,
    watches: Watches,
    recorder: Recorder,
    read_step: Callable[[], Batch | None],
    call: GradientCall,
) -> None:
    """Replica 0 has traced its forward pass: one too slow for so many replicas ends the try.

    Where the whole batch of even one is too much, the step is traced and read as it is before: the
    next try runs some of its examples, and shows nothing of the step's true shapes.
    """
    watches.gradients.on_first_replica = lambda _: None
    if not spec.rehearse or spec.requests >= 0 or spec.examples:
        return
    # Before the first step nothing is known to train: what was distributed is taken for it.
    pipelines = [replace(p, trains=True) for p in watches.pipelines.facts() if p.distributed]
    strategies = watches.strategies
    batch = batch_of(strategies.last_inputs, pipelines, strategies.replicas or 1, None)
    if batch is None:
        return
    cores = os.cpu_count() or 1
    flops = _forward_flops(tf, call, batch, widened=not spec.lower_to)
    in_time = host_memory.replicas_in_time(flops, spec.real_replicas, cores)
    whole = batch.per_replica_batch
    examples = min(
        host_memory.examples_in_time(flops, whole, cores),
        host_memory.examples_that_fit(_forward_bytes(call, whole), whole),
    )
    if examples < whole and pipelines:
        _end_once_read(watches, recorder, read_step, examples)
    elif in_time < spec.real_replicas:
        _end(recorder, in_time)


def _forward_flops(tf: Any, call: GradientCall, batch: Batch, *, widened: bool) -> float:
    """What one replica's forward pass costs a CPU."""
    products = matrix_products.matrix_ops(call, lambda _: None, batch.per_replica_batch)
    turns = turns_of_loops(tf, call.graph)
    return sum(
        _cpu_flops(product, widened) * turns.get(product.name, 1)
        for product in products
        if product.forward
    )


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
            sizes = [examples if made.shape[0] is None else made.shape[0], *made.shape[1:]]
            total += prod(size or 1 for size in sizes) * made.dtype.size
    return total


def _end_once_read(
    watches: Watches,
    recorder: Recorder,
    read_step: Callable[[], Batch | None],
    examples: int,
) -> None:
    """End the try where replica 0, its gradients traced, first meets the other replicas."""
    before = len(watches.gradients.calls)

    def met(*_: Any, **__: Any) -> None:
        if len(watches.gradients.calls) == before:
            return
        batch = hooks.quietly(read_step)
        if batch is not None:
            recorder.put(fitting_examples=examples, replica_batch=batch.per_replica_batch)
            _end(recorder, 1)

    hooks.before(table.REPLICAS_MERGED, met)


def turns_of_loops(tf: Any, graph: Any, turns: int = 1, depth: int = 0) -> dict[str, int]:
    """How often operations inside loops run, by their names: a recurrence goes over its steps.

    A loop may stand in a called function, as that of a recurrent layer of Keras 2 does, or in
    another loop, and then turns as often as both.
    """
    inside: dict[str, int] = {}
    for operation in graph.get_operations():
        if not graphs.first_replica(operation):
            continue
        if turns > 1:
            inside[operation.name] = turns
        if operation.type in graphs.BODIES and depth < graphs.DEEPEST:
            inner = turns * (_turns(tf, operation) if operation.type in _LOOPS else 1)
            for body in graphs.bodies(graph, operation):
                for name, often in turns_of_loops(tf, body, inner, depth + 1).items():
                    inside[name] = max(often, inside.get(name, 1))
    return inside


def _turns(tf: Any, loop: Any) -> int:
    """How often a loop turns: what it is told as the most, else over what it goes; 1 if unknown.

    `tf.while_loop` counts in its first argument, up to its second where one is given.
    """
    most = tf.get_static_value(loop.inputs[1]) if len(loop.inputs) > 1 else None
    if most is not None and most.ndim == 0 and most > 0:
        return int(most)
    stacks = [each.op.inputs[0] for each in loop.inputs if each.op.type == "TensorListFromTensor"]
    return max((each.shape[0] or 1 for each in stacks if each.shape.rank), default=1)


def _cpu_flops(product: MatrixOp, widened: bool) -> float:
    """What a product costs a CPU; a convolution in 16 bits is slow, unless it was widened."""
    slow = not widened and product.op.startswith("Conv") and "16" in product.dtype
    return product.flops * (SLOWER if slow else 1.0)


def _end(recorder: Recorder, fitting_replicas: int) -> None:
    """End the process; the parent starts the job again with the replicas that fit."""
    # Not by an exception, which the job might catch and go on with what does not fit.
    recorder.put(fitting_replicas=fitting_replicas)
    os._exit(0)
