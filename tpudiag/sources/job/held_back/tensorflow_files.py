"""The calls of TensorFlow that name files, which its own C++ code opens."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tpudiag.sources.job.held_back.file_calls import FileCalls, may_change_elsewhere
from tpudiag.sources.job.held_back.file_points import Argument, Effect, Point, point
from tpudiag.sources.job.held_back.layer import Elsewhere, Layer, is_elsewhere
from tpudiag.sources.job.held_back.refusals import NO_NAME
from tpudiag.sources.job.tensorflow.points import barrier, hooks, user_lines

BINDINGS = (
    point("", "FileExists IsDirectory Stat BufferedInputStream", ("", Effect.READ)),
    point("", "WritableFile", ("", Effect.OPENED)),
    point("", "CreateDir RecursivelyCreateDir", ("", Effect.MADE)),
    point("", "DeleteFile", ("", Effect.FILE_GONE)),
    point("", "DeleteRecursively", ("", Effect.TREE_GONE)),
    point("", "CopyFile", ("", Effect.READ), ("", Effect.WRITTEN)),
    point("", "RenameFile", ("", Effect.MOVED), ("", Effect.WRITTEN)),
    point("", "GetChildren", ("", Effect.CHILDREN)),
    point("", "GetMatchingFiles", ("", Effect.MATCHES)),
)
"""What tf.io.gfile and all that reads and writes through it come down to.

Private (`lib.io._pywrap_file_io`), the same in TensorFlow 2.13 to 2.21. Where it moved the public
calls below are left, and the wall.
"""
PRIVATE = {
    "tensorflow.python.checkpoint.checkpoint": (
        point(":TrackableSaver", "save", ("file_prefix", Effect.WRITTEN), first=1),
        point(":TrackableSaver", "restore", ("save_path", Effect.READ), first=1),
    ),
    "tensorflow.python.saved_model.save": (
        point("", "save_and_return_nodes", ("export_dir", Effect.WRITTEN), first=1),
    ),
    "tensorflow.python.training.py_checkpoint_reader": (
        point("", "NewCheckpointReader", ("filepattern", Effect.READ)),
    ),
}
"""Where a path goes on into C++ without a public call (2.13 to 2.21): models of Keras 2 do."""
PUBLIC = (
    point(":io.TFRecordWriter", "__init__", ("path", Effect.WRITTEN), first=1),
    point(":io", "write_file", ("filename", Effect.WRITTEN)),
    point(":io", "read_file", ("filename", Effect.READ)),
    point(":train.CheckpointManager", "__init__", ("directory", Effect.MADE), first=2),
    point(":train.Checkpoint", "save write", ("file_prefix", Effect.WRITTEN), first=1),
    point(":train.Checkpoint", "restore read", ("save_path", Effect.READ), first=1),
    point(":saved_model", "save", ("export_dir", Effect.WRITTEN), first=1),
    point(":saved_model", "load", ("export_dir", Effect.READ)),
    point(":summary", "create_file_writer", ("logdir", Effect.WRITTEN)),
    point(":profiler.experimental", "start", ("logdir", Effect.WRITTEN)),
    point(":data.TFRecordDataset", "__init__", ("filenames", Effect.READ), first=1),
    point(":data.TextLineDataset", "__init__", ("filenames", Effect.READ), first=1),
    point(":data.FixedLengthRecordDataset", "__init__", ("filenames", Effect.READ), first=1),
    point(":data.Dataset", "cache", ("filename", Effect.WRITTEN), first=1),
    point(":data.Dataset", "save snapshot", ("path", Effect.WRITTEN), first=1),
)
"""Where a path goes on into an operation."""
STATIC = (
    point("", "load", ("path", Effect.READ)),
    point("", "list_files", ("file_pattern", Effect.PATTERN)),
)
_REMOTE = r"^([a-z][a-z0-9+.-]*)://"


class _Elsewhere(Elsewhere):
    """Remote file systems, by TensorFlow's own code."""

    def __init__(self, bindings: Any) -> None:
        self._exists, self._copy = bindings.FileExists, bindings.CopyFile

    def exists(self, path: str) -> bool:
        """Whether there is something at a path."""
        try:
            self._exists(path.encode())
        except Exception:  # what there is none of, or what cannot be asked
            return False
        return True

    def fetch(self, path: str, place: str) -> None:
        """Copy a file to this machine's disk."""
        self._copy(path.encode(), place.encode(), True)


def _absent_where_unreached(original: Any, path: Any, *args: Any) -> Any:
    """Whether there is something at a path; nothing where a library asks a bucket out of reach."""
    try:
        return original(path, *args)
    except Exception as error:
        by_script = user_lines.own_caller() is not None
        if by_script or not is_elsewhere(path) or not NO_NAME.search(str(error)):
            raise
        import tensorflow as tf

        raise barrier.for_job(tf.errors.NotFoundError(None, None, str(error))) from None


class TensorFlowFiles:
    """Redirects what TensorFlow reads and writes."""

    def __init__(self, layer: Layer) -> None:
        self._layer = layer
        self._calls = FileCalls(layer)

    def watch(self, tf: Any) -> None:
        """Hook the calls."""
        hooks.quietly(self._watch_bindings)
        for module, points in PRIVATE.items():
            hooks.quietly(self._watch_private, module, points)
        for api in (tf, tf.compat.v2, tf.compat.v1):
            self._watch_public(tf, api)
        for each in STATIC:
            self._around_static(tf.data.Dataset, each)

    def _watch_bindings(self) -> None:
        """Those of TensorFlow's own code for files."""
        bindings: Any = import_module("tensorflow.python.lib.io._pywrap_file_io")
        self._layer.elsewhere = _Elsewhere(bindings)
        hooks.around(bindings, "FileExists", _absent_where_unreached)
        for each in BINDINGS:
            self._calls.around(bindings, each)

    def _watch_private(self, module: str, points: tuple[Point, ...]) -> None:
        """Others that are private."""
        owner: Any = import_module(module)
        for each in points:
            self._calls.around(owner, each)

    def _watch_public(self, tf: Any, api: Any) -> None:
        """Those of one of TensorFlow's interfaces, where they are not those of another."""
        for each in PUBLIC:
            first, owner = (self._owner(top, each) for top in (tf, api))
            if owner is None or (api is not tf and (isinstance(owner, type) or owner is first)):
                continue
            self._calls.around(api, each)
            for name in each.names:
                if hasattr(owner, name):
                    call = self._of_tensors(tf, each.arguments[0])
                    hooks.around(owner, name, call, may_change_elsewhere(each.arguments))

    @staticmethod
    def _owner(api: Any, at: Point) -> Any:
        for part in at.module.strip(":").split("."):
            api = getattr(api, part, None)
        return api

    def _of_tensors(self, tf: Any, argument: Argument) -> Any:
        """A path that is a tensor as text, where its value is known; else those of buckets alone
        are redirected, in the graph, where they are written."""

        def call(original: Any, *args: Any, **kwargs: Any) -> Any:
            index, name = argument.index, argument.name
            path: Any = args[index] if len(args) > index else kwargs.get(name)
            if not tf.is_tensor(path) or path.dtype != tf.string or path.shape.rank != 0:
                return original(*args, **kwargs)
            if hasattr(path, "numpy") and tf.executing_eagerly():
                path = path.numpy().decode()
            elif argument.effect is Effect.WRITTEN:
                to = self._layer.folder.replace("\\", r"\\") + r"/\1__/"
                path = tf.strings.regex_replace(path, _REMOTE, to)
            if len(args) > index:
                return original(*args[:index], path, *args[index + 1 :], **kwargs)
            return original(*args, **{**kwargs, name: path})

        return call

    def _around_static(self, owner: Any, at: Point) -> None:
        """Hook static methods, which have no `self`."""
        redirected = self._calls.redirected(at.arguments)
        for name in at.names:
            original = getattr(owner, name)

            def call(*args: Any, _original: Any = original, **kwargs: Any) -> Any:
                return barrier.guarded(_original.__name__, redirected, _original, args, kwargs)

            setattr(owner, name, staticmethod(call))
