"""Keeps an in-place rehearsal from saving next to the checkpoints of a real run.

A rehearsal answers most steps without running them: its checkpoint would claim step 40,000 after
some hundred, real ones would be rotated away, and the real job would continue from it.
"""

import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from tpudiag.sources.job.points import Library, hooks, table
from tpudiag.sources.job.tensorflow.devices.tpu_stubs import NotRehearsable

_MARKS = ("checkpoint", "saved_model.pb")
_ENDINGS = (".index", ".keras", ".h5")
"""Names or endings of a checkpoint's or model's files."""


class RealCheckpoints:
    """Refuses to save beside checkpoints older than the job."""

    def __init__(self) -> None:
        self._started = time.time()
        hooks.before(table.MANAGER_SAVED, self._of_manager)
        hooks.before(table.CHECKPOINT_SAVED, partial(self._first, "file_prefix"))
        hooks.before(table.MODEL_SAVED_WHOLE, partial(self._first, "export_dir"))

    def watch_keras(self, keras: Library) -> None:
        """Hook Keras' saving, too."""
        for at in (table.MODEL_SAVED, table.MODEL_EXPORTED):
            hooks.before(at, partial(self._first, "filepath"), keras)

    def _of_manager(self, manager: Any, *_: object, **__: object) -> None:
        """A manager is about to save in its folder."""
        self._saving(manager.directory)

    def _first(self, name: str, _: object, /, *args: object, **kwargs: object) -> None:
        """Look at the call's first argument after the object."""
        self._saving(kwargs.get(name, args[0] if args else ""))

    def _saving(self, path: object) -> None:
        """A checkpoint is about to be saved: refuse where older ones exist."""
        if not isinstance(path, (str, Path)) or "://" in str(path):
            return
        whole = Path(path).absolute()
        for folder in (whole, whole.parent):
            older = next(self._older(folder), None) if folder.is_dir() else None
            if older is not None:
                raise NotRehearsable(
                    f"in place, a rehearsal saves nothing where the checkpoints of a real run "
                    f"lie: {older} is older than it. Without --in-place what it writes is thrown "
                    "away"
                )

    def _older(self, folder: Path) -> Iterator[Path]:
        """Checkpoint files in a folder from before the job."""
        for entry in sorted(folder.iterdir()):
            saved = entry.name in _MARKS or entry.name.endswith(_ENDINGS)
            if saved and entry.stat().st_mtime < self._started:
                yield entry
