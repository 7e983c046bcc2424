"""The errors of tpudiag itself, as the user sees them.

TpudiagError            one clear line on stderr, exit code 2
├── UsageError          the command line or the settings are wrong
├── UnreadableInput     a profile, report or script that cannot be read
├── MissingExtra        an optional part is not installed
└── NothingDiagnosed    the job crashed or the trainer was not reached before anything was seen
"""

from typing import Literal

FailOn = Literal["error", "warning", "never"]
"""The severity from which a finding makes the exit code 1."""
EXIT_INTERRUPTED = 130
"""The exit code after Ctrl-C, as in a shell."""


class TpudiagError(Exception):
    """An error that the user can fix: its text is the one line they see."""

    exit_code = 2


class UsageError(TpudiagError):
    """The command line or the settings are wrong."""


class UnreadableInput(TpudiagError):
    """A profile, report or script cannot be read; names the file and the cause."""


class MissingExtra(TpudiagError):
    """An optional part is not installed; names the extra that brings it."""


class NothingDiagnosed(TpudiagError):
    """The job crashed or the trainer was not reached before anything was seen."""


def line_of(error: BaseException) -> str:
    """What an error says, in one line: the system's words, or its type's name where it has none."""
    said = getattr(error, "strerror", None) or getattr(error, "message", None) or error
    return " ".join(str(said).split()) or type(error).__name__
