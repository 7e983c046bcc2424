# ruff: noqa: E501  (patterns stay in one piece)
"""Answers that a text does not bear out: words of any program, or of another library."""

import re

from .compiled import wording
from .model import Kind, Match, Phase
from .place import library_at

LEAST_SHARED = 0.17
"""Of the words of an exception's sentence, those that a case that names its cause must know."""
_WORLDS = {
    "tensorflow keras tf_keras tensorflow_estimator official": r"tf\.|tensorflow(?! datasets)|\bkeras|strategy|estimator|dataset\.|from_generator",
    "jax jaxlib flax optax orbax chex equinox": r"jax|\bjnp\b|flax|optax|orbax|pallas|nnx|shard",
    "torch torch_xla": r"torch|xmp\.|xla_",
    "transformers datasets huggingface_hub tensorflow_hub": r"transformers|tokenizer|hugging ?face|hf_|\bhub\b",
    "tensorflow_datasets": r"tensorflow.datasets|tfds",
    "grain": r"grain",
    "numpy": r"numpy|\bnp\.",
}
"""By the libraries that are used together: the words by which a case speaks of them."""
_OUTSIDE = {Phase.INSTALLING, Phase.CREATING, Phase.RESOLVING, Phase.CONNECTING, Phase.INITIALISING}
"""When a job is still at what all libraries have in common."""


def is_doubtful(match: Match, text: str, line: int) -> bool:
    """Whether nothing in a text speaks for an answer beside words that others say too."""
    error = match.error
    if error.level != "error" or error.kind is Kind.CONSEQUENCE or match.supported or not text:
        return False
    rows = text.split("\n")
    if error.common and match.confidence == "low":
        return not wording("doubt of_a_module").search(rows[line - 1])
    told = error.words
    before = "\n".join(rows[:line])
    of_python = not error.common and wording("doubt of_python").search(rows[line - 1])
    elsewhere = of_another_world(told, before) or (of_python and _never_named(told, before))
    elsewhere = elsewhere and not (match.settled or (match.reading and match.reading.whole))
    if elsewhere and error.phase not in _OUTSIDE:
        return True
    sentence = wording("doubt sentence").fullmatch(rows[line - 1].strip())
    read = match.reading is not None or match.own is not None or error.kind is not Kind.TELLING
    if sentence is None or read:
        return False
    words = {word.lower() for word in wording("doubt word").findall(sentence["said"])}
    words -= {value.lower() for value in match.values.values()}  # what its pattern has a place for
    known = words.intersection(wording("doubt word").findall(told))
    return bool(words) and len(known) < LEAST_SHARED * len(words)


def of_another_world(told: str, text: str) -> bool:
    """Whether an answer, in lower case, speaks of other libraries than that of the last frame."""
    library = library_at(text)[0]
    own = next((words for those, words in _WORLDS.items() if library in those.split()), None)
    speaks = any(re.search(words, told) for words in _WORLDS.values())
    return bool(own and speaks and not re.search(own, told))


def _never_named(told: str, traceback: str) -> bool:
    """Whether frames, two at least, say no word of the libraries that an answer speaks of."""
    of = "|".join(words for words in _WORLDS.values() if re.search(words, told))
    frames = wording("place frame").findall(traceback)
    return bool(of) and len(frames) > 1 and not re.search(of, traceback, re.IGNORECASE)
