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


DIVIDED = "the per-replica batch of 128 is divided by 8 replicas once more"


def test_a_per_replica_batch_becomes_the_global_one() -> None:
    named = "GLOBAL = EACH * strategy.num_replicas_in_sync\n"
    text = TF + named + "ds = ds.batch(EACH)\n"
    assert "ds.batch(GLOBAL)" in changed("TPU205", text, "batch(EACH", DIVIDED)
    text = TF + "print(strategy.num_replicas_in_sync)\nds = ds.batch(a + b)\n"
    assert "ds.batch((a + b) * strategy.num_replicas_in_sync)" in changed(
        "TPU205", text, "batch(", DIVIDED
    )
