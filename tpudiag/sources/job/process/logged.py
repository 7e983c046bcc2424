"""Records what the job logs, through the logging module: formats and handlers hide levels."""

import logging
import traceback

from tpudiag.signals import LoggedRecord
from tpudiag.sources.job.points import barrier
from tpudiag.sources.job.process.protocol import Recorder

MOST_RECORDS, LONGEST_RECORD = 50, 8_000


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
