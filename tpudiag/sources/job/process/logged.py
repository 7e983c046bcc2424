"""Hears what the job logs, by the logging module itself: formats and handlers hide levels."""

import logging
import traceback

from tpudiag.signals import LoggedRecord
from tpudiag.sources.job.points import barrier
from tpudiag.sources.job.process.protocol import Recorder

MOST_RECORDS, LONGEST_RECORD = 50, 8_000


def listen(recorder: Recorder) -> None:
    """Send every record of level WARNING or above from now on, each text once."""
    make, by_text = logging.getLogRecordFactory(), dict[str, LoggedRecord]()

    # The factory, and no handler: with a handler on the root, basicConfig would do nothing.
    def factory(*args: object, **kwargs: object) -> logging.LogRecord:
        record = make(*args, **kwargs)
        if record.levelno >= logging.WARNING and len(by_text) < MOST_RECORDS:
            barrier.attempt("hearing what is logged", _record, record, by_text, recorder)
        return record

    logging.setLogRecordFactory(factory)


def _record(
    record: logging.LogRecord, by_text: dict[str, LoggedRecord], recorder: Recorder
) -> None:
    """Send a record with those before it, unless its text was sent."""
    try:
        text = record.getMessage()
    except (TypeError, ValueError, KeyError):
        return  # its arguments do not fit its text: logging says so itself
    if record.exc_info and record.exc_info[0] is not None:
        text += "\n" + "".join(traceback.format_exception(*record.exc_info))
    text = text[:LONGEST_RECORD]
    if text not in by_text:
        by_text[text] = LoggedRecord(text, record.levelno >= logging.ERROR)
        recorder.put(logged=list(by_text.values()))
