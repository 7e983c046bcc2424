import pytest

from .changes import TF, changed


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
