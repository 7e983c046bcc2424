"""Started by path in the tool's own Python: starts a job in isolation, and watches it: it ends with
the tool, or if memory is short.

`python -I -S launcher.py LAUNCH`: LAUNCH is a Launch as JSON. Ends as the job did: with its exit
code or signal.
"""

import math
import os
import resource
import select
import signal
import struct
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[5]))

from tpudiag.sources.job.process.host_memory import available_bytes
from tpudiag.sources.job.process.isolation import first_process, held, landlock, launch
from tpudiag.sources.job.process.isolation import system_calls as system
from tpudiag.sources.job.process.isolation.launch import Launch, Outcome
from tpudiag.sources.job.process.isolation.layers import Layers

ALL_USERS = ["0", "0", "4294967295"]
"""The user map of a machine's initial user namespace."""


LOOK_EVERY_S = 0.25
GRACE_S = 2.0
"""The time to exit after SIGTERM."""


@dataclass(kw_only=True)
class Keeper:
    """Waits for a process's end, and ends it where necessary."""

    pid: int
    """The job's pid, or that of its first process."""
    send: Callable[[signal.Signals], None]
    """Sends the job a signal."""
    lifeline: int
    """A pipe that closes when the tool is gone."""
    spare_bytes: int
    """Memory to leave free on this machine; 0: not checked."""
    shortage: str = ""
    """Why the job was ended for lack of memory."""
    alone: bool = False
    """Whether the tool is gone."""
    _ends_at: float = math.inf

    def wait(self) -> None:
        """Wait until the process ended, without reaping it."""
        signal.signal(signal.SIGTERM, self._asked_to_stop)
        poll = select.poll()
        if self.lifeline >= 0:
            poll.register(self.lifeline, select.POLLIN)
        with suppress(OSError):  # Linux before 5.3: polled instead
            poll.register(os.pidfd_open(self.pid), select.POLLIN)
        while os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            heard = {descriptor for descriptor, _ in poll.poll(LOOK_EVERY_S * 1000)}
            if self.lifeline in heard:
                self.alone = True
                poll.unregister(self.lifeline)
                self.send(signal.SIGKILL)
            elif time.monotonic() > self._ends_at:
                self.send(signal.SIGKILL)
            elif self.spare_bytes and not self.shortage:
                left = available_bytes()
                if left < self.spare_bytes:
                    self.shortage = (
                        f"this machine had {left / 2**20:.0f} MiB of memory left: the job was "
                        "ended, so that nothing else is"
                    )
                    self.send(signal.SIGKILL)

    def _asked_to_stop(self, _number: int, _frame: object) -> None:
        """At SIGTERM: ask the job to end, and kill it after a moment."""
        self._ends_at = time.monotonic() + GRACE_S
        self.send(signal.SIGTERM)


def end_descendants() -> None:
    """Kill all remaining descendants of this process."""
    # Dead processes' children go to this process, their subreaper: repeat until there are none.
    while children := _children():
        for pid in children:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.wait()


def _children() -> list[int]:
    own, found = os.getpid(), list[int]()
    for name in os.listdir("/proc"):
        if name.isdecimal():
            with (
                suppress(OSError),
                open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as file,
            ):
                # The second field is a name in brackets with arbitrary content.
                if int(file.read().rpartition(")")[2].split()[1]) == own:
                    found.append(int(name))
    return found


def main() -> None:
    """Start the job of the command line, or test whether that is possible."""
    wanted = Launch(**launch.decoded(sys.argv[1]))
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # requests to end the job go to the tool
    for descriptor in (wanted.lifeline, wanted.held_open):
        if descriptor >= 0:
            os.set_inheritable(descriptor, False)  # not for the job
    with suppress(OSError):
        Path(wanted.folder, launch.TOLD).write_text(" " * launch.TOLD_BYTES, encoding="ascii")
    try:
        how = _run(wanted)
    except OSError as error:
        _tell(wanted, Outcome(failure=f"{error.strerror or error}: {error.filename}"))
        os._exit(launch.FAILED)
    _end_as(how)


def _run(wanted: Launch) -> int:
    layers = _layers(wanted) if wanted.isolation == "overlay" else None
    read_end, write_end = os.pipe()
    system.prctl(system.PR_SET_CHILD_SUBREAPER, 1)

    def before() -> None:
        if layers is not None:
            first_process.enter(wanted, layers.root)
        elif wanted.isolation == "landlock":
            landlock.wall(wanted.folder, *wanted.shared)
            landlock.keep_attributes(no_truncation=landlock.version() < landlock.KNOWS_TRUNCATION)

    if layers is not None and wanted.own_processes:
        pid = os.fork()
        if not pid:
            first_process.run(wanted, layers.root, write_end)
    else:
        pid = first_process.started(wanted, write_end, before)
    os.close(write_end)
    for descriptor in wanted.passed:
        os.close(descriptor)

    def sent(which: signal.Signals) -> None:
        # The job's group exists only after its first moment; the first process of a table has none.
        for send in (os.killpg, os.kill):
            with suppress(ProcessLookupError):
                send(pid, which)
                return

    kept = Keeper(pid=pid, send=sent, lifeline=wanted.lifeline, spare_bytes=wanted.spare_bytes)
    kept.wait()
    _, how = os.waitpid(pid, 0)
    end_descendants()
    word = os.read(read_end, 4096)
    if word.startswith(first_process.FAILED):
        raise OSError(word[1:].decode("utf-8", "replace"))
    if not kept.alone:
        _tell(wanted, _outcome(wanted, layers, kept))
    return struct.unpack("i", word[1:])[0] if word.startswith(first_process.ENDED) else how


def _layers(wanted: Launch) -> Layers:
    home = os.environ.get("HOME") or "/"
    without_rights = _new_namespaces(wanted)
    folder = Path(wanted.folder, launch.LAYER)
    folder.mkdir(mode=0o700)
    root = str(Path(wanted.folder, "root"))
    layers = Layers(root=root, folder=str(folder), without_rights=without_rights)
    layers.build([wanted.working, home, "/tmp", "/var/tmp"], wanted.layer_bytes)
    for shared in (wanted.folder, *wanted.shared):
        layers.through(shared)
    layers.hide(layers.folder)
    return layers


def _new_namespaces(wanted: Launch) -> bool:
    """Enter new namespaces; returns whether in a user namespace without all users.

    Raises OSError where neither is allowed.
    """
    kinds = system.CLONE_NEWNS | system.CLONE_NEWIPC
    kinds |= system.CLONE_NEWPID if wanted.own_processes else 0
    kinds |= system.CLONE_NEWNET if wanted.offline else 0
    user, group = os.getuid(), os.getgid()
    # A container's root is in such a namespace, too.
    without_rights = Path("/proc/self/uid_map").read_text(encoding="ascii").split() != ALL_USERS
    try:
        system.unshare(kinds)
    except PermissionError:
        without_rights = True
        system.unshare(kinds | system.CLONE_NEWUSER)
        own = {"setgroups": "deny", "uid_map": f"{user} {user} 1", "gid_map": f"{group} {group} 1"}
        for name, line in own.items():
            Path("/proc/self", name).write_text(line, encoding="ascii")
    system.mount("none", "/", flags=system.MS_REC | system.MS_PRIVATE)
    return without_rights


def _outcome(wanted: Launch, layers: Layers | None, kept: Keeper) -> Outcome:
    led = str(Path(wanted.folder, launch.REDIRECTED))
    changes = held.changes(layers.layers) if layers is not None else held.redirected(led)
    if wanted.keep:
        root = layers.root if layers is not None else led
        held.keep(changes, root, led, wanted.keep, wanted.working)
    read_only = layers.read_only if layers is not None else ()
    writes = held.writes(wanted.isolation, changes, read_only, wanted.keep)
    return Outcome(memory=kept.shortage, writes=writes)


def _tell(wanted: Launch, outcome: Outcome) -> None:
    # Into its reserved space: the job may have filled the disk.
    with suppress(OSError), Path(wanted.folder, launch.TOLD).open("r+", encoding="utf-8") as file:
        file.write(launch.encoded(outcome))


def _end_as(how: int) -> None:
    if not os.WIFSIGNALED(how):
        os._exit(os.waitstatus_to_exitcode(how))
    number = os.WTERMSIG(how)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


if __name__ == "__main__":
    main()
