"""Whether an exception's text alone shows that the code is to blame."""

import re

from tpudiag.diagnoses import older_release
from tpudiag.known_errors.model import Kind, KnownError
from tpudiag.script_run import Crash

_NAMES = re.compile(
    r"(NameError|UnboundLocalError|ImportError|ModuleNotFoundError|SyntaxError|IndentationError)\b|"
    r"AttributeError: module '|TypeError: [^\n]*unexpected keyword argument '|[\w.]+: [^\n]*"
    r"(?:no longer (?:supported|available|allowed)|(?:was|were|been) removed (?:in|from|since))"
)
"""Unknown names, and what a release removed."""
_ARGUMENTS = re.compile(r"TypeError: (?:[\w.]+\.)?(\w+\()\) takes [^\n]*positional arguments? but")


def is_of_code(error: str, crash: Crash | None = None) -> bool:
    """Whether it tells a name, or a form of call, that the installed release does not have.

    Nothing that the rehearsal changed before can cause that.
    """
    if refused := _ARGUMENTS.match(error):
        call = crash.frames[-1].text if crash is not None and crash.frames else ""
        # A function that a library calls gets what data is made of.
        return (
            refused[1] in call
            and call.count("(") == call.count(")")
            and not older_release.UNPACKED.search(call)
        )
    if _NAMES.match(error) or older_release.advice(error) is not None:
        return True
    if crash is not None and older_release.of_package(crash) is not None:
        return True
    known = told(error)
    return known is not None and known.id.startswith("P") and known.of_data is None


def told(error: str) -> KnownError | None:
    """The known error that tells an exception's cause."""
    from tpudiag.known_errors.search import match

    first = next((hit.error for hit in match(error) if not hit.secondary), None)
    return first if first is not None and first.kind is Kind.TELLING else None
