"""What kernels of their own have to do that do not state it: attention, by its operands.

The TPU compiler has no cycle estimate of a kernel, and few kernels state their cost.
"""

import re
from collections.abc import Sequence

from tpudiag.prediction.arrays import Array

CAUSAL = 0.5
"""Of all pairs of positions: a decoder's attention leaves out half of them."""
PRODUCTS = 2
"""Of queries with keys, and of shares with values."""
_ATTENTION = re.compile(r"attention|mha|mqa|gqa", re.I)
_BACKWARD = {"dkv": 4, "dq": 3, "bwd": 5, "backward": 5}
"""Products of the gradient's kernels, which make the shares again."""


def attention_flops(name: str, operands: Sequence[Array]) -> int:
    """FLOPs of an attention kernel, causal; 0 where the name or the operands are of none.

    Queries are [..., heads, positions, width]; keys follow, with as wide heads.
    """
    # Segment ids, masks of blocks and lengths come among the operands as integers.
    large = [each for each in operands if len(each.dims) >= 3 and each.kind in ("bf16", "f32")]
    if not _ATTENTION.search(name) or len(large) < 3:
        return 0
    queries, keys = large[0], large[1]
    if queries.dims[-1] != keys.dims[-1]:
        return 0
    # dkv before dq and both before bwd: names such as `bwd_dkv` hold two of the words.
    products = next((n for word, n in _BACKWARD.items() if word in name), PRODUCTS)
    if "dkv" in name and "fused" in name:
        products = _BACKWARD["bwd"]
    return int(2 * products * CAUSAL * queries.elements * keys.dims[-2])
