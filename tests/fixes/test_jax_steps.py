"""What a step of JAX is changed in."""

import pytest

from tests.fixes.changes import changed
from tpudiag.fixes.edits import NoChange
from tpudiag.model import Framework

HEAD = "import jax\n\n"
STEP = "def train_step(params, x):\n    return update(params, x), 0.0\n\n\n"
LOOP = "for x in data:\n    params, loss = train_step(params, x)\n"
FIX = "jax.jit(train_step, donate_argnames=('params',))"


def donated(text: str) -> str:
    return changed("TPU701", text, "def train_step", fix=FIX, framework=Framework.JAX)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            HEAD + "@jax.jit\n" + STEP + LOOP,
            "import functools\n" + HEAD
            + "@functools.partial(jax.jit, donate_argnames=('params',))\n" + STEP + LOOP,
        ),
        (
            HEAD + "from functools import partial\n"
            "@partial(jax.jit, static_argnums=1)\n" + STEP + LOOP,
            HEAD + "from functools import partial\n"
            "@partial(jax.jit, static_argnums=1, donate_argnames=('params',))\n" + STEP + LOOP,
        ),
        (
            HEAD + STEP + "fast = jax.jit(train_step)\n" + LOOP.replace("= train_step", "= fast"),
            HEAD + STEP + "fast = jax.jit(train_step, donate_argnames=('params',))\n"
            + LOOP.replace("= train_step", "= fast"),
        ),
    ],
)  # fmt: skip
def test_state_is_donated(before: str, after: str) -> None:
    assert donated(before) == after


def test_state_that_is_read_after_the_step_is_not_donated() -> None:
    text = HEAD + "@jax.jit\n" + STEP + LOOP.replace("    params, loss", "    new, loss")
    with pytest.raises(NoChange, match="params is not replaced"):
        donated(text)


def test_batches_of_tf_data_get_one_size_and_a_jit_moves_before_its_loop() -> None:
    text = "data = data.shuffle(9).batch(64)\nfor x in data:\n    step(x)\n"
    message = "step was traced twice in 9 calls: x changed (shape): a -> b"
    assert "batch(64, drop_remainder=True)" in changed(
        "TPU101", text, "step(x)", message, framework=Framework.JAX
    )
    text = HEAD + "for x in data:\n    fast = jax.jit(step)\n    fast(x)\n"
    message = "step was traced 9 times in 9 calls: step changed (new function): a -> b"
    assert changed("TPU101", text, "fast(x)", message, framework=Framework.JAX) == HEAD + (
        "fast = jax.jit(step)\nfor x in data:\n    fast(x)\n"
    )


def test_no_change_of_tensorflow_is_made_in_a_script_of_jax() -> None:
    message = "step was traced 9 times in 9 calls: n changed (python value): int 1 -> int 2"
    with pytest.raises(NoChange):
        changed("TPU101", "import tensorflow as tf\nstep(n)\n", "step(n)", message,
                framework=Framework.JAX)  # fmt: skip
