import pytest

from tpudiag.fixes.edits import NoChange

from .changes import changed


def test_the_model_is_called_as_in_training() -> None:
    text = (
        "def step(x, y):\n    loss = entropy(y, self.net(x))\n"
        "    tape.gradient(loss, self.net.trainable_variables)\n"
    )
    assert "entropy(y, self.net(x, training=True))" in changed("TPU510", text, "entropy")


def test_a_call_that_says_so_stays() -> None:
    text = "loss = model(x, training=flag)\ngrads(model.trainable_weights)\n"
    with pytest.raises(NoChange, match="names do not tell"):
        changed("TPU510", text, "loss")
