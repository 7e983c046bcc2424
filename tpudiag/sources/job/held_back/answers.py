"""What is answered to something that was not sent, and how an answer is known again."""

from __future__ import annotations

from typing import Any

MARK = "X-Tpudiag-Held-Back"
KEY = "tpudiag"
BODY = b'{"tpudiag": "not sent"}'
"""By its key what a script makes of an answer is known as well."""


def answer_headers(url: str) -> dict[str, str]:
    """Of an HTTP answer: what was made is where it was sent to, as uploads in parts ask."""
    return {
        "Content-Type": "application/json",
        "Content-Length": str(len(BODY)),
        "Location": url,
        "ETag": '"0"',
        "Connection": "close",
        MARK: "1",
    }


class Answer(str):
    """What a call that was not made is answered with: a text that has whatever is asked of it."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Answer(f"not-sent-{name}")

    def __call__(self, *_: Any, **__: Any) -> Answer:
        """As a method that was asked for."""
        return self


def is_answer(value: Any) -> bool:
    """Whether a value is an answer to what was not sent."""
    if isinstance(value, Answer):
        return True
    if isinstance(value, dict):
        return KEY in value
    # Only of what looks like an answer: to ask any object for an attribute may run its code.
    if "Response" not in type(value).__name__:
        return False
    try:
        return MARK in getattr(value, "headers", {})
    except Exception:
        return False
