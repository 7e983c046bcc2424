import pytest

from tpudiag.fixes.edits import NoChange

from .changes import TF, changed


def test_a_number_that_does_not_divide_becomes_a_multiple() -> None:
    text = TF + "BATCH = 1020\nds = ds.batch(BATCH, True)\n"
    message = "a global batch of 1020 does not divide by 8 replicas."
    assert "BATCH = 1016\n" in changed(
        "TPU205", text, "batch(", message, figures={"batch": 1020, "replicas": 8}
    )
    figures = {"batch": 1, "replicas": 8}
    text = TF + "a = a.batch(1)\nb = b.batch(1)\nds = tf.data.Dataset.zip((a, b))\n"
    after = changed("TPU205", text, "batch(1)", message, figures=figures)
    assert after.count("batch(8)") == 2, "both parts of a pair"
    text = TF + "N = 1\na = a.batch(N)\nb = b.batch(N)\nds = tf.data.Dataset.zip((a, b))\n"
    assert "N = 8\n" in changed("TPU205", text, "a.batch(N)", message, figures=figures)
    with pytest.raises(NoChange, match="plain assignment"):
        changed(
            "TPU205",
            TF + "ds = ds.batch(args.n)\n",
            "batch(",
            message,
            figures={"batch": 1020, "replicas": 8},
        )
