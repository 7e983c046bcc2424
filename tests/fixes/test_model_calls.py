import pytest

from tpudiag.fixes.edits import NoChange

from .changes import changed


def test_a_call_that_says_so_stays() -> None:
    text = "loss = model(x, training=flag)\ngrads(model.trainable_weights)\n"
    with pytest.raises(NoChange, match="names do not tell"):
        changed("TPU510", text, "loss")
