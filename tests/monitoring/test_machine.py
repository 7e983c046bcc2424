"""Identities of machines, processes and workers."""

import os
import signal
import subprocess
import sys
import time

import pytest

from tpudiag.monitoring import machine


@pytest.mark.parametrize(
    ("environment", "name"),
    [
        ({}, ""),
        ({"TF_CONFIG": '{"task": {"type": "chief", "index": 0}}'}, "chief 0"),
        ({"TF_CONFIG": '{"task": {"index": "3"}}', "TPU_WORKER_ID": "9"}, "worker 3"),
        ({"TF_CONFIG": "not JSON", "TPU_WORKER_ID": "2"}, "worker 2"),
        ({"TF_CONFIG": "[]", "JOB_COMPLETION_INDEX": "07"}, "worker 7"),
        ({"TF_CONFIG": '{"task": null}', "TPU_WORKER_ID": "two"}, ""),
        ({"TPU_WORKER_ID": "\u00b2"}, ""),
    ],
)
def test_what_the_cluster_calls_a_worker(environment: dict[str, str], name: str) -> None:
    assert machine.worker(environment) == name


def test_one_boot_of_one_machine() -> None:
    here = machine.machine()
    assert here == machine.machine()
    assert machine.same_clock("boot-1 pid:[1]", "boot-1 pid:[2]")
    assert not machine.same_clock("boot-1 pid:[1]", "boot-2 pid:[1]")
    assert not machine.same_clock("", "")


def test_processes_that_run_stop_and_are_gone() -> None:
    now = time.time_ns()
    began = machine.process_started_ns(now)
    assert began is not None and 0 < now - began < 86_400 * 10**9
    age_s = (now - began) / 1e9
    assert machine.alive(os.getpid(), age_s)
    assert not machine.alive(os.getpid(), age_s + 3_600), "a later process of the same number"
    assert machine.alive(os.getpid()) and not machine.stopped(os.getpid())
    child = subprocess.Popen(
        [sys.executable, "-S", "-c", "input()"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    child.send_signal(signal.SIGSTOP)
    os.waitpid(child.pid, os.WUNTRACED)
    assert machine.stopped(child.pid) and machine.alive(child.pid)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert not machine.alive(child.pid), "a zombie is gone"
    child.communicate()
    assert not machine.alive(child.pid) and not machine.stopped(child.pid)
