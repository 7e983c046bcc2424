"""What is had of a trainer that serves no profiler but holds a TPU; and the list as text."""

import subprocess
import sys

import pytest

from tests.sources.live.test_metrics import answer, served
from tpudiag.diagnoses.trainer_targets import Targets, without_server
from tpudiag.sources.live.address import Address
from tpudiag.sources.live.processes import Process
from tpudiag.sources.live.trainers import Trainer

pytestmark = pytest.mark.slow


def test_libtpus_metrics_and_the_stacks_of_who_holds_the_tpu() -> None:
    sleeper = [sys.executable, "-c", "import time; print(flush=True); time.sleep(600)"]
    program = subprocess.Popen(sleeper, stdout=subprocess.PIPE)
    with program as process, served(lambda _: answer({1: 2**30})) as address:
        assert process.stdout is not None
        process.stdout.readline()
        holder = Process(
            pid=process.pid,
            parent=1,
            command=("python", "train.py"),
            framework="TensorFlow 2.20.0",
            devices=("/dev/accel0",),
            listening=frozenset({address}),
            sockets=frozenset({1}),
            own_network=False,
        )
        targets = Targets((), (Trainer(holder, ()),))
        tables, (fault,) = without_server(targets, 1.0, lambda _: None)
        process.kill()
    assert [table.title.split(" of pid ")[0] for table in tables] == [
        "The TPU",
        "Where the main thread",
    ]
    assert tables[0].rows[0] == ("HBM in use", 1, float(2**30), "bytes")
    assert "add tf.profiler.experimental.server.start(6009) at its start" in fault.reason


def test_a_trainer_in_another_network_is_reached_through_it() -> None:
    inside = Process(
        pid=2**22 + 1,
        parent=1,
        command=("python",),
        framework="TensorFlow 2.20.0",
        devices=(),
        listening=frozenset({Address("localhost", 6009)}),
        sockets=frozenset({1}),
        own_network=True,
    )
    _, (fault,) = without_server(Targets((), (Trainer(inside, ()),)), 1.0, lambda _: None)
    assert f"nsenter --target {inside.pid} --net tpudiag attach localhost:6009" in fault.reason
