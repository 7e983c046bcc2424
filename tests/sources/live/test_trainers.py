"""The trainers of a machine, from a /proc of our own making: TPUs, forks, launchers, containers."""

import os
from pathlib import Path

import pytest

from tests.made import distribution
from tpudiag.errors import NothingDiagnosed
from tpudiag.sources.live.address import Address
from tpudiag.sources.live.trainers import Machine, at_address, look, of_pid

SITE = "/opt/venv/lib/python3.11/site-packages"
TENSORFLOW = f"{SITE}/tensorflow/libtensorflow_framework.so.2"


class Proc:
    """A folder like /proc."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sockets: dict[int, str] = {}
        self._ns(folder / "self", "net:[1]")

    def add(
        self,
        pid: int,
        parent: int,
        *command: str,
        libraries: tuple[str, ...] = (TENSORFLOW,),
        devices: tuple[str, ...] = (),
        sockets: tuple[int, ...] = (),
        network: str = "net:[1]",
        state: str = "S",
    ) -> None:
        made = self.folder / str(pid)
        self._ns(made, network)
        (made / "stat").write_text(f"{pid} (a) b) {state} {parent} 1 1 0 -1")
        (made / "cmdline").write_text("".join(part + "\0" for part in command))
        lines = [f"7f00-7f01 r-xp 00000000 08:01 1    {path}\n" for path in libraries]
        (made / "maps").write_text("5500-5501 rw-p 00000000 00:00 0    [heap]\n" + "".join(lines))
        (made / "fd").mkdir()
        targets = [*devices, *(f"socket:[{inode}]" for inode in sockets), "/dev/null"]
        for number, target in enumerate(targets):
            (made / "fd" / str(number)).symlink_to(target)
        (made / "root").symlink_to(self.folder / "root")
        (made / "net").mkdir()
        header = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt uid\n"
        rows = "".join(
            f"   0: {local} 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 {inode}\n"
            for inode, local in self.sockets.items()
        )
        (made / "net" / "tcp").write_text(header + rows)

    def _ns(self, folder: Path, network: str) -> None:
        (folder / "ns").mkdir(parents=True)
        (folder / "ns" / "net").symlink_to(network)

    def listening(self, inode: int, local: str = "00000000:0001") -> int:
        self.sockets[inode] = local
        return inode


@pytest.fixture
def proc(tmp_path: Path) -> Proc:
    made = Proc(tmp_path)
    site = tmp_path / "root" / SITE.lstrip("/")
    distribution(site, "tensorflow_tpu", "2.20.0")
    distribution(site, "tensorflow_io_gcs_filesystem", "0.37.1")
    distribution(site, "keras", "3.1")
    return made


def pids(machine: Machine) -> list[int]:
    return [trainer.pid for trainer in machine.trainers]


def test_the_process_that_holds_the_tpu_is_found_not_its_launcher(proc: Proc) -> None:
    proc.add(1, 0, "init", libraries=())
    proc.add(10, 1, "bash", "run.sh", libraries=())
    proc.add(11, 10, "python", "launch.py")
    proc.add(
        12, 11, "python", "train.py", devices=("/dev/accel1", "/dev/accel0", "/dev/accelerometer")
    )
    proc.add(13, 11, "python", "worker.py")
    machine = look(proc.folder)
    assert pids(machine) == [11, 12, 13]
    (trainer,) = of_pid(12, machine)
    assert trainer.process.framework == "TensorFlow 2.20.0"
    assert trainer.process.devices == ("/dev/accel0", "/dev/accel1")
    for launcher in (1, 10, 11):
        assert of_pid(launcher, machine) == (trainer,)
    assert [t.pid for t in of_pid(10, machine)] == [12]


def test_a_process_that_holds_a_tpu_without_a_framework(proc: Proc) -> None:
    proc.add(5, 1, "server", devices=("/dev/vfio/0", "/dev/vfio/vfio"), libraries=())
    (trainer,) = look(proc.folder).trainers
    assert trainer.process.framework is None
    assert trainer.process.devices == ("/dev/vfio/0",)


def test_forked_workers_are_their_trainer(proc: Proc) -> None:
    listening = proc.listening(77)
    for pid, parent in ((20, 1), (21, 20), (22, 21)):
        proc.add(pid, parent, "python", "train.py", devices=("/dev/accel0",), sockets=(listening,))
    machine = look(proc.folder)
    assert pids(machine) == [20]
    assert [t.pid for t in of_pid(22, machine)] == [20]


def test_several_trainers_of_one_launcher(proc: Proc) -> None:
    proc.add(30, 1, "torchrun-like", libraries=())
    for pid in (31, 32):
        proc.add(pid, 30, "python", "train.py", str(pid), devices=(f"/dev/accel{pid - 31}",))
    assert [t.pid for t in of_pid(30, look(proc.folder))] == [31, 32]


def test_ports_of_a_container_are_not_asked_here(proc: Proc) -> None:
    listening = proc.listening(78)
    proc.add(40, 1, "python", "train.py", sockets=(listening,), network="net:[2]")
    (trainer,) = look(proc.folder).trainers
    assert trainer.process.own_network
    assert trainer.profilers == ()


def test_addresses_of_listening_sockets(proc: Proc) -> None:
    sockets = (
        proc.listening(1, "0100007F:1779"),
        proc.listening(2, "00000000:0001"),
        proc.listening(3, "00000000000000000000000001000000:0002"),
    )
    proc.add(50, 1, "python", sockets=sockets)
    (trainer,) = look(proc.folder).trainers
    assert trainer.process.listening == {
        Address("127.0.0.1", 6009),
        Address("localhost", 1),
        Address("::1", 2),
    }


def test_several_processes_at_one_port_are_told_from_a_trainer_and_its_forks(proc: Proc) -> None:
    anywhere, loopback = "00000000:0001", "0100007F:0001"
    first, second, third = proc.listening(1, anywhere), proc.listening(2, loopback), 3
    proc.listening(third, loopback)
    proc.add(80, 1, "python", "a.py", sockets=(first,))
    proc.add(81, 80, "python", "a.py", sockets=(first,))
    proc.add(82, 1, "python", "b.py", sockets=(second,))
    machine = look(proc.folder)
    shared = {t.pid: dict(t.process.shared) for t in machine.trainers}
    assert set(shared) == {80, 82}
    assert set(shared[80][Address("localhost", 1)]) == {0, 82}, "the third is not seen"
    assert shared[82][Address("127.0.0.1", 1)][0] == 0
    with pytest.raises(NothingDiagnosed) as refused:
        at_address(Address("127.0.0.1", 1), machine.processes)
    for part in (
        "pid another (no trainer that is seen)",
        "pid 82 (python b.py)",
        "a port of its own",
    ):
        assert part in str(refused.value)
    assert at_address(Address("127.0.0.1", 2), machine.processes) is None
    assert at_address(Address("192.0.2.1", 1), machine.processes) is None, "another machine"


def test_a_trainer_alone_at_its_port_shares_it_with_nobody(proc: Proc) -> None:
    own = (proc.listening(1), proc.listening(2, "0100007F:0001"))
    proc.add(83, 1, "python", "a.py", sockets=own)
    assert look(proc.folder).trainers[0].process.shared == ()


def test_a_trainer_that_was_stopped_is_said_to_stand_still(proc: Proc) -> None:
    listening = proc.listening(1)
    proc.add(84, 1, "python", "a.py", sockets=(listening,), state="T")
    machine = look(proc.folder)
    assert machine.trainers[0].process.stopped
    stopped = at_address(Address("localhost", 1), machine.processes)
    assert stopped is not None
    assert of_pid(84, machine)[0].pid == stopped.pid == 84


@pytest.mark.parametrize(
    "command",
    [
        ("python", "-B", "/opt/x/site-packages/tpudiag/sources/job/process/bootstrap.py", "{}"),
        ("python", "-P", "/opt/x/site-packages/tpudiag/sources/compiler/compile_child.py"),
        ("/usr/bin/python3", "/opt/x/bin/tpudiag", "check", "train.py"),
        ("python", "-m", "tpudiag", "plan", "train.py"),
    ],
)
def test_tpudiags_own_children_are_not_offered(proc: Proc, command: tuple[str, ...]) -> None:
    proc.add(90, 1, *command)
    proc.add(91, 90, "python", "-c", "from multiprocessing")
    proc.add(92, 1, "python", "train.py", "tpudiag")
    machine = look(proc.folder)
    assert pids(machine) == [92]
    for pid in (90, 91):
        with pytest.raises(NothingDiagnosed, match="is tpudiag itself, or a job that it runs"):
            of_pid(pid, machine)


def test_other_frameworks(proc: Proc) -> None:
    proc.add(60, 1, "python", libraries=(f"{SITE}/jaxlib/xla_extension.so",))
    proc.add(61, 1, "python", libraries=("/a/torch_xla/lib.so",))
    proc.add(62, 1, "python", libraries=("/a/numpy/core.so",))
    found = {t.pid: t.process.framework for t in look(proc.folder).trainers}
    assert found == {60: "JAX", 61: "PyTorch/XLA"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look into everything")
def test_what_may_not_be_looked_into_is_said(proc: Proc) -> None:
    proc.add(70, 1, "/usr/bin/python3", "train.py")
    (proc.folder / "70" / "maps").chmod(0)
    machine = look(proc.folder)
    assert machine.processes.hidden == {70}
    with pytest.raises(NothingDiagnosed, match="no right to look into it"):
        of_pid(70, machine)


@pytest.mark.parametrize(
    ("pid", "said"), [(80, "has no TensorFlow or JAX loaded"), (81, "no process")]
)
def test_a_pid_that_is_no_trainer(proc: Proc, pid: int, said: str) -> None:
    proc.add(80, 1, "sleep", "5", libraries=())
    with pytest.raises(NothingDiagnosed, match=said):
        of_pid(pid, look(proc.folder))


def test_a_machine_without_proc_has_none(tmp_path: Path) -> None:
    machine = look(tmp_path / "none")
    assert machine.trainers == ()
    assert at_address(Address("localhost", 1), machine.processes) is None
