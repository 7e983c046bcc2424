import pytest

from tpudiag.fixes.edits import NoChange

from .changes import TF, changed


def traced(name: str, argument: str, kind: str = "python value", value: str = "int 0") -> str:
    return f"{name} was traced 7 times in 7 calls: {argument} changed ({kind}): {value} -> 6"


def test_a_number_is_passed_as_a_tensor() -> None:
    text = TF + (
        "class Loop:\n    @tf.function\n    def step(self, it, lr): ...\n\n"
        "    def run(self, it):\n        self.step(it, rate(3))\n"
    )
    assert "self.step(it, tf.constant(rate(3)))" in changed(
        "TPU101", text, "self.step(it", traced("Loop.step", "lr", value="float 0.1")
    )
    with pytest.raises(NoChange, match="no number"):
        changed("TPU101", text, "self.step(it", traced("Loop.step", "lr", value="str a"))


def test_a_function_moves_before_the_loop_with_what_it_calls() -> None:
    text = TF + (
        "for n, batch in enumerate(data):\n\n"
        "    def replica(x):\n        return model(x)\n\n"
        "    @tf.function\n    def step(batch):\n        strategy.run(replica, args=(batch,))\n\n"
        "    step(batch)\n"
    )
    message = traced("step", "function", "new function")
    assert changed("TPU101", text, "def step", message) == TF + (
        "def replica(x):\n    return model(x)\n\n\n"
        "@tf.function\ndef step(batch):\n    strategy.run(replica, args=(batch,))\n\n\n"
        "for n, batch in enumerate(data):\n\n    step(batch)\n"
    )
    with pytest.raises(NoChange, match="uses n"):
        changed("TPU101", text.replace("model(x)", "model(x) * n"), "def step", message)
    scaled = text.replace("model(x)", "model(x) * scale")
    with pytest.raises(NoChange, match="uses scale"):
        nested = scaled.replace("for n, batch", "for n, (batch, scale)")
        changed("TPU101", nested, "def step", message)


def test_a_function_that_is_wrapped_in_a_loop_moves_before_it() -> None:
    text = TF + (
        "for epoch in range(4):\n"
        "    step_fn = tf.function(lambda b: strategy.run(step, args=(b,)))  # fast\n"
        "    for batch in data:\n        loss = step_fn(batch)\n"
    )
    message = traced("<lambda>", "the function itself", "new function", "tf.function number 1")
    assert changed("TPU101", text, "loss =", message) == TF + (
        "step_fn = tf.function(lambda b: strategy.run(step, args=(b,)))  # fast\n"
        "for epoch in range(4):\n    for batch in data:\n        loss = step_fn(batch)\n"
    )
    with pytest.raises(NoChange, match="epoch of the loop"):
        changed("TPU101", text.replace("(b,)", "(b, epoch)"), "loss =", message)


def test_a_function_is_put_around_the_step() -> None:
    bare = TF + "for batch in data:\n    strategy.run(step, args=(batch,))\n"
    assert changed("TPU104", bare.replace("for", "def step(b): ...\n\n\nfor", 1),
                   "strategy.run").endswith(
        "@tf.function\ndef distributed_step(*args):\n    return strategy.run(step, args=args)\n\n\n"
        "for batch in data:\n    distributed_step(batch)\n"
    )  # fmt: skip
