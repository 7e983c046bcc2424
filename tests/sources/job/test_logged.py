"""What a job logs is heard by its level, whatever its format and handlers."""

import json
import sys

from tests.sources.job.programs import ran

PROGRAM = """
import logging, sys
from tpudiag.sources.job.process import job_error
from tpudiag.sources.job.process.protocol import Recorder
job_error.listen(Recorder(sys.stdout.fileno()))
logging.basicConfig(level=logging.DEBUG, format="%(message)s", stream=sys.stderr)
log = logging.getLogger("trainer")
log.info("as planned")
log.warning("slow: %d s", 3)
log.error("does not fit: %d", "text")
for _ in range(2):
    log.error("lost")
try:
    raise RuntimeError("Socket closed")
except RuntimeError:
    log.info("tried again", exc_info=True)
    log.exception("gave up")
"""


def test_records_of_level_warning_and_above() -> None:
    done = ran(sys.executable, "-c", PROGRAM)
    (*_, last) = map(json.loads, done.stdout.splitlines())
    heard = [(record["text"].split("\n")[0], record["error"]) for record in last["logged"]]
    assert heard == [("slow: 3 s", False), ("lost", True), ("gave up", True)]
    assert last["logged"][-1]["text"].strip().endswith("RuntimeError: Socket closed")
    # The job's own configuration of its logging counts as before.
    assert done.stderr.startswith("as planned\nslow: 3 s\n")
