"""Installs all hooks that redirect or block, as the job imports their modules."""

import os
import sys

from tpudiag.signals import Refusal
from tpudiag.sources.job.held_back import calls, connections, refusals, tensorflow_files
from tpudiag.sources.job.held_back.connections import OFFLINE
from tpudiag.sources.job.held_back.file_calls import FileCalls, put_where_kept
from tpudiag.sources.job.held_back.layer import Layer
from tpudiag.sources.job.held_back.ledger import Ledger
from tpudiag.sources.job.held_back.no_writes import NoWrites
from tpudiag.sources.job.held_back.programs import Programs
from tpudiag.sources.job.held_back.renames import Renames
from tpudiag.sources.job.held_back.trackers import Trackers
from tpudiag.sources.job.points import Library, Watches, hooks
from tpudiag.sources.job.process.protocol import JobSpec, Recorder

HOSTS = ("/kaggle/", "/content/", "/gcs/", "/mnt/disks/")
"""Folders of notebook hosts and TPU VMs: where one is missing, it may be written all the same."""


class HeldBack:
    """Holds back what a rehearsed job writes and sends."""

    def __init__(self, spec: JobSpec, recorder: Recorder) -> None:
        self._spec, self._recorder = spec, recorder
        own = os.path.join(os.path.dirname(os.path.abspath(spec.layer)), "held-back")
        os.makedirs(own, exist_ok=True)
        self.ledger = Ledger(recorder.put, os.path.join(own, "sends"))
        self._walled = spec.isolation in refusals.WALLED
        kind = NoWrites if spec.isolation == "refused" else Layer
        away = tuple(host for host in HOSTS if not os.path.isdir(host))
        # Unnecessary for local paths where the system isolates writes.
        self.layer = kind(spec.layer, lambda path: self._walled or f"{path}/".startswith(away))
        self.layer.hosts = away
        self.layer.on_change = self.ledger.note_file
        # The profile, the lowered step, and the job's folder for temporary files.
        temporary = os.environ.get("TMPDIR", "") if spec.rehearse else ""
        for kept in filter(None, (spec.log_dir, spec.lower_to, temporary, *spec.writable)):
            self.layer.leave_alone(kept)
        self._files = FileCalls(self.layer)
        self._redirects = self._walled or bool(away)
        if self._redirects:
            self._files.install()
        if isinstance(self.layer, NoWrites):
            self.layer.watch()
        self._renames = Renames(spec.mount_points) if spec.isolation == "overlay" else None
        if self._renames is not None:
            put_where_kept(self._renames.install())
        self._by_module: Watches = {}
        if spec.rehearse:
            self._hold_sends(own)

    def _hold_sends(self, folder: str) -> None:
        file = os.path.join(folder, "sends")
        trackers = Trackers(self.ledger.note, os.path.join(folder, "runs"))
        Programs(os.path.join(folder, "programs"), file, self.layer)
        if self._spec.offline:
            os.environ[OFFLINE] = "1"
            connections.refuse()
        else:
            connections.watch(self.ledger.note)
        self._by_module = {**calls.by_module(self.ledger.note), **trackers.by_module()}
        for name, watch in self._by_module.items():
            if name in sys.modules:  # such as http.client, which we may have imported ourselves
                hooks.quietly(watch, sys.modules[name])

    def by_module(self) -> Watches:
        """The hooks by the module whose import triggers them."""
        return {**self._by_module, **(self._files.by_module() if self._redirects else {})}

    def watch_tensorflow(self, tf: Library) -> None:
        """TensorFlow was imported."""
        if self._renames is not None:
            hooks.quietly(self._renames.watch_tensorflow, tf)
        hooks.quietly(tensorflow_files.watch, self.layer, tf)

    def ended(self, error: BaseException | None) -> Refusal | None:
        """Report everything at the job's end; returns the refusal that ended it, if any."""
        self.ledger.flush()
        if self.layer.hidden_files:
            self._recorder.put(hidden_files=self.layer.hidden_files)
        if error is None or not isinstance(error, Exception):
            return None
        isolation, offline = self._spec.isolation, self._spec.offline
        return refusals.of(error, self.layer, self.ledger.lines(), isolation, offline)
