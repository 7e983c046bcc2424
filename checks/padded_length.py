from tpudiag.model import Evidence, Finding, Judgement, Severity, check
from tpudiag.signals import Signals, TensorSeen

from ._need import need
from .missing_prefetch import own_pipelines

LIMIT = 0.5
"""The least share of the width that the longest sequence must fill."""
NARROW = 64
"""A width up to which padding is no matter: a tile of the MXU is filled by several rows."""

WITH_DATA = "rehearse the job where its data can be read: `tpudiag check train.py`"


@check("TPU216", Severity.WARNING)
def padded_length(signals: Signals, limit: float = LIMIT) -> Judgement:
    """Sequences are padded far beyond the longest of them.

    ## What it sees
    In some 30 batches in a row, the tensors of whole numbers (tokens, ids) whose rows end or begin
    with one number that is nowhere else in them: the width, and the longest row without it.

    ## Why it costs
    A TPU computes the padding as it does the tokens: at 64 tokens in a width of 512 an eighth of
    the work is of use, and of attention, whose work grows with the square, less than 2 %. HBM and
    the transfer to the device are filled in the same way.

    ## What to do
    ```python
    dataset = dataset.padded_batch(global_batch, padded_shapes=([64], []), drop_remainder=True)
    dataset = dataset.bucket_by_sequence_length(length, [64, 128, 256], [1024, 512, 256, 128],
        pad_to_bucket_boundary=True, drop_remainder=True)     # a few widths: one program for each
    ```

    ## Source
    https://www.tensorflow.org/api_docs/python/tf/data/Dataset#bucket_by_sequence_length
    """
    pipelines = own_pipelines(signals)
    fed = [p for p in pipelines if p.padded is not None or any(map(_is_of_ids, p.elements))]
    yield Evidence("pipelines with sequences of whole numbers", len(fed), "pipelines")
    for pipeline in fed:
        seen = pipeline.padded
        looked = (seen is not None or pipeline.shapes) and not signals.stood_in
        need(looked or None, "a batch of real sequences", WITH_DATA)
        if seen is None:
            continue
        most = int(limit * seen.width)
        evidence = Evidence("longest sequence", seen.longest, "tokens", limit=most)
        if seen.longest < limit * seen.width and seen.width > NARROW:
            made = next((op for op in reversed(pipeline.ops) if op.kind == "PaddedBatch"), None)
            padding = 1 - seen.longest / seen.width
            yield Finding(
                f"sequences are padded to {seen.width:,}, and the longest of {seen.examples:,} has "
                f"{seen.longest:,}: {padding:.0%} of the step's work on them, or more, is padding.",
                f"width = {-(-seen.longest // NARROW) * NARROW}  # of the longest; longer ones are "
                "cut, or go to buckets",
                (evidence, Evidence("width", seen.width, "tokens")),
                (made.location if made else None) or pipeline.location,
            )
        yield evidence


def _is_of_ids(tensor: TensorSeen) -> bool:
    """Whether a batch's tensor may hold a sequence of whole numbers for each example."""
    return "int" in tensor.dtype and (tensor.shape is None or len(tensor.shape) == 2)
