import pytest

from tpudiag.fixes.edits import NoChange

from .changes import changed

TF = "import tensorflow as tf\n"
OPEN = "its batch has no drop_remainder=True"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("ds = ds.batch(8)\n", "ds = ds.batch(8, drop_remainder=True)\n"),
        ("if m is 1: ds = ds.batch(8, False)\n", "if m is 1: ds = ds.batch(8, True)\n"),
        (
            "ds = ds.batch(8, drop_remainder = False)  # all\n",
            "ds = ds.batch(8, drop_remainder = True)  # all\n",
        ),
        (
            "ds = ds.padded_batch(\n    8,\n    padded_shapes=[16],\n)\n",
            "ds = ds.padded_batch(\n    8,\n    padded_shapes=[16],\n    drop_remainder=True,\n)\n",
        ),
        (
            "ds = (a\n\t.map(f)\n\t.batch( 8 ) # é\n\t.prefetch(2))\n",
            "ds = (a\n\t.map(f)\n\t.batch( 8, drop_remainder=True ) # é\n\t.prefetch(2))\n",
        ),
    ],
)
def test_drops_the_remainder(before: str, after: str, recwarn: pytest.WarningsRecorder) -> None:
    assert changed("TPU102", TF + before, "batch(", OPEN) == TF + after
    assert not recwarn.list, "Python's remarks on the script were said when it ran"


def test_windows_line_ends_stay() -> None:
    text = "import tensorflow as tf\r\nds = ds.map(f)\r\nds = ds.batch(8)\r\n"
    ends = "the pipeline ends in Batch, not in prefetch"
    assert changed("TPU202", text, "batch(", ends) == (
        text + "ds = ds.prefetch(tf.data.AUTOTUNE)\r\n"
    )


def test_costly_work_is_cached_where_the_host_has_the_memory() -> None:
    text = TF + "ds = ds.map(decode).shuffle(9).batch(8)\n"
    figures = {"size of its result": 1000}
    assert "ds.map(decode).cache().shuffle(9)" in changed(
        "TPU204", text, "map", ram=10_000, figures=figures
    )
    with pytest.raises(NoChange, match="GiB"):
        changed("TPU204", text, "map", ram=1500, figures=figures)
