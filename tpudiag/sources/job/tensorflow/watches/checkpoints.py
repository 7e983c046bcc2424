"""Watches the job's checkpoints: TensorFlow's, Keras', Orbax' and Flax'."""

import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from tpudiag.model import Location
from tpudiag.signals import CheckpointUse
from tpudiag.sources.job.points import Call, Library, hooks, table, user_lines
from tpudiag.sources.job.points.point import Point

_CALLBACKS = "ModelCheckpoint", "BackupAndRestore"
_SECONDS, _HOUR_S = re.compile(r"(?<!\d)\d{10}(?!\d)"), 3600


class CheckpointWatch:
    """Hooks checkpoint managers, save calls and Keras' checkpoint callbacks.

    A checkpointer called by a manager or another library is reported as that one.
    """

    def __init__(self, original: Callable[[object], object]) -> None:
        """`original` returns the script's own path of a redirected file."""
        self._original = original
        self._uses: dict[tuple[str, str], CheckpointUse] = {}
        self._made: dict[int, tuple[str, str]] = {}
        self._saving = False
        self.looked_for = False
        """Whether the job looked for a checkpoint to go on from."""
        self.on_saved: Callable[[Location | None], None] = lambda _: None
        """Called with the line that saved."""

    def watch_tensorflow(self, tf: Library) -> None:
        """Hook TensorFlow's own saving."""
        kind = "tf.train.CheckpointManager"
        for at in (table.LATEST_CHECKPOINT, table.CHECKPOINT_RESTORED):
            hooks.before(at, self._look)
        self._follow(table.MANAGER_MADE, kind, partial(_argument, 2, "directory"), 0)
        arrays = partial(_arrays, tf)
        self._follow(table.MANAGER_SAVED, kind, _directory, 1, arrays=arrays)
        for saved in table.CHECKPOINT_SAVED.each():
            self._follow(saved, saved.name, partial(_argument, 1, "file_prefix"), 1, arrays=arrays)

    def watch_keras(self, keras: Library) -> None:
        """Hook the job's Keras."""
        for each in table.MODEL_SAVED.each():
            kind = each.name.removeprefix("keras.")
            self._follow(each, kind, partial(_argument, 1, "filepath"), 1, keras)
        path = partial(_argument, 1, "filepath")
        self._follow(table.CHECKPOINT_CALLBACK_MADE, _CALLBACKS[0], path, 0, keras)
        folder = partial(_argument, 1, "backup_dir")
        self._follow(table.BACKUP_CALLBACK_MADE, _CALLBACKS[1], folder, 0, keras)
        hooks.after(table.CALLBACK_GIVEN, self._give, keras)

    def _look(self, *_: object, **__: object) -> None:
        self.looked_for = True

    def _give(self, callback: object, *_: object, **__: object) -> None:
        if key := self._made.get(id(callback)):
            self._uses[key] = replace(self._uses[key], given=True)

    def watch_orbax(self) -> None:
        """Hook the saving of most JAX jobs."""
        kind = "orbax.checkpoint.CheckpointManager"
        self._follow(table.ORBAX_MANAGER_MADE, kind, partial(_argument, 1, "directory"), 0)
        self._follow(table.ORBAX_MANAGER_SAVED, kind, _directory, 1, arrays=_given)
        for each in table.ORBAX_SAVED.each():
            self._follow(each, each.name, partial(_argument, 1, "directory"), 1, arrays=_given)

    def watch_flax(self) -> None:
        """Hook the saving of older ones."""
        for each in table.FLAX_SAVED.each():
            self._follow(each, each.name, partial(_argument, 0, "ckpt_dir"), 1, arrays=_given)

    def facts(self) -> tuple[CheckpointUse, ...]:
        """The checkpoints configured or saved so far."""
        return tuple(self._uses.values())

    def _follow(
        self,
        at: Point,
        kind: str,
        path_of: Callable[..., object],
        saved: int,
        keras: Library | None = None,
        arrays: Callable[..., Iterator[tuple[int, ...]]] | None = None,
    ) -> None:
        """Record each call: what saves, where to, from which line."""

        def call(original: Call, *args: object, **kwargs: object) -> object:
            if self._saving:
                return original(*args, **kwargs)
            with hooks.instead(self, _saving=bool(saved)):
                result = original(*args, **kwargs)
            if result is not False:  # managers return False for skipped saves
                hooks.quietly(note, result, *args, **kwargs)
            return result

        def note(result: object, *args: object, **kwargs: object) -> None:
            # A redirected path is reported as in the script: TPU602 judges where checkpoints go on
            # the TPU.
            path = str(self._original(path_of(*args, **kwargs)) or "")
            line = user_lines.caller()
            given, now = kind not in _CALLBACKS, _moment(path)
            first = CheckpointUse(kind, path, 0, line, given=given, of_this_run=now)
            use = self._uses.get((kind, path), first)
            by = args[0] if args else None  # a function's arguments may all have names
            self._made[id(by)] = kind, path
            best_only = getattr(by, "save_best_only", False) is True
            use = replace(use, saved=use.saved + saved, best_only=best_only)
            self._uses[kind, path] = use
            if saved:
                self.on_saved(line)
            if arrays is not None and not use.shapes:
                self._uses[kind, path] = replace(use, shapes=tuple(arrays(result, *args, **kwargs)))

        hooks.around(at, call, keras)


def _moment(path: str) -> bool:
    """Whether a path holds this hour, as `%Y%m%d-%H%M` or as seconds since 1970."""
    seconds = any(abs(int(each) - time.time()) < _HOUR_S for each in _SECONDS.findall(path))
    digits, dates = re.sub(r"\D", "", path), (time.localtime(), time.gmtime())
    return seconds or any(time.strftime("%Y%m%d%H", date) in digits for date in dates)


def _argument(index: int, name: str, /, *args: object, **kwargs: object) -> object:
    return kwargs.get(name, args[index] if len(args) > index else "")


def _arrays(tf: Library, path: object, *_: object, **__: object) -> Iterator[tuple[int, ...]]:
    """The shapes of what a checkpoint of TensorFlow's holds, but for single numbers."""
    return (tuple(shape) for _, shape in tf.train.list_variables(path) if shape)


def _given(_result: object, *args: object, **kwargs: object) -> Iterator[tuple[int, ...]]:
    """The shapes of what Orbax or Flax is given to save, in its own arguments' fields too."""
    jax: Any = sys.modules["jax"]
    leaves: list[Any] = jax.tree_util.tree_leaves((args[1:], kwargs))
    for leaf in leaves:
        # Its arguments may be of no such attribute, and say so by errors of their own.
        if type(leaf).__module__.startswith("orbax."):
            fields: Any = leaf.__dict__
            yield from _given(None, None, fields)
        elif shape := getattr(leaf, "shape", None):
            yield tuple(shape)


def _directory(manager: Any, *_: object, **__: object) -> object:
    return manager.directory
