"""CPU time by thread."""

from __future__ import annotations

import threading
import time

from tpudiag.sources.job.tensorflow import thread_times


def test_a_thread_that_works_is_told_from_those_that_were_there() -> None:
    before = thread_times.cpu_seconds()
    assert thread_times.busiest_of(before, before) is None
    working, stop = threading.Event(), threading.Event()

    def work() -> None:
        end = time.thread_time() + 0.02
        while time.thread_time() < end:
            pass
        working.set()
        stop.wait(10)

    thread = threading.Thread(target=work)
    thread.start()
    working.wait(10)
    spent = thread_times.busiest_of(before, before)
    stop.set()
    thread.join()
    assert spent is not None and spent >= 0.019


def test_there_is_a_core() -> None:
    assert thread_times.usable_cores() >= 1
