import pytest

from tpudiag.fixes.edits import NoChange

from .changes import TF, changed

READ = "step was traced with {0} = {1} and still uses that: Python has {2} now."
WRITTEN = "step changes {0} from {1} to {2} while it is traced, and in none of the 9 calls."
FIRST = "aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA"


def mended(text: str, line: str, name: str, old: str, new: str, message: str = READ) -> str:
    return changed(
        "TPU107",
        text,
        line,
        message.format(name, old, new),
        figures={"frozen": name, "when traced": old, "in Python now": new},
    )


def test_a_global_number_becomes_a_variable_in_the_scope() -> None:
    text = TF + (
        "def step(x):\n    return x * weight\n\n\n"
        "weight = 1.0  # of the loss\n"
        "for n in range(9):\n    run(step)\n    weight = 1.0 + n / 200\n    print(weight)\n"
    )
    assert mended(text, "x * weight", "weight", "1.0", "1.01") == TF + (
        "def step(x):\n    return x * weight\n\n\n"
        "with strategy.scope():\n"
        "    weight = tf.Variable(1.0, trainable=False, dtype=tf.float32)  # of the loss\n"
        "for n in range(9):\n    run(step)\n    weight.assign(1.0 + n / 200)\n"
        "    print(weight.numpy())\n"
    )


def test_an_attribute_becomes_a_variable_of_its_object() -> None:
    text = TF + (
        "class Fitter:\n"
        "    def __init__(self, strategy):\n"
        "        self.lr = 0.5\n"
        "        with strategy.scope():\n            self.seen = 0\n\n"
        "    def step(self, v):\n        v.assign_sub(self.lr * v)\n        self.seen += 8\n\n"
        "    def fit(self):\n        print(f'{self.lr:.3f}')\n        self.lr *= 0.7 + 0.1\n"
    )
    rate = mended(text, "assign_sub", "self.lr", "0.5", "0.4")
    assert (
        "        with strategy.scope():\n"
        "            self.lr = tf.Variable(0.5, trainable=False, dtype=tf.float32)\n"
    ) in rate
    assert "self.lr.assign(self.lr * (0.7 + 0.1))\n" in rate
    assert "print(f'{self.lr.numpy():.3f}')" in rate
    counter = mended(text, "seen += 8", "self.seen", "0", "8", WRITTEN)
    assert f"self.seen = tf.Variable(0, trainable=False, dtype=tf.int64, {FIRST})" in counter
    assert "        self.seen.assign_add(8)\n" in counter
    whole = text.replace("    def step", "    @tf.function\n    def step")
    assert FIRST not in mended(whole, "seen += 8", "self.seen", "0", "8", WRITTEN)


def test_a_callback_that_sets_it_on_the_model_assigns() -> None:
    text = TF + (
        "class Vae(tf.keras.Model):\n    def __init__(self):\n        self.beta = 0.0\n\n"
        "    def train_step(self, x):\n        return kl * self.beta\n\n\n"
        "class Anneal(Callback):\n    def on_epoch_end(self, epoch, logs=None):\n"
        "        self.model.beta = min(1.0, epoch / 10)\n"
    )
    after = mended(text, "kl *", "self.beta", "0.0", "0.1")
    assert "            self.beta = tf.Variable(0.0, trainable=False, dtype=tf.float32)\n" in after
    assert "        self.model.beta.assign(min(1.0, epoch / 10))\n" in after


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("def step(x):\n    return x * w\n\nw, b = 1.0, 2.0\nw = 2.0\n", "not followed|together"),
        ("def step(x):\n    return x * w\n\nfor w in data:\n    step(w)\n", "not followed"),
        ("def step(x):\n    return x * w\n\nfrom config import w\n", "not followed"),
        (
            "class C:\n    w = 1.0\n    def step(self, x):\n        return x * self.w\n",
            "not followed",
        ),
        (
            "class C:\n    def __init__(self):\n        self.w: float = 1.0\n"
            "    def step(self, x):\n        return x * self.w\n"
            "    def end(self):\n        self.w = 2.0\n",
            "not followed",
        ),
    ],
    ids=["tuple", "loop", "import", "class attribute", "typed"],
)
def test_what_is_set_elsewhere_stays(text: str, why: str) -> None:
    name = "self.w" if "self" in text else "w"
    with pytest.raises(NoChange, match=why):
        mended(TF + text, "return x", name, "1.0", "2.0")
