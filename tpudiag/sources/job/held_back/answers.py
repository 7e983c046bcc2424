"""What is answered to something that was not sent, and how an answer is known again."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

MARK = "X-Tpudiag-Held-Back"
KEY = "tpudiag"
BODY = b'{"tpudiag": "not sent"}'
"""By its key what a script makes of an answer is known as well."""
_CHECKSUM = re.compile(r"x-goog-hash|x-amz-checksum-\w+")
_FIELDS = {"md5": "md5Hash"}
"""Of Cloud Storage: what its JSON calls a checksum that a header names."""


def http(url: str, asked: Mapping[str, str]) -> tuple[dict[str, str], bytes]:
    """An HTTP answer to what was not sent, its headers and its body.

    What was made is where it was sent to, as uploads in parts ask, and has the checksums that the
    request says of it; `asked`: its headers.
    """
    sums = {name: value for name, value in asked.items() if _CHECKSUM.fullmatch(name)}
    named = [part.strip().partition("=") for part in sums.get("x-goog-hash", "").split(",")]
    fields = {_FIELDS.get(name, name): value for name, _, value in named if name}
    body = json.dumps({**json.loads(BODY), **fields}).encode() if fields else BODY
    headers = {
        **sums,
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "Location": url,
        "ETag": '"0"',
        "Connection": "close",
        MARK: "1",
    }
    return headers, body


class Answer(str):
    """What a call that was not made is answered with: a text that has whatever is asked of it."""

    __slots__ = ()

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return Answer(f"not-sent-{name}")

    def __call__(self, *_: object, **__: object) -> Answer:
        """As a method that was asked for."""
        return self


def is_answer(value: object) -> bool:
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
