"""Records what the job says: what it logs, and the exception that ended it, with its frames."""

import linecache
import logging
import re
import traceback
from collections.abc import Iterator
from pathlib import Path

from tpudiag.location import Location
from tpudiag.signals import CodeFrame, Crash, JobEnd, LoggedRecord
from tpudiag.sources.job.points import barrier, hidden_modules, user_lines
from tpudiag.sources.job.process.protocol import Recorder

_OURS = str(Path(__file__).parent.parent)
_OWN_FRAME = re.compile(rf'^ *File "{re.escape(_OURS)}[^"]*",.*\n.*\n', re.M)
"""A frame of these hooks in AutoGraph's error text, with the line of code below it."""
_COLOURS = re.compile(r"\x1b\[[\d;]*m")
"""Keras puts these into the texts of its exceptions."""
_DETECTED = re.compile(r" \(detected at line \d+\)")
_STARTERS = ("<frozen runpy>", "<frozen importlib", "runpy.py")
_MOST_LINES = 8
MOST_CHARACTERS = 200_000
MOST_RECORDS, LONGEST_RECORD = 50, 8_000


def job_end(error: BaseException) -> JobEnd:
    """The end of a job by an exception."""
    frames = tuple(user_frames(error))
    return JobEnd(
        hidden=hidden_modules.behind(error),
        how="exception",
        error=error_text(error),
        location=_unparsed(error) or (frames[-1].location if frames else None),
        crash=Crash(error_text(error), frames, traceback_text(error)),
    )


def _unparsed(error: BaseException) -> Location | None:
    """The user's line that Python could not parse, which is in no frame."""
    if not isinstance(error, SyntaxError) or not error.filename:
        return None
    return user_lines.of(error.filename, error.lineno or 1)


def error_text(error: BaseException) -> str:
    """An exception as one text, including its cause, of limited length."""
    text = f"{type(error).__name__}: {error}"
    if isinstance(error, SyntaxError) and error.filename:
        # Its place is reported separately: a notebook's lines here are none of a cell.
        text = f"{type(error).__name__}: {_DETECTED.sub('', error.msg)}"
    if error.__cause__ is not None:
        text += f"\ncaused by {type(error.__cause__).__name__}: {error.__cause__}"
    return _bounded(_plain(text), 20_000)


def traceback_text(error: BaseException) -> str:
    """The traceback as Python prints it, without the frames that run the job."""
    whole = traceback.TracebackException(type(error), error, error.__traceback__)
    _strip(whole, set())
    return _bounded(_plain("".join(whole.format())), MOST_CHARACTERS)


def user_frames(error: BaseException) -> Iterator[CodeFrame]:
    """The user's lines in the exception's traceback, outermost first."""
    for frame, line in traceback.walk_tb(error.__traceback__):
        location = user_lines.of(frame.f_code.co_filename, line)
        if location is not None:
            yield CodeFrame(
                location, frame.f_code.co_name, _call(location.file, location.line or 0)
            )


def _call(file: str, line: int) -> str:
    """A line, and those after it on which its call goes on."""
    text = linecache.getline(file, line).strip()
    for after in range(line + 1, line + _MOST_LINES):
        if text.count("(") <= text.count(")"):
            break
        text += f" {linecache.getline(file, after).strip()}"
    return text


def _strip(whole: traceback.TracebackException, seen: set[int]) -> None:
    seen.add(id(whole))
    others = [frame for frame in whole.stack if not frame.filename.startswith(_OURS)]
    whole.stack[:] = [f for f in others if not any(each in f.filename for each in _STARTERS)]
    # Exceptions can refer to each other in a circle.
    for other in (whole.__cause__, whole.__context__):
        if other is not None and id(other) not in seen:
            _strip(other, seen)


def _plain(text: str) -> str:
    return _COLOURS.sub("", _OWN_FRAME.sub("", text))


def _bounded(text: str, most: int) -> str:
    # Keep both ends: a traceback ends with the error, TensorFlow's messages begin with it.
    return text if len(text) <= most else text[: most // 2] + "\n...\n" + text[-most // 2 :]


def listen(recorder: Recorder) -> None:
    """From now on send every record of level WARNING or above, each text once."""
    make, by_text = logging.getLogRecordFactory(), dict[str, LoggedRecord]()

    # The factory instead of a handler: with a handler on the root, basicConfig would do nothing.
    def factory(*args: object, **kwargs: object) -> logging.LogRecord:
        record = make(*args, **kwargs)
        if record.levelno >= logging.WARNING and len(by_text) < MOST_RECORDS:
            barrier.attempt("hearing what is logged", _record, record, by_text, recorder)
        return record

    logging.setLogRecordFactory(factory)


def _record(
    record: logging.LogRecord, by_text: dict[str, LoggedRecord], recorder: Recorder
) -> None:
    """Send a record with earlier ones, unless its text was sent."""
    try:
        text = record.getMessage()
    except (TypeError, ValueError, KeyError):
        return  # its arguments do not fit its text, which logging reports itself
    if record.exc_info and record.exc_info[0] is not None:
        text += "\n" + "".join(traceback.format_exception(*record.exc_info))
    text = text[:LONGEST_RECORD]
    if text not in by_text:
        by_text[text] = LoggedRecord(text, record.levelno >= logging.ERROR)
        recorder.put(logged=list(by_text.values()))
