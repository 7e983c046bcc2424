# ruff: noqa: E501  (what is pasted stays in one piece)
"""The size of an allocation on the host: what no machine has tells of no lack of memory."""

from __future__ import annotations

from .meaning import Reading

MOST_HOST_BYTES = 1 << 44
"""No host of a TPU has sixteen terabytes."""
GIBIBYTE = 1 << 30


def read(values: dict[str, str], text: str) -> Reading | None:
    """What the size of a refused allocation tells."""
    size = int(values.get("bytes", "0"))
    if size > MOST_HOST_BYTES:
        return Reading(
            f"{size:,} bytes are more than any machine has: the size itself is wrong, as it is where"
            " libtpu, the framework and Python do not belong together (or memory was overwritten)."
            " Memory is not short.",
            'pip install -U "jax[tpu]"      # JAX: the release with its own libtpu; or the one before\n'
            'pip list | grep -iE "tensorflow|libtpu|jax|torch"      # one framework, with its libtpu',
        )
    if size > GIBIBYTE and "tcmalloc" in text:
        return Reading(
            f"One piece of {size / GIBIBYTE:.1f} GiB is asked for: an array that is held whole.",
            "dataset = tf.data.TFRecordDataset(files)      # in place of from_tensor_slices(arrays)",
        )
    return None
