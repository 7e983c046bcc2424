import pytest

from tpudiag.fixes.edits import NoChange

from .changes import TF, changed

NONE = {"checkpoints set up": 0}


def test_several_hosts_want_a_bucket() -> None:
    with pytest.raises(NoChange, match="bucket"):
        changed("TPU601", TF + "model.fit(ds, epochs=3)\n", "fit(", hosts=4)


def test_a_loop_whose_step_stands_in_another_module_saves() -> None:
    text = TF + (
        "from lib import Trainer\nmodel = make()\nopt = SGD()\n"
        "opt.build(model.trainable_variables)\ntrainer = Trainer(strategy, model, opt)\n"
        "for s in range(40):\n    loss = trainer.train_step(it)\n"
    )
    after = changed("TPU601", text, figures=NONE)
    assert "checkpoint = tf.train.Checkpoint(model=model, optimizer=opt)\n" in after
    assert "    if s % 1000 == 999:\n        manager.save()\n" in after
    with pytest.raises(NoChange, match="not seen in this file"):
        changed("TPU601", text.replace("train_step", "go"), figures=NONE)


def test_nothing_is_saved_in_a_traced_function() -> None:
    text = TF + (
        "model = make()\n"
        "def part(b):\n    g = tape.gradient(loss, model.trainable_variables)\n\n"
        "@tf.function\ndef train(it):\n    for i in range(9):\n        strategy.run(part)\n\n"
    )
    after = changed("TPU601", text + "for n in range(9):\n    train(it)\n", figures=NONE)
    assert after.endswith("    train(it)\n    if n % 1000 == 999:\n        manager.save()\n")
    assert after.count("manager") == 2
    with pytest.raises(NoChange, match="counts neither"):
        changed("TPU601", text + "for n in range(9, 90, 9):\n    train(it)\n", figures=NONE)
    with pytest.raises(NoChange, match="author"):
        changed("TPU601", text + "for n in range(9):\n    train(it)\n")
