"""The literals that every match of a pattern holds: what a search for many patterns looks for."""

import re
from collections.abc import Iterator

NO_OUTPUT = "(?<!ou)tpu"
"""A TPU; "output" holds its letters too."""
COMMON = frozenset((
    "tensorflow", "tensorflow/", "checkpoint", "checkpoints", "global_step", "gs://", "dataset",
    "training", "keras/", "saving", "/python/", "valueerror:", "runtimeerror:", "typeerror:",
    "example", "traceback", "iteratorgetnext", "function_node", "/job:worker", "/device:tpu:",
    "warning:", '.py",line',
))  # fmt: skip
"""Words of healthy logs and of all tracebacks, and how many bytes of a rarer one they are worth."""
COMMON_BYTES = 5


def squeezed_pattern(pattern: str) -> str:
    """A pattern without its blanks and without capitals, but those that have a meaning."""
    parts = re.split(r"(\\.|\(\?P<\w+>|\(\?P=\w+\))", pattern.replace(" ?", "").replace(" ", ""))
    lowered = (part if number % 2 else part.lower() for number, part in enumerate(parts))
    # A quote is a quote: who quotes a message with `x` in it where that means code writes 'x'.
    return re.sub(r"(?<![a-z_])tpu", NO_OUTPUT, "".join(lowered)).replace("`", "'")


_TOKEN = re.compile(
    r"(?P<quantifier>[?*+]\??|\{[^}]*\}\??)|(?P<open>\((?:\?(?:P<\w+>|P=\w+|[:=!]|<[=!]))?)|(?P<close>\))"
    r"|(?P<any>\\\w|\[(?:[^\]\\]|\\.)*\]|[.^$|])|\\(?P<escaped>\W)|(?P<literal>[^?*+{}()\\\[\].^$|]+)"
)
_META = frozenset("?*+{}()\\[].^$|")
"""What is no literal by itself; a third of the patterns holds none of it."""


def anchor(pattern: str) -> str:
    """The most telling literal that every match of a pattern holds; empty where there is none."""
    return max(literals(pattern), key=telling_bytes, default="")


def literals(pattern: str) -> Iterator[str]:
    """The literals that every match of a pattern holds."""
    pattern = pattern.replace(NO_OUTPUT, "tpu")
    if _META.isdisjoint(pattern):
        yield pattern
        return
    run = ""
    depth = 0
    for token in _TOKEN.finditer(pattern):
        kind = token.lastgroup
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth -= 1
        # What is in a group may be optional, or one of several: no literal of every match.
        elif depth:
            continue
        elif kind in {"literal", "escaped"}:
            run += token[kind]
            continue
        elif kind == "quantifier":
            run = run[:-1]  # a quantifier binds the last character only
        yield run
        run = ""
    yield run


def telling_bytes(run: str) -> int:
    """How much a literal narrows a search: its length, but for what nearly every log is full of."""
    return len(run) if run not in COMMON else min(len(run), COMMON_BYTES)
