"""Tensors that their layout's tiles pad, read from the HLO texts of operations."""

from tpudiag.compiled import HbmTensor
from tpudiag.prediction.arrays import leading
from tpudiag.sources.profile.operations import OpTotals


def padded(ops: OpTotals) -> tuple[HbmTensor, ...]:
    """Results that tiles pad, the largest loss first; each text once."""
    results = ((key, leading(op.description.text.partition(" = ")[2])) for key, op in ops.items())
    tensors = [
        HbmTensor(key.name, array.text, array.bytes, array.padded_bytes)
        for key, array in results
        if array is not None and array.dims and array.is_tiled and array.in_hbm
    ]
    return tuple(sorted(tensors, key=lambda t: t.logical_bytes - t.padded_bytes))
