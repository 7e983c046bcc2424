"""The host memory of one element of a dataset."""

import time
from dataclasses import replace
from typing import Any

from tpudiag.signals import Pipeline
from tpudiag.sources.job.points import Library, bounded_call, privates
from tpudiag.sources.job.points.library_objects import Dataset

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
