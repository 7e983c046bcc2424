"""What is read from an error, and how its words are found around a match."""

import re

from tpudiag.records import dataclass

CALLED = {
    **{"tensorflow": "TensorFlow", "tf": "TensorFlow", "keras": "Keras", "python": "Python"},
    **{"jax": "JAX", "flax": "Flax", "optax": "Optax", "numpy": "NumPy"},
}
"""How packages are called that are not called by their name."""


@dataclass(frozen=True)
class Reading:
    """What is read from an error: a sentence for its cause, and what can be pasted first."""

    cause: str
    fix: str
    whole: bool = False
    """Whether it says all of the cause: what its family is about in general adds nothing."""
    guess: bool = False
    """Whether it only names what mostly is behind it: nothing in the text speaks for it."""
    placed: bool = False
    """Whether the frames of the traceback were asked for: no table knows better."""
    alone: bool = False
    """Whether its fix is the one for what is installed, so that no other is worth a try."""


def first_over(form: re.Pattern[str], text: str, begin: int, end: int) -> re.Match[str] | None:
    """The first match of a form that shares text with what stands from `begin` to `end`."""
    for found in form.finditer(text):
        if found.start() >= end:
            return None
        if found.end() > begin:
            return found
    return None
