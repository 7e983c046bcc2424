"""Whether an exception is one of a CPU's kernels, of which a program for the TPU has none."""

from __future__ import annotations

import re

_ONLY_HERE = re.compile(
    r"only supports? (?:the )?(?:NHWC|NDHWC)|"
    r"(?:is|are) only supported for NHWC|"
    r"on device type CPU|"
    r"not (?:yet |currently )?(?:supported|implemented) (?:yet )?(?:on|for|in) (?:the )?CPU|"
    r"No OpKernel was registered to support Op .*Registered devices: \[CPU|"
    r"Could not find device for node: .*device='XLA_CPU_JIT'|"
    r"Op type not registered.* on CPU|"
    r"oneDNN|mkl_\w+_op\.cc|core/kernels/mkl/",
    re.S,
)
"""Layouts, types and groups that TensorFlow has no kernel for on a CPU, and faults of oneDNN's."""


def is_only_here(error: str) -> bool:
    """Whether an error tells of this machine's kernels alone."""
    return _ONLY_HERE.search(error) is not None
