from .changes import TF, changed


def test_all_outputs_of_a_model_are_float32() -> None:
    text = TF + "model = keras.Model(i, [keras.layers.Dense(1)(x), keras.layers.Dense(2)(x)])\n"
    after = changed("TPU403", "from tensorflow import keras\n" + text, "Dense", "0% of the step's")
    assert after.count('dtype="float32"') == 2


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
