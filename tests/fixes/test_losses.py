import pytest

from tpudiag.fixes.edits import NoChange

from .changes import TF, changed


def scaled(text: str, weight: float) -> str:
    name = "loss per unit of example loss"
    return changed(
        "TPU502", TF + text, "loss =", "it is averaged over", limits={name: 1 / 8},
        figures={name: weight, "replicas": 8},
    )  # fmt: skip


def test_the_loss_is_divided_by_what_it_lacks() -> None:
    text = (
        "def step(x):\n    loss = tf.reduce_mean(a) + 0.1 * b\n    tape.gradient(loss, v)\n"
        "def all_(x):\n    return strategy.reduce(tf.distribute.ReduceOp.MEAN, x, axis=None)\n"
    )
    after = scaled(text, 1.0)
    assert "loss = (tf.reduce_mean(a) + 0.1 * b) / strategy.num_replicas_in_sync\n" in after
    assert "ReduceOp.SUM" in after
    batched = (
        "N = 1024\nds = ds.batch(N)\ndef step(x):\n    loss = fn(x)\n    tape.gradient(loss, v)\n"
    )
    assert "loss = fn(x) / N\n" in scaled(batched, 128.0)
    with pytest.raises(NoChange):
        scaled(text, 0.4)
    by_function = "strategy.distribute_datasets_from_function(f)\n" + batched
    with pytest.raises(NoChange):
        scaled(by_function, 128.0)
    assert "fn(x) / GLOBAL\n" in scaled(by_function.replace("N", "GLOBAL"), 128.0)
