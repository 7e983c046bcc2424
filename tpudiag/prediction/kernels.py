"""The work of custom kernels that do not state it: attention, from its operands.

The TPU compiler has no cycle estimate of a kernel, and few kernels state their cost.
"""

import re
from collections.abc import Sequence

from tpudiag.prediction.arrays import Array

CAUSAL = 0.5
"""The share of position pairs in causal attention, which skips half of them."""
PRODUCTS = 2
"""Products of queries with keys, and of weights with values."""
_ATTENTION = re.compile(r"attention|mha|mqa|gqa", re.I)
_BACKWARD = {"dkv": 4, "dq": 3, "bwd": 5, "backward": 5}
"""Products of the gradient kernels, which recompute the weights."""


def attention_flops(name: str, operands: Sequence[Array]) -> int:
    """FLOPs of a causal attention kernel; 0 where name or operands do not match.

    Queries are [..., heads, positions, width], followed by keys with heads of the same width.
    """
    # Integer operands are segment ids, block masks and lengths.
    large = [each for each in operands if len(each.dims) >= 3 and each.kind in ("bf16", "f32")]
    if not _ATTENTION.search(name) or len(large) < 3:
        return 0
    queries, keys = large[0], large[1]
    if queries.dims[-1] != keys.dims[-1]:
        return 0
    # dkv before dq and both before bwd: names such as `bwd_dkv` contain two of the words.
    products = next((n for word, n in _BACKWARD.items() if word in name), PRODUCTS)
    if "dkv" in name and "fused" in name:
        products = _BACKWARD["bwd"]
    return int(2 * products * CAUSAL * queries.elements * keys.dims[-2])
