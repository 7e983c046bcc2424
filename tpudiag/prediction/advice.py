"""Advice to make an instruction faster, from its kind and its bound."""

import re
from collections.abc import Iterable

from tpudiag.prediction.times import Bound, Timed
from tpudiag.prediction.work import Kind

NEAR_PEAK = 1.15
"""A product within this factor of its FLOPs' time at the peak has a good shape."""
_BIAS = re.compile(r"Bias(Add)?Grad|BiasAdd\b")
_BATCH_NORM = re.compile(r"[Bb]atch_?[Nn]orm")
_NORM = re.compile(r"[Bb]atch_?[Nn]orm|LayerNorm|moments|normalization")
_SOFTMAX = re.compile(r"[Ss]oftmax|logsumexp|CrossEntropy")
_RANDOM = re.compile(r"[Rr]andom|[Dd]ropout|bernoulli")
_OPTIMIZER = re.compile(r"[Aa]dam|[Ll]amb|Momentum|optimizer|Resource\w*Apply")
_EMBEDDING = re.compile(r"[Gg]ather|[Ee]mbedding|[Ss]catter")


def normalised(step: Iterable[Timed]) -> bool:
    """Whether a step contains batch normalization."""
    return any(_BATCH_NORM.search(each.work.op_name) for each in step)


def helps(timed: Timed, in_normalised: bool = False) -> str:
    """One short advice; `in_normalised` where its step holds batch normalization."""
    work = timed.work
    if work.kind is Kind.COLLECTIVE:
        return "more examples a replica, so that the same bytes are sent less often"
    # Before the kind: partial tiles cost many times their bytes, whatever is computed.
    if work.strided_bytes:
        return "it writes parts of tiles: stack along a dimension that is not among the last two"
    if work.kind is Kind.PRODUCT:
        return _of_product(timed)
    if work.kind is Kind.MOVE and work.name.startswith("broadcast"):
        return "it fills memory with one value: what loops stack their results in begins so"
    if work.kind is Kind.MOVE:
        return "no arithmetic, only a change of layout: fewer transposes, reshapes and pads"
    return _of_elementwise(timed, in_normalised)


def _of_product(timed: Timed) -> str:
    """For a matrix product or convolution."""
    if timed.bound is Bound.HBM:
        return "more examples a replica, or bfloat16 operands: it moves more than it multiplies"
    # The low end is the FLOPs' time at the peak, without padding.
    if timed.ms.value <= NEAR_PEAK * timed.ms.low:
        return "near the MXU's peak already: only fewer multiplications help"
    return "dimensions that are multiples of 128 (256 on v6e): the MXU multiplies the padding too"


def _of_elementwise(timed: Timed, in_normalised: bool) -> str:
    """For instructions without the MXU, by the operation that made them."""
    name = timed.work.op_name
    # bfloat16 halves bytes; where arithmetic takes longer, it does not help.
    by_bytes = timed.bound is not Bound.VECTOR
    if in_normalised and _BIAS.search(name) and "conv" in name.lower():
        return "where batch normalization follows, the bias does nothing: use_bias=False"
    if by_bytes and _NORM.search(name):
        return "statistics read every activation again: bfloat16 activations halve it"
    if by_bytes and _SOFTMAX.search(name):
        return "bfloat16 logits, or attention that never writes its scores"
    if _RANDOM.search(name):
        return "a lower dropout rate changes nothing: leave out the dropout that is not needed"
    if _OPTIMIZER.search(name):
        return "once a step whatever the batch: more examples a replica, or a leaner optimizer"
    if _EMBEDDING.search(name):
        return "rows are read one by one: fewer or wider rows"
    if not by_bytes:
        return "its arithmetic lasts longer than its bytes: fewer operations for each element"
    if "f32[" in timed.work.shape:
        return "float32 in HBM: bfloat16 halves its bytes"
    return "fewer passes over the activations: it is bound by HBM"
