"""Makes others' text safe to show and share: without terminal control and secrets.

Names of files, hosts, processes and operations, source lines and error texts come from
anywhere. Reports, and all that is printed, have them through here.
"""

import re

# Escapes move the cursor, marks of direction turn text around, lone surrogates cannot be encoded.
_ACTIVE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)
HIDDEN = "***"
LONGEST = 4000
"""The most characters of a printed line, in which input may be quoted."""
_END = r"""[^\s&#"'<>\\]"""
_NAMED = r"(?:api|access|auth|secret|private)[_-]?(?:key|token)|secret[_-]?access[_-]?key"
_SECRETS = tuple(
    (marks, re.compile(pattern, re.IGNORECASE), rf"\g<1>{HIDDEN}")
    for marks, pattern in (
        # https://user:token@host
        (("://",), r"""(://)[^\s/@"'<>\\]{1,512}(?=@)"""),
        # ?access_token=..., &X-Goog-Signature=...
        (
            ("=",),
            rf"([?&;](?:[\w-]{{0,40}}(?:token|signature|credential|secret|password)|sig|(?:api_?)?key)=)"
            rf"{_END}{{1,4096}}",
        ),
        (
            ("uthorization", "AUTHORIZATION"),
            r"""(authorization["']?\s{0,3}[:=]\s{0,3}["']?(?:(?:bearer|basic|token)\s{1,3})?)"""
            rf"(?!(?:bearer|basic|token)\s|\*\*\*){_END}{{6,4096}}",
        ),
        (("earer ", "BEARER "), r"(\bbearer )(?=[\w.~+/-]{0,100}\d)[\w.~+/=-]{16,4096}"),
        # aws_secret_access_key = ..., WANDB_API_KEY=..., "password": "..."
        (
            ("ey", "EY", "oken", "OKEN", "assword", "ASSWORD"),
            rf"""((?:{_NAMED}|session[_-]?token|password)["']?\s{{0,3}}[:=]\s{{0,3}}["']?)"""
            r"(?=[\w+/-]{0,100}\d)(?=[\w+/-]{0,100}[a-z])[\w+/-]{12,4096}={0,2}(?![\w.(\[])",
        ),
        (("hf_",), r"(\bhf_)[a-z0-9]{16,4096}"),
        (("gh",), r"(\b(?:gh[oprsu]_|github_pat_))\w{16,4096}"),
        (("glpat-",), r"(\bglpat-)[\w-]{15,4096}"),
        (("AIza",), r"(\bAIza)[\w-]{30,4096}"),
        (("ya29.", "1//0"), r"(\b(?:ya29\.|1//0))[\w.-]{16,4096}"),
        (("AKIA", "ASIA"), r"(\bA[KS]IA)[0-9A-Z]{16}\b"),
        (("sk-",), r"(\bsk-)(?=[\w-]{0,100}\d)[\w-]{20,4096}"),
        (("xox",), r"(\bxox[abeprs]-)[\w-]{10,4096}"),
        (
            ("PRIVATE KEY",),
            r"(-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----)[^-\"]{1,16384}(?=-----END)",
        ),
    )
)
"""What a secret's text holds, where to look for it closely, and what is left of it."""
_ANY = re.compile("|".join(re.escape(mark) for marks, _, _ in _SECRETS for mark in marks))


def harmless(text: str) -> str:
    """The text with what acts on a terminal made visible, its secrets hidden; newlines and tabs
    stay."""
    return _ACTIVE.sub(lambda match: ascii(match[0])[1:-1], redacted(text))


def one_line(text: str) -> str:
    """The same on one line, which has an end."""
    line = " ".join(harmless(text[: 4 * LONGEST]).split())
    return line if len(line) <= LONGEST else line[:LONGEST] + " ..."


def redacted(text: str) -> str:
    """The text without passwords, keys and tokens of the forms that services give them."""
    if not _ANY.search(text):
        return text
    for marks, pattern, left in _SECRETS:
        if any(mark in text for mark in marks):
            text = pattern.sub(left, text)
    return text
