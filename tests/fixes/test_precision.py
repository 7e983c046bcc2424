from .changes import TF, changed


def test_all_outputs_of_a_model_are_float32() -> None:
    text = TF + "model = keras.Model(i, [keras.layers.Dense(1)(x), keras.layers.Dense(2)(x)])\n"
    after = changed("TPU403", "from tensorflow import keras\n" + text, "Dense", "0% of the step's")
    assert after.count('dtype="float32"') == 2


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


def test_the_policy_stands_before_the_first_call_of_what_builds_a_model() -> None:
    text = (
        "from tensorflow import keras\n"
        "def block(x):\n    return keras.layers.Dense(8)(x)\n"
        "def build():\n    return block(keras.Input((4,)))\n"
        "first = build()\n"
        "second = keras.Sequential([])\n"
    )
    after = changed("TPU403", text, "Dense", "0% of the step's")
    assert '.set_global_policy("mixed_bfloat16")\nfirst = build()\n' in after


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


def test_keras_does_not_compile_the_step_itself() -> None:
    text = TF + "model.compile('sgd', jit_compile=True, loss='mse')\n"
    assert "compile('sgd', loss='mse')" in changed(
        "TPU005", text, "", figures={"jit_compile": True}
    )
