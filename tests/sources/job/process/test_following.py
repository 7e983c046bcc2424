"""What is heard of a job: its last word, and lines that are no facts."""

import os
from typing import Any

import pytest

from tpudiag.sources.job.process import following
from tpudiag.sources.job.process.following import LOOK_S, HangDetector


class SpeaksAndDies:
    """A process that says its last word just before it is found dead."""

    pid = 0

    def __init__(self, pipe: int) -> None:
        self.returncode: int | None = None
        self._pipe = pipe

    def poll(self) -> int:
        if self.returncode is None:
            os.write(self._pipe, b'{"end": {"how": "exception", "error": "no data"}}\n')
            os.close(self._pipe)
            self.returncode = 1
        return self.returncode


def test_the_last_word_of_a_dead_job_is_heard() -> None:
    read_end, write_end = os.pipe()
    job = following.JobRun()
    process: Any = SpeaksAndDies(write_end)

    def heard(_: object) -> None:
        """Nothing is done with it."""

    following.follow(process, read_end, job, following.Limits(60.0), heard, heard)
    assert "no data" in str(job.facts["end"])


@pytest.mark.parametrize("line", [b"null", b"[1]", b"7", b'{"steps_done": 3}', b"[" * 100_000])
def test_facts_of_a_job_that_are_none(line: bytes) -> None:
    job, heard = following.JobRun(), list[object]()
    following.heard(line, job, heard.append, lambda _: None)
    assert heard == []


def test_what_computes_goes_on_and_what_hangs_does_not() -> None:
    taken = iter(((5.0, False), (6.0, False), (6.1, True), (6.2, False)))
    now = [120.0]
    work = HangDetector(1, lambda _: next(taken), lambda: now[0])
    assert work.goes_on(), "it has computed before"
    now[0] += LOOK_S / 2
    assert work.goes_on(), "the next look is not due"
    now[0] += LOOK_S
    assert work.goes_on(), "a second of a processor"
    now[0] += LOOK_S
    assert work.goes_on(), "others have the processor, or the disk"
    now[0] += LOOK_S
    assert not work.goes_on()


def test_what_a_process_has_taken() -> None:
    taken_s, held_up = following.look(os.getpid())
    assert taken_s > 0 and held_up, "this thread runs"
    assert following.look(2**22 + 1) == (0.0, False), "there is no such process"
