"""What only a CPU's kernel says."""

from __future__ import annotations

import pytest

from tpudiag.known_errors.cpu_kernels import is_only_here


@pytest.mark.parametrize(
    ("error", "only_here"),
    [
        ("Default MaxPoolingOp only supports NHWC on device type CPU", True),
        ("The Conv2D op currently only supports the NHWC tensor format on the CPU.", True),
        ("Depthwise convolution on CPU is only supported for NHWC format", True),
        ("Gradients for grouped convolutions are not supported on CPU.", True),
        ("Could not find device for node: {{node X}}\n  device='XLA_CPU_JIT'; T in [x]", True),
        ("input depth must be evenly divisible by filter depth: 3 vs 32", False),
        ("logits and labels must have the same first dimension, got [5,2] and [4]", False),
    ],
)
def test_errors_of_a_cpus_kernels(error: str, only_here: bool) -> None:
    assert is_only_here(f"InvalidArgumentError: {error} [Op:X]") is only_here
