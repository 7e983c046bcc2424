"""The command line: one verb runs, and its errors are mapped to exit codes."""

import contextlib
import os
import signal
import sys
import traceback
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from tpudiag.commands._parser import VERBS, build_parser, split_arguments
from tpudiag.errors import EXIT_INTERRUPTED, TpudiagError, UsageError
from tpudiag.printing import say, say_whole
from tpudiag.settings import of_verb


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb; every error that a user can cause is one line on stderr."""
    _open_what_is_closed()
    # Before argparse sees them: it would take the script's options behind `--` for arguments of a
    # verb.
    own, theirs = split_arguments(list(sys.argv[1:] if arguments is None else arguments))
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
