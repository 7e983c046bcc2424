"""What only CPU replicas say."""

import pytest

from tpudiag.sources.job.tensorflow.devices.cpu_kernels import is_only_here

NO_KERNEL = """\
No OpKernel was registered to support Op '{op}' used by {{{{node X}}}} with these attrs: \
[strides=[1, 2], T={dtype}, data_format="NHWC"]
Registered devices: [CPU]
Registered kernels:
  device='XLA_CPU_JIT'; T in [DT_FLOAT, DT_BFLOAT16]
  device='CPU'; T in [DT_FLOAT]
"""
EAGERLY = """\
Could not find device for node: {{node LRN}} = LRN[T=DT_BFLOAT16, alpha=1]
All kernels registered for op LRN:
  device='XLA_CPU_JIT'; T in [DT_FLOAT, DT_BFLOAT16]
  device='CPU'; T in [DT_FLOAT]
"""
REFUSED = """\
Value passed to parameter '{name}' has DataType {dtype} not in list of allowed values: \
{more}float16, float32, float64, int32, int64"""


@pytest.mark.parametrize(
    ("error", "only_here"),
    [
        ("Default MaxPoolingOp only supports NHWC on device type CPU", True),
        ("The Conv2D op currently only supports the NHWC tensor format on the CPU.", True),
        ("Depthwise convolution on CPU is only supported for NHWC format", True),
        ("Current CPU implementations do not yet support dilation rates larger than 1.", True),
        ("filter_size does not have enough elements, requested 576, got 144", True),
        ("`merge_call` called while defining a new graph or a tf.function. This can", True),
        ("No registered '_MklLayerNorm' OpKernel for CPU devices", True),
        ("Op does not support bfloat16 inputs [[{{node FusedBatchNormV3}}]]", True),
        (NO_KERNEL.format(op="LRN", dtype="DT_BFLOAT16"), True),
        (NO_KERNEL.format(op="MatMul", dtype="DT_UINT32"), False),
        (EAGERLY, True),
        (REFUSED.format(name="input", dtype="bfloat16", more=""), True),
        (REFUSED.format(name="input", dtype="bool", more=""), True),
        (REFUSED.format(name="input", dtype="string", more=""), False),
        (REFUSED.format(name="input", dtype="uint32", more="bfloat16, "), True),
        (REFUSED.format(name="input", dtype="int8", more="bfloat16, "), False),
        (REFUSED.format(name="a", dtype="bfloat16", more=""), False),
        ("Some replicas made a different number of replica_context().merge_call() calls.", True),
        ("input depth must be evenly divisible by filter depth: 3 vs 32", False),
        ("logits and labels must have the same first dimension, got [5,2] and [4]", False),
    ],
)
def test_errors_of_a_cpus_kernels(error: str, only_here: bool) -> None:
    assert is_only_here(f"InvalidArgumentError: {error} [Op:X]") is only_here
