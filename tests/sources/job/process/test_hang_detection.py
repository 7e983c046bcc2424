"""A slow process is distinguished from a hanging one."""

from __future__ import annotations

import os

from tpudiag.sources.job.process import hang_detection
from tpudiag.sources.job.process.hang_detection import LOOK_S, HangDetector


def test_what_computes_goes_on_and_what_hangs_does_not() -> None:
    taken = iter((5.0, 6.0, 6.1))
    now = [120.0]
    work = HangDetector(1, lambda _: next(taken), lambda: now[0])
    assert work.goes_on(), "it has computed before"
    now[0] += LOOK_S / 2
    assert work.goes_on(), "the next look is not due"
    now[0] += LOOK_S
    assert work.goes_on(), "a second of a processor"
    now[0] += LOOK_S
    assert not work.goes_on()


def test_what_a_process_has_taken() -> None:
    assert hang_detection.cpu_s(os.getpid()) > 0
    assert hang_detection.cpu_s(2**22 + 1) == 0.0, "there is no such process"
