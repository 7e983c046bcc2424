"""Recognises exceptions that only CPU replicas raise, and no step on a TPU.

Tested on TensorFlow 2.21 with 161 operations and forms on two CPU replicas: those that fail there
but have an XLA kernel fail with these messages. Collectives of CPU replicas support fewer types
than a TPU's: found by comparing the definitions of all operations.
"""

import re

_ONLY_HERE = re.compile(
    r"only supports? (?:the )?(?:NHWC|NDHWC)|"
    r"on CPU is only supported for NHWC|"
    r"on device type CPU|"
    r"Current CPU implementations? do(?:es)? not yet support|"
    r"not (?:yet |currently )?(?:supported|implemented) (?:yet )?(?:on|for|in) (?:the )?CPU|"
    # The gradient of a grouped convolution in 16 bit.
    r"filter_size does not have enough elements, requested \d+, got \d+|"
    r"all_gather is not supported in eager|"
    r"oneDNN|\b_Mkl|core/kernels/mkl/|"
    # The fused norms of TensorFlow 2.13 on processors without AVX-512.
    r"Op does not support bfloat16 inputs"
)
NO_GRADIENT = "`merge_call` of replicas on threads has no gradient"
_APART = re.compile(
    f"{NO_GRADIENT}|merge_call`? called while defining a new graph|"
    "replicas made a different number of replica_con"
)
"""Replica threads cannot meet in a branch, a loop or a nested function; and each runs the step's
Python, which a TPU's replicas run once for all."""
_NO_KERNEL = re.compile(
    r"(?:No OpKernel was registered to support|Could not find device for node:)"
    r"(?P<requested>.*?)(?:Registered kernels:|All kernels registered for op \w+:)(?P<kernels>.*)",
    re.S,
)
_TYPE = re.compile(r"\b(\w+)=(DT_\w+)")
_REFUSED = re.compile(
    r"Value passed to parameter 'input' has DataType (\w+) not in list of allowed values: "
    r"((?:\w+, )*\w+)"
)
_SUMMED: frozenset[str] = frozenset(("bfloat16", "float16", "float32", "float64", "int32", "int64"))
_GATHERED = _SUMMED - {"bfloat16"}
_BY_TPUS: dict[frozenset[str], frozenset[str]] = {
    _SUMMED: frozenset(("uint32",)),
    _GATHERED: frozenset(
        ("bfloat16", "bool", "int8", "int16", "uint8", "uint16", "uint32", "uint64",
         "complex64", "complex128")
    ),
}  # fmt: skip
"""By the types that CPU replicas can sum or gather, the additional ones that a TPU's can."""
_OF_XLA = re.compile(r"device='XLA_CPU_JIT'(.*)")


def is_only_here(error: str) -> bool:
    """Whether an error names something that CPU replicas cannot do, but a TPU's can."""
    known = _ONLY_HERE.search(error) is not None or is_of_many(error)
    if known or _has_kernel_for_xla(error):
        return True
    # TPUs sum and gather more types than CPU replicas.
    found = _REFUSED.search(error)
    types = _BY_TPUS.get(frozenset(found[2].split(", ")), ()) if found else ()
    return found is not None and found[1] in types


def is_of_many(error: str) -> bool:
    """Whether an error needs several CPU replicas, and does not occur with one alone."""
    return _APART.search(error) is not None


def _has_kernel_for_xla(error: str) -> bool:
    """Whether an operation without a CPU kernel for its types has one for XLA."""
    found = _NO_KERNEL.search(error)
    if found is None:
        return False
    requested = _TYPE.findall(found["requested"])
    return any(
        all(_takes(constraints, name, dtype) for name, dtype in requested)
        for constraints in _OF_XLA.findall(found["kernels"])
    )


def _takes(constraints: str, name: str, dtype: str) -> bool:
    """Whether a kernel supports a type; one without constraints supports all."""
    listed = re.search(rf"\b{name} in \[([^\]]*)\]", constraints)
    return listed is None or dtype in listed[1].split(", ")
