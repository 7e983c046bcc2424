"""The fake answers to blocked sends, and how they are recognised later."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

MARK = "X-Tpudiag-Held-Back"
KEY = "tpudiag"
BODY = b'{"tpudiag": "not sent"}'
"""Its key also marks what a script makes from an answer."""
_CHECKSUM = re.compile(r"x-goog-hash|x-amz-checksum-\w+")
_FIELDS = {"md5": "md5Hash"}
"""The name of a checksum header in Cloud Storage's JSON."""


def http(url: str, sent: Mapping[str, str]) -> tuple[dict[str, str], bytes]:
    """An HTTP answer (headers, body) to a request that was not sent.

    A created object's URL is the request's, as multi-part uploads expect, with the checksums from
    the request's headers (`sent`).
    """
    sums = {name: value for name, value in sent.items() if _CHECKSUM.fullmatch(name)}
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
    """The result of a call that was not made: a text with any requested attribute."""

    __slots__ = ()

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return Answer(f"not-sent-{name}")

    def __call__(self, *_: object, **__: object) -> Answer:
        """Called as a method."""
        return self


def is_answer(value: object) -> bool:
    """Whether a value is an answer to something that was not sent."""
    if isinstance(value, Answer):
        return True
    if isinstance(value, dict):
        return KEY in value
    # Only for what looks like an answer: reading any object's attribute may run its code.
    if "Response" not in type(value).__name__:
        return False
    try:
        return MARK in getattr(value, "headers", {})
    except Exception:
        return False
