"""Sends what a job writes into a folder of its own, for `--sandbox DIR`.

A path that is written becomes one under the folder: /a/b -> DIR/a/b, gs://bucket/c -> DIR/gs/
bucket/c. A path that is read is taken from there once it was written there, and what lists a folder
shows both. Python's own `open` and folder calls (sandbox_files), tf.io.gfile, checkpoints,
summaries, saved models and Keras' callbacks are redirected; a library that writes by its own C code
is not. What Python's `tempfile` makes stays where it is: it is the job's alone and it goes away.
"""

from __future__ import annotations

import contextlib
import glob
import os
import re
import time
from collections.abc import Callable
from typing import Any, cast

from tpudiag.sources.job.tensorflow import hooks

_SCHEME = re.compile(r"^([a-z][a-z0-9+.-]*)://")
_WRITES = re.compile(r"[wax+]")
_FIRST = ("path", "name", "pattern", "checkpoint_dir", "top", "s")
"""What the redirected calls name their first argument."""
_stat = os.stat
"""As it is before it is redirected."""


class Sandbox:
    """Redirects the paths that a job gives to what writes."""

    of_local_files = True

    def __init__(self, folder: str) -> None:
        self._folder = os.path.abspath(folder)  # noqa: PTH100
        self._started = time.time()
        self._left_alone: list[str] = []

    def written(self, path: Any) -> Any:
        """The place of a path that is about to be written; its folder is made."""
        place = self._place(path)
        if place is path:
            return path
        with contextlib.suppress(OSError):
            os.makedirs(os.path.dirname(place), exist_ok=True)  # noqa: PTH103, PTH120
        return place

    def read(self, path: Any) -> Any:
        """The place of a path that is about to be read: in the sandbox if it is there."""
        place = self._place(path)
        return place if place is not path and _there(place) else path

    def opened(self, path: Any, mode: Any) -> Any:
        """The place of a path that is about to be opened in that mode."""
        return self.written(path) if _WRITES.search(str(mode)) else self.read(path)

    def holds(self, path: Any) -> bool:
        """Whether a path was written to the sandbox."""
        return self.read(path) is not path

    def redirects(self, path: Any) -> bool:
        """Whether a path has another place in the sandbox."""
        return self._place(path) is not path

    def was_there(self, path: Any) -> bool:
        """Whether there is something at a path itself, outside the sandbox."""
        with contextlib.suppress(OSError, ValueError):
            _stat(path)
            return True
        return False

    def removed(self, path: Any) -> Any:
        """The place of a path that is about to be removed; what was there before the job stays.

        Temporary files of libraries are made by calls that are not redirected.
        """
        place = self._place(path)
        if place is path or _there(place):
            return place
        with contextlib.suppress(OSError):
            # Libraries make temporary files by os.open and by C calls, which no hook sees, and
            # remove them by os.remove: those are the job's own. A file from before the job is the
            # user's.
            if _stat(path).st_ctime >= self._started:
                return path
        return place

    def leave_alone(self, path: str) -> None:
        """Redirect nothing at a path or under it."""
        self._left_alone.append(os.path.abspath(path))  # noqa: PTH100

    def original(self, path: object) -> object:
        """The path that the script gave, of one that was redirected."""
        if not isinstance(path, str) or not path.startswith(self._folder + os.sep):
            return path
        inner = path[len(self._folder) :]
        remote = re.match(r"/([a-z][a-z0-9+.-]*)__/(.*)", inner)
        if remote:
            return f"{remote[1]}://{remote[2]}"
        return os.path.relpath(inner) if inner.startswith(os.getcwd() + os.sep) else inner  # noqa: PTH109

    def _place(self, path: Any) -> Any:
        """Where a path lies in the sandbox; itself where it is none or lies there already."""
        text = _text(path)
        if not text or text.startswith("/dev/"):
            return path
        remote = _SCHEME.match(text)
        whole = f"/{remote[1]}__/{text[remote.end() :]}" if remote else os.path.abspath(text)  # noqa: PTH100
        if any(
            (whole + os.sep).startswith(own + os.sep) for own in (self._folder, *self._left_alone)
        ):
            return path
        ending = "/" if text.endswith("/") else ""
        return self._folder + whole.rstrip("/") + ending

    def watch_tensorflow(self, tf: Any) -> None:
        """Redirect what TensorFlow writes and reads back."""
        hooks.around(tf.io.gfile.GFile, "__init__", self._gfile)
        for name in ("makedirs", "mkdir"):
            hooks.around(tf.io.gfile, name, self.first(self.written))
        for name in ("remove", "rmtree"):
            hooks.around(tf.io.gfile, name, self.first(self.removed))
        for name in ("exists", "isdir", "stat", "walk"):
            hooks.around(tf.io.gfile, name, self.first(self.read))
        for name in ("glob", "listdir"):
            hooks.around(tf.io.gfile, name, self._of_both_places)
        for name in ("copy", "rename"):
            hooks.around(tf.io.gfile, name, self.both)
        writes = self._argument(self.written)
        hooks.around(tf.train.CheckpointManager, "__init__", writes(2, "directory"))
        for name in ("save", "write"):
            hooks.around(tf.train.Checkpoint, name, writes(1, "file_prefix"))
        hooks.around(tf.train, "latest_checkpoint", self.first(self.read))
        hooks.around(tf.summary, "create_file_writer", writes(0, "logdir"))
        hooks.around(tf.saved_model, "save", writes(1, "export_dir"))
        hooks.around(tf.io.TFRecordWriter, "__init__", writes(1, "path"))
        reads = self._argument(self._all_read)
        for name in ("TFRecordDataset", "TextLineDataset", "FixedLengthRecordDataset"):
            hooks.around(getattr(tf.data, name), "__init__", reads(1, "filenames"))
        list_files = tf.data.Dataset.list_files
        tf.data.Dataset.list_files = staticmethod(
            lambda *args, **kwargs: reads(0, "file_pattern")(list_files, *args, **kwargs)
        )

    def watch_keras(self, keras: Any) -> None:
        """Redirect what Keras writes."""
        writes = self._argument(self.written)
        for name in ("save", "save_weights", "export"):
            if hasattr(keras.Model, name):
                hooks.around(keras.Model, name, writes(1, "filepath"))
        for callback, argument in (
            ("ModelCheckpoint", "filepath"),
            ("BackupAndRestore", "backup_dir"),
            ("TensorBoard", "log_dir"),
            ("CSVLogger", "filename"),
        ):
            hooks.around(getattr(keras.callbacks, callback), "__init__", writes(1, argument))

    def watch_transformers(self, module: Any) -> None:
        """Redirect models that transformers.modeling_tf_utils saves: their weights by C code."""
        saves = self._argument(self.written)(1, "save_directory")
        hooks.around(module.TFPreTrainedModel, "save_pretrained", saves)

    def _of_both_places(self, original: Any, *args: Any, **kwargs: Any) -> Any:
        """What is listed at a path and at its place in the sandbox, as one list."""
        named = next((name for name in _FIRST if name in kwargs), None)
        if named is not None:
            args = (kwargs.pop(named), *args)
        path, args = args[0], args[1:]
        if isinstance(path, (list, tuple)):
            paths = cast("list[Any]", path)
            return [name for each in paths for name in self._of_both_places(original, each)]
        place = self._place(path)
        written: list[Any] = []
        if place is not path:
            with contextlib.suppress(Exception):  # nothing of it was written
                written = list(original(place, *args, **kwargs))
        try:
            there = list(original(path, *args, **kwargs))
        except Exception:
            if not _there(place):
                raise
            there = []
        hidden = {self.original(name) for name in written} | set(written)
        return written + [name for name in there if self.original(name) not in hidden]

    def _gfile(
        self, original: Any, file: Any, name: Any, mode: Any = "r", *args: Any, **kwargs: Any
    ) -> Any:
        """A file is opened through TensorFlow."""
        return original(file, self.opened(name, mode), mode, *args, **kwargs)

    def _all_read(self, names: Any) -> Any:
        """Paths or patterns of files that are read, one or a list of them."""
        if isinstance(names, (list, tuple)):
            return [self._all_read(name) for name in names]  # pyright: ignore[reportUnknownVariableType]
        if isinstance(names, str) and any(c in names for c in "*?["):
            place = self._place(names)
            return place if glob.glob(place) else names  # noqa: PTH207
        return self.read(names)

    def both(self, original: Any, src: Any, dst: Any, *args: Any, **kwargs: Any) -> Any:
        """A file gets another name; the arguments have the names that they are given by."""
        return original(self.read(src), self.written(dst), *args, **kwargs)

    def first(self, place: Callable[[Any], Any]) -> Callable[..., Any]:
        """Redirects the first argument."""

        def call(original: Any, *args: Any, **kwargs: Any) -> Any:
            named = next((name for name in _FIRST if name in kwargs), None)
            # A path relative to an open folder (shutil.rmtree walks so): to make it absolute would
            # name another file.
            if kwargs.get("dir_fd") is not None:
                return original(*args, **kwargs)
            if args:
                return original(place(args[0]), *args[1:], **kwargs)
            if named is not None:
                kwargs[named] = place(kwargs[named])
            return original(**kwargs)

        return call

    def _argument(self, place: Callable[[Any], Any]) -> Callable[[int, str], Callable[..., Any]]:
        """Redirects one argument, by position (`self` is number 0) or by name."""

        def of(index: int, name: str) -> Callable[..., Any]:
            def call(original: Any, *args: Any, **kwargs: Any) -> Any:
                if name in kwargs:
                    kwargs[name] = place(kwargs[name])
                elif len(args) > index:
                    args = (*args[:index], place(args[index]), *args[index + 1 :])
                return original(*args, **kwargs)

            return call

        return of


class RemoteSandbox(Sandbox):
    """Redirects alone what this machine has no place for: buckets, and folders of notebook hosts.

    They can still be written to, and no `/kaggle` is made at the root of the user's disk.
    """

    of_local_files = False

    def __init__(self, folder: str, hosts: tuple[str, ...] = ()) -> None:
        """`hosts`: folders of notebook hosts; those that are there are left as they are."""
        super().__init__(folder)
        self._away = tuple(host for host in hosts if not os.path.isdir(host))  # noqa: PTH112

    def _place(self, path: Any) -> Any:
        """Where such a path lies in the sandbox; any other is left as it is."""
        text = _text(path)
        away = bool(_SCHEME.match(text)) or (text.rstrip("/") + "/").startswith(self._away)
        return super()._place(path) if away else path


def _text(path: Any) -> str:
    """A path as text, empty for what is none: a file descriptor, bytes."""
    return str(path) if isinstance(path, str) or hasattr(path, "__fspath__") else ""


def _there(path: str) -> bool:
    """Whether a file, a folder or a checkpoint of this name is there."""
    # A checkpoint `ckpt-3` is no file: its parts are ckpt-3.index and ckpt-3.data-00000-of-00001.
    for name in (path, path + ".index"):
        with contextlib.suppress(OSError, ValueError):
            _stat(name)
            return True
    return False
