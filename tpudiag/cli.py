"""The command line: a parser built from commands/, and errors mapped to exit codes."""

import argparse
import contextlib
import os
import signal
import sys
import traceback
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from tpudiag.commands._parser import add_verb
from tpudiag.errors import EXIT_INTERRUPTED, TpudiagError, UsageError
from tpudiag.printing import say, say_whole
from tpudiag.settings import of_verb
from tpudiag.version import __version__

VERBS = (
    "check", "fix", "read", "attach", "watch", "plan", "compare", "alerts", "explain", "render",
    "mcp",
)  # fmt: skip

EPILOG = """\
examples:
  tpudiag check                        rehearse the reference job for a v5e-8
  tpudiag check --for v6e-8 -o r.json  for another TPU, the report also as JSON
  tpudiag fix train.py                 the changes that fix its findings, proven
  tpudiag plan --for v5e-8,v6e-8       recommend a TPU and a batch, by the TPU compiler
  tpudiag read logs/                   report on a TensorBoard profile
  tpudiag attach localhost:6009        the same for a running trainer
  tpudiag watch tpudiag-logs           follow a running job, raise alerts
  tpudiag mcp                          the verbs for agents and editors
  tpudiag explain TPU101               explain a check; --log FILE explains errors

exit codes: 0 nothing at or above --fail-on failed, 1 something did, 2 usage error or nothing
could be diagnosed.
"""


class Parser(argparse.ArgumentParser):
    """A parser (its subcommands' too) whose error messages are sanitised."""

    def _print_message(self, message: str, file: Any = None) -> None:
        if message and file is sys.stderr:
            say_whole(message)
        elif message:
            super()._print_message(message, file)


def build_parser(
    only: str | None = None, written: Mapping[str, Any] | None = None
) -> argparse.ArgumentParser:
    """The parser of all verbs, or of one; importing a verb's module must stay cheap.

    `written`: what a settings file says in place of the defaults.
    """
    parser = Parser(
        prog="tpudiag",
        description="Finds what is wrong with a TensorFlow training job on TPU.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"tpudiag {__version__}")
    # Without `prog` argparse formats a usage line to find it, and imports shutil for its width.
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True, prog=parser.prog)
    for verb in VERBS if only is None else (only,):
        add_verb(
            verbs.add_parser, verb, import_module(f"tpudiag.commands.{verb}").VERB, written or {}
        )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb; every error that a user can cause is one line on stderr."""
    _open_what_is_closed()
    given = list(sys.argv[1:] if arguments is None else arguments)
    # Before argparse sees them: it would take the script's options behind `--` for arguments of a
    # verb.
    own, theirs = split_arguments(given)
    signal.signal(
        signal.SIGTERM, signal.default_int_handler
    )  # what Ctrl-C tidies up, a plain kill does too
    try:
        # One verb's options alone, where it is known: the other ten modules are not imported.
        verb = own[0] if own and own[0] in VERBS else None
        helps = verb is None or "-h" in own or "--help" in own
        written: Mapping[str, Any] = {} if helps else of_verb(own[0], _folder())
        options = build_parser(verb, written).parse_args(own)
        options.arguments = theirs
        exit_code: int = import_module(f"tpudiag.commands.{options.verb}").run(options)
        sys.stdout.flush()
    except TpudiagError as error:
        say(str(error))
        return error.exit_code
    except KeyboardInterrupt:
        say("interrupted")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # `tpudiag ... | head`: the reader is gone, and the interpreter would fail once more when it
        # flushes at its end. 141 is what a shell calls a death by SIGPIPE.
        _drop_stdout()
        return 141
    except OSError as error:
        # A full disk, a folder that was deleted or may not be read: the machine's, and no defect.
        where = f"{error.filename}: " if error.filename else ""
        say(f"{where}{error.strerror or error}")
        _drop_stdout()
        return 2
    except MemoryError:
        say("the memory that this machine gives does not suffice")
        return 2
    except Exception:
        say_whole(traceback.format_exc())
        say("a defect of tpudiag, not of your job: please report it with the lines above")
        return 2
    return exit_code


def _open_what_is_closed() -> None:
    """Let what is written to a stream that was closed (`>&-`) go nowhere, and into no file."""
    if sys.stdout is None or sys.stderr is None:
        while (descriptor := os.open(os.devnull, os.O_RDWR)) < 2:
            pass
        if descriptor > 2:
            os.close(descriptor)
        sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: PTH123, SIM115
        sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: PTH123, SIM115


def _folder() -> Path:
    """The working folder; UsageError where it is gone: settings and reports would be nowhere."""
    try:
        return Path.cwd()
    except OSError as error:
        raise UsageError(f"the working folder: {error.strerror}; cd to another") from error


def _drop_stdout() -> None:
    """Let what is still to be written go nowhere, so that the interpreter's last flush succeeds."""
    with contextlib.suppress(OSError, ValueError):  # a program may have put another stream there
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def split_arguments(arguments: list[str]) -> tuple[list[str], list[str]]:
    """What stands before `--`, and what follows: the script's own arguments."""
    if "--" not in arguments:
        return arguments, []
    at = arguments.index("--")
    return arguments[:at], arguments[at + 1 :]
