from __future__ import annotations

import pytest

from tpudiag.fixes.edits import NoChange

from .changes import changed

TF = "import tensorflow as tf\nstrategy = tf.distribute.TPUStrategy(r)\n"


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


def test_the_step_runs_as_a_graph() -> None:
    text = "model.compile(\n    optimizer='sgd',\n    loss='mse',\n    run_eagerly=True,\n)\n"
    assert changed("TPU104", TF + text, "compile") == TF + (
        "model.compile(\n    optimizer='sgd',\n    loss='mse',\n)\n"
    )
    switch = TF + "tf.config.run_functions_eagerly(True)  # debug\nx = 1\n"
    assert changed("TPU104", switch, "eagerly") == TF + "x = 1\n"


def test_a_function_is_put_around_the_step() -> None:
    own = TF + "def train(batch):\n    return strategy.run(step, args=(batch,))\n"
    assert "@tf.function\ndef train(batch)" in changed("TPU104", own, "strategy.run")
    bare = TF + "for batch in data:\n    strategy.run(step, args=(batch,))\n"
    assert changed("TPU104", bare.replace("for", "def step(b): ...\n\n\nfor", 1),
                   "strategy.run").endswith(
        "@tf.function\ndef distributed_step(*args):\n    return strategy.run(step, args=args)\n\n\n"
        "for batch in data:\n    distributed_step(batch)\n"
    )  # fmt: skip


def test_a_print_leaves_the_step() -> None:
    text = TF + "def f(x):\n    if x:\n        tf.print(\n            x)\n    return x\n"
    assert changed("TPU105", text, "tf.print", "tf.print inside the step") == TF + (
        "def f(x):\n    if x:\n        pass\n    return x\n"
    )
    used = TF + "def f(x):\n    op = tf.print(x)\n"
    with pytest.raises(NoChange, match="used"):
        changed("TPU105", used, "tf.print", "tf.print inside the step")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("random.uniform(0.9, 1.1)", "tf.random.uniform([], 0.9, 1.1)"),
        ("random.random()", "tf.random.uniform([])"),
        ("random.randint(0, 3)", "tf.random.uniform([], 0, 4, tf.int32)"),
        ("random.gauss(0, s)", "tf.random.normal([], 0, s)"),
        ("np.random.normal(0, 1, (4,))", "tf.random.normal((4,), 0, 1)"),
        ("np.random.rand(3, 4)", "tf.random.uniform([3, 4])"),
        ("np.random.randint(5)", "tf.random.uniform([], 0, 5, tf.int32)"),
        ("np.random.uniform(high=2, size=8)", "tf.random.uniform([8], 0, 2)"),
    ],
)
def test_draws_come_from_tensorflow(before: str, after: str) -> None:
    text = "import random\nimport numpy as np\n" + TF + f"def f(x):\n    return x * {before}\n"
    frozen = before.partition("(")[0]
    message = f"{frozen} is called while f is traced"
    assert f"return x * {after}\n" in changed(
        "TPU107", text, "return", message, figures={"frozen": frozen}
    )


def test_a_draw_that_tensorflow_has_not_stays() -> None:
    text = TF + "import random\ndef f(x):\n    return random.choice(x)\n"
    with pytest.raises(NoChange, match="TensorFlow has no"):
        changed(
            "TPU107",
            text,
            "return",
            "random.choice is called while f is",
            figures={"frozen": "random.choice"},
        )


def test_a_fetch_becomes_rare() -> None:
    text = (
        TF + "for step in range(9):\n    loss = train()\n    if loss < best:\n        best = loss\n"
    )
    assert changed("TPU108", text, "if loss", "after 9 of 9 steps") == TF + (
        "for step in range(9):\n    loss = train()\n    if step % 100 == 0:\n"
        "        if loss < best:\n            best = loss\n"
    )


def test_a_loop_without_a_number_gets_one() -> None:
    text = TF + "for x, y in data:\n    loss = train(x, y)\n    print(float(loss))\n"
    assert changed("TPU108", text, "print", "") == TF + (
        "for step, (x, y) in enumerate(data):\n    loss = train(x, y)\n"
        "    if step % 100 == 0:\n        print(float(loss))\n"
    )


def test_a_sum_stays_on_the_device() -> None:
    text = TF + "for b in data:\n    total += float(train(b))\nprint(total)\n"
    assert "    total += train(b)\n" in changed("TPU108", text, "total +=", "")
    kept = TF + "for b in data:\n    losses.append(train(b).numpy())\n"
    assert "    losses.append(train(b))\n" in changed("TPU108", kept, "append", "")


def test_all_that_one_line_keeps_stays_on_the_device() -> None:
    text = TF + (
        "for x in data:\n    a, b = train(x)\n    kept.append((float(a.numpy()), b.numpy()))\n"
    )
    assert changed("TPU108", text, "kept", "after 9 of 9 steps") == TF + (
        "for x in data:\n    a, b = train(x)\n    kept.append((a, b))\n"
    )


def test_a_fit_of_the_script_s_own_gets_no_callback() -> None:
    text = TF + (
        "class Fitter:\n    def fit(self, data):\n        for b in data:\n            go(b)\n\n"
        "Fitter().fit(data)\n"
    )
    with pytest.raises(NoChange, match="loop over the steps"):
        changed("TPU601", text)


def test_all_outputs_of_a_model_are_float32() -> None:
    text = TF + "model = keras.Model(i, [keras.layers.Dense(1)(x), keras.layers.Dense(2)(x)])\n"
    after = changed("TPU403", "from tensorflow import keras\n" + text, "Dense", "0% of the step's")
    assert after.count('dtype="float32"') == 2


def test_what_is_used_later_stays() -> None:
    text = TF + "for n in range(9):\n    value = float(loss)\n    seen(value)\n"
    with pytest.raises(NoChange, match="value is used"):
        changed("TPU108", text, "value =", "")


def test_the_iterator_starts_once() -> None:
    dist = "dist = strategy.experimental_distribute_dataset(ds)\n"
    loop = dist + "for n in range(9):\n    train(next(iter(dist)))\n"
    assert changed("TPU211", TF + "ds = a.repeat()\n" + loop, "iter(").endswith(
        "iterator = iter(dist)\nfor n in range(9):\n    train(next(iterator))\n"
    )
    with pytest.raises(NoChange, match="no endless repeat"):
        changed("TPU211", TF + "ds = a.batch(3)\n" + loop, "iter(")


@pytest.mark.parametrize(
    "data",
    [
        "strategy.distribute_datasets_from_function(make)",
        "strategy.distribute_datasets_from_function(lambda context: make(context))",
        "make(None)",
    ],
)
def test_the_iterator_of_a_function_starts_once(data: str) -> None:
    made = "def make(context):\n    return load(context).repeat().batch(8)\n\n\n"
    text = f"{TF}{made}d = {data}\nfor n in range(9):\n    step(next(iter(d)))\n"
    message = "the dataset is iterated anew for each step"
    assert changed("TPU211", text, "next(iter(d))", message).endswith(
        f"d = {data}\niterator = iter(d)\nfor n in range(9):\n    step(next(iterator))\n"
    )
    with pytest.raises(NoChange, match="no endless repeat"):
        changed("TPU211", text.replace(".repeat()", ""), "next(iter(d))", message)


def test_the_tpu_is_initialised_once() -> None:
    line = "tf.tpu.experimental.initialize_tpu_system(r)\n"
    text = "import tensorflow as tf\n" + line + "def again():\n    " + line + "    return r\n"
    assert changed("TPU109", text, "    tf.tpu", "the TPU is initialised a 2. time") == (
        "import tensorflow as tf\n" + line + "def again():\n    return r\n"
    )


COMPILED = "this line compiled the same model 6 times"


def test_the_model_is_compiled_once() -> None:
    text = TF + (
        "for epoch in range(6):\n    with strategy.scope():\n"
        "        model.compile(\n            Adam(1e-3 / (epoch + 1)),\n"
        "            'mse',\n        )\n"
        "    model.fit(ds)\n"
    )
    assert changed("TPU109", text, "model.compile", COMPILED) == TF + (
        "with strategy.scope():\n    model.compile(\n        Adam(),\n        'mse',\n    )\n"
        "for epoch in range(6):\n    model.optimizer.learning_rate = 1e-3 / (epoch + 1)\n"
        "    model.fit(ds)\n"
    )
    plain = TF + "for epoch in range(6):\n    model.compile('sgd', 'mse')\n    model.fit(ds)\n"
    assert changed("TPU109", plain, "compile", COMPILED) == TF + (
        "model.compile('sgd', 'mse')\nfor epoch in range(6):\n    model.fit(ds)\n"
    )


def test_results_are_reduced_over_all_replicas() -> None:
    text = TF + "print(float(strategy.experimental_local_results(loss)[0]))\n"
    assert "float(strategy.reduce(tf.distribute.ReduceOp.MEAN, loss, axis=None))" in changed(
        "TPU507", text, "print", "the result of replica 0"
    )
    averaged = TF + "x = strategy.reduce('MEAN', loss, axis=None)\n"
    assert "reduce('SUM'" in changed("TPU507", averaged, "reduce", "is then averaged over 8")


def test_the_policy_stands_before_the_model() -> None:
    text = TF + (
        "with strategy.scope():\n    model = tf.keras.Sequential([\n"
        "        tf.keras.layers.Dense(8),\n        tf.keras.layers.Dense(2),\n    ])\n"
    )
    assert changed("TPU403", text, "Dense(8)", "0% of the step's") == TF + (
        'tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")\n'
        "with strategy.scope():\n    model = tf.keras.Sequential([\n"
        '        tf.keras.layers.Dense(8),\n        tf.keras.layers.Dense(2, dtype="float32"),\n'
        "    ])\n"
    )


def test_a_script_with_parts_of_keras_gets_tensorflow_s() -> None:
    text = TF + "from tensorflow.keras.models import Sequential\nmodel = Sequential([])\n"
    assert "\ntf.keras.mixed_precision.set_global_policy(" in changed(
        "TPU403", text, "Sequential([])", "0% of the step's"
    )


def test_a_late_policy_moves_up() -> None:
    line = "keras.mixed_precision.set_global_policy('mixed_bfloat16')\n"
    text = f"import keras\nwith s.scope():\n    m = build()\n    {line}    m.compile('sgd')\n"
    assert changed("TPU403", text, "build", "0%") == (
        f"import keras\n{line}with s.scope():\n    m = build()\n    m.compile('sgd')\n"
    )


def test_the_last_layer_is_float32() -> None:
    text = TF + "m = Sequential([Dense(4), Dense(2, activation='softmax')])\n"
    assert "Dense(2, activation='softmax', dtype=\"float32\")" in changed("TPU407", text, "Dense")


def test_the_loss_is_not_scaled() -> None:
    text = TF + (
        "opt = tf.keras.optimizers.Adam()\n"
        "opt = tf.keras.mixed_precision.LossScaleOptimizer(opt)\n"
        "def step(x):\n    scaled = opt.get_scaled_loss(loss)\n"
        "    g = opt.get_unscaled_gradients(tape.gradient(scaled, v))\n"
    )
    assert changed("TPU404", text, "LossScale") == TF + (
        "opt = tf.keras.optimizers.Adam()\n"
        "def step(x):\n    scaled = loss\n    g = tape.gradient(scaled, v)\n"
    )
    policy = TF + "tf.keras.mixed_precision.set_global_policy('mixed_float16')\n"
    assert "set_global_policy('mixed_bfloat16')" in changed("TPU404", policy, "policy")


def test_batch_norms_are_synchronised() -> None:
    text = TF + "a = BatchNormalization()\nb = BatchNormalization(axis=-1)\n"
    assert changed("TPU508", text, "a =").endswith(
        "a = BatchNormalization(synchronized=True)\n"
        "b = BatchNormalization(axis=-1, synchronized=True)\n"
    )


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


def scaled(text: str, weight: float, replicas: int = 8) -> str:
    return changed(
        "TPU502", TF + text, "loss =", "it is averaged over", limits={
            "loss per unit of example loss": 1 / replicas},
        figures={"loss per unit of example loss": weight, "replicas": replicas},
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


def test_fit_gets_a_backup() -> None:
    text = TF + "model.fit(ds, epochs=3)\n"
    backup = 'tf.keras.callbacks.BackupAndRestore("checkpoints")'
    assert f"epochs=3, callbacks=[{backup}])" in changed("TPU601", text, "fit(")
    given = TF + "model.fit(ds, callbacks=[a])\n"
    assert f"callbacks=[a, {backup}])" in changed("TPU601", given, "fit(")
    with pytest.raises(NoChange, match="bucket"):
        changed("TPU601", text, "fit(", hosts=4)


def test_a_loop_saves_after_each_epoch() -> None:
    text = TF + (
        "model, opt = make()\n"
        "def step(b):\n    g = tape.gradient(loss, model.trainable_variables)\n"
        "    opt.apply_gradients(g)\n\n"
        "for epoch in range(3):\n    for b in ds:\n        step(b)\n    print(epoch)\n"
    )
    assert changed("TPU601", text).endswith(
        "checkpoint = tf.train.Checkpoint(model=model, optimizer=opt)\n"
        'manager = tf.train.CheckpointManager(checkpoint, "checkpoints", max_to_keep=3)\n'
        "for epoch in range(3):\n    for b in ds:\n        step(b)\n    print(epoch)\n"
        "    manager.save()\n"
    )


def test_a_loop_that_counts_saves_every_thousand_steps() -> None:
    text = TF + (
        "model = make()\ndef step(b):\n    g = tape.gradient(loss, model.trainable_variables)\n\n"
        "i = 0\nwhile i < 9000:\n    step(next(it))\n    i += 1\n"
    )
    assert "while i < 9000:\n    if i % 1000 == 999:\n        manager.save()\n" in changed(
        "TPU601", text
    )


def test_a_loop_whose_step_stands_in_another_module_saves() -> None:
    text = TF + (
        "from lib import Trainer\nmodel = make()\nopt = SGD()\n"
        "opt.build(model.trainable_variables)\ntrainer = Trainer(strategy, model, opt)\n"
        "for s in range(40):\n    loss = trainer.train_step(it)\n"
    )
    after = changed("TPU601", text)
    assert "checkpoint = tf.train.Checkpoint(model=model, optimizer=opt)\n" in after
    assert "    if s % 1000 == 999:\n        manager.save()\n" in after
    with pytest.raises(NoChange, match="not seen in this file"):
        changed("TPU601", text.replace("train_step", "go"))


def test_each_checkpoint_has_a_file() -> None:
    text = TF + "c = ModelCheckpoint('out/m.weights.h5', save_weights_only=True)\n"
    assert "ModelCheckpoint('out/m-{epoch:04d}.weights.h5'," in changed(
        "TPU602", text, "ModelCheckpoint", "ModelCheckpoint writes over one file"
    )


def test_operations_leave_the_gpu() -> None:
    text = TF + "with tf.device('/gpu:0'):\n    # here\n    x = '''a\n    b'''\ny = x\n"
    assert changed("TPU007", text, "device", "tf.device places operations on a GPU") == TF + (
        "# here\nx = '''a\n    b'''\ny = x\n"
    )


def test_the_strategy_is_the_tpu_s() -> None:
    text = "import tensorflow as tf\nstrategy = tf.distribute.MirroredStrategy()\n"
    assert changed("TPU007", text, "Mirrored", "MirroredStrategy is made").endswith(
        "tf.tpu.experimental.initialize_tpu_system(resolver)\n"
        "strategy = tf.distribute.TPUStrategy(resolver)\n"
    )


def test_several_steps_run_in_a_dispatch() -> None:
    text = TF + "model.compile('sgd')\n"
    assert "compile('sgd', steps_per_execution=50)" in changed("TPU106", text)


def test_keras_does_not_compile_the_step_itself() -> None:
    text = TF + "model.compile('sgd', jit_compile=True, loss='mse')\n"
    assert "compile('sgd', loss='mse')" in changed(
        "TPU005", text, "", "fit compiles its step with jit_compile=True"
    )
