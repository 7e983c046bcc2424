from .changes import TF, changed


def test_metrics_move_into_the_scope() -> None:
    text = TF + "mean = tf.keras.metrics.Mean()\nwith strategy.scope():\n    model = build()\n"
    assert changed("TPU501", text, "mean =").endswith(
        "with strategy.scope():\n    mean = tf.keras.metrics.Mean()\n    model = build()\n"
    )
    run = TF + "a = tf.Variable(1.0)\nb = tf.Variable(2.0)\nc = [a, b]\nprint(strategy.run)\n"
    assert changed("TPU501", run, "a =") == TF + (
        "with strategy.scope():\n    a = tf.Variable(1.0)\n    b = tf.Variable(2.0)\n"
        "c = [a, b]\nprint(strategy.run)\n"
    )


def test_the_function_that_makes_the_model_is_called_in_the_scope() -> None:
    text = TF + "def build():\n    return Model(1)\n\nmodel = build()\nstrategy.run(f)\n"
    assert "with strategy.scope():\n    model = build()\n" in changed("TPU501", text, "Model(1)")


def test_the_optimizer_is_built_in_the_scope() -> None:
    text = TF + (
        "with strategy.scope():\n    model = make()\n    opt = Adam()\n"
        "def step():\n    opt.apply_gradients(zip(g, model.trainable_variables))\n"
    )
    assert "    opt = Adam()\n    opt.build(model.trainable_variables)\n" in changed(
        "TPU501", text, "apply"
    )
