"""The table of calls that name files, and what each does to the file that an argument names."""

from dataclasses import dataclass
from enum import Enum

from tpudiag.sources.job.points import point


class Effect(Enum):
    """The effect of a call on the file named by an argument."""

    READ = "read"
    ENTERED = "entered"
    MADE = "made"
    CHANGED = "changed"
    MOVED = "moved"
    FILE_GONE = "file gone"
    FOLDER_GONE = "folder gone"
    TREE_GONE = "tree gone"
    LINKED = "linked"
    """A link's target; the next argument is the link."""
    WRITTEN = "written"
    """As MADE, and it is a file."""
    LISTED = "listed"
    ENTRIES = "entries"
    OPENED = "opened"
    """By the next argument: a mode or flags."""
    NAMED = "named"
    """The call returns paths, through redirected calls: files written by the job by their places,
    for code whose calls are not redirected."""
    TOLD = "told"
    """The call returns a path."""
    CHILDREN = "children"
    """As LISTED, of a folder that may be remote."""
    MATCHES = "matches"
    """The names matching a pattern."""
    PATTERN = "pattern"
    """One or several patterns passed on into an operation."""


@dataclass(frozen=True)
class Argument:
    """One argument of a call, by position and name."""

    index: int
    name: str
    effect: Effect
    at: str = "dir_fd"
    """The argument with the folder that a relative path starts from."""


@dataclass(frozen=True)
class FileCalls:
    """A row: the calls, and the arguments that name files."""

    at: point.Point
    arguments: tuple[Argument, ...]


_WHY = "files are named: what is written goes into a layer, and what was written is read there"
_RELEASES = "those that have it; the system's wall stands behind"


def _calls(owners: str, names: str, *arguments: tuple[str, Effect], first: int = 0) -> FileCalls:
    """Calls whose first arguments name files; the first one has number `first`."""
    ats = ("src_dir_fd", "dst_dir_fd") if len(arguments) > 1 else ("dir_fd",)
    named = (
        Argument(index, name, effect, ats[min(index - first, len(ats) - 1)])
        for index, (name, effect) in enumerate(arguments, first)
    )
    return FileCalls(point.point(owners, names, _WHY, _RELEASES), tuple(named))


def _of_tensorflow(
    module: str, names: str, *arguments: tuple[str, Effect], first: int = 0
) -> FileCalls:
    return _calls(
        f"tf.{module} tf.compat.v2.{module} tf.compat.v1.{module}", names, *arguments, first=first
    )


PYTHON = (
    _calls("builtins", "open", ("file", Effect.OPENED)),
    _calls("io", "open", ("file", Effect.OPENED)),  # as pathlib opens a file
    _calls("tarfile", "bltn_open", ("file", Effect.OPENED)),
    _calls("bz2", "_builtin_open", ("file", Effect.OPENED)),
    _calls("os", "open", ("path", Effect.OPENED)),
    _calls("os", "stat lstat access readlink statvfs", ("path", Effect.READ)),
    _calls("os", "chdir", ("path", Effect.ENTERED)),
    _calls("os", "getcwd", ("", Effect.TOLD)),
    _calls(
        "os", "chmod chown lchown utime truncate setxattr removexattr", ("path", Effect.CHANGED)
    ),
    _calls("os", "mkdir mkfifo mknod", ("path", Effect.MADE)),
    _calls("os", "remove unlink", ("path", Effect.FILE_GONE)),
    _calls("os", "rmdir", ("path", Effect.FOLDER_GONE)),
    _calls("os", "rename replace", ("src", Effect.MOVED), ("dst", Effect.MADE)),
    _calls("os", "link", ("src", Effect.CHANGED), ("dst", Effect.MADE)),
    _calls("os", "symlink", ("src", Effect.LINKED)),
    _calls("os", "listdir", ("path", Effect.LISTED)),
    _calls("os", "scandir", ("path", Effect.ENTRIES)),
    _calls("os", "walk", ("top", Effect.NAMED)),
    _calls("glob", "glob iglob", ("", Effect.NAMED)),
    _calls("pathlib.Path", "glob rglob iterdir", ("", Effect.NAMED)),
    _calls("shutil", "rmtree", ("path", Effect.TREE_GONE)),
)
"""Python's own calls."""
BY_C_CODE = (
    _calls("sqlite3", "connect", ("database", Effect.CHANGED)),
    _calls("sqlite3.dbapi2", "connect", ("database", Effect.CHANGED)),
    _calls("h5py._hl.files.File", "__init__", ("name", Effect.OPENED), first=1),
)
"""Libraries that open files in C code; others meet the wall, where there is one."""
_BINDINGS = "tensorflow.python.lib.io._pywrap_file_io"
_SAVER = "tensorflow.python.checkpoint.checkpoint.TrackableSaver"
FILE_ASKED = point.point(_BINDINGS, "FileExists", "a library asks a bucket out of reach", _RELEASES)
FILE_COPIED = point.point(_BINDINGS, "CopyFile", "what is fetched from a bucket", _RELEASES)
TENSORFLOW = (
    _calls(_BINDINGS, "FileExists IsDirectory Stat BufferedInputStream", ("", Effect.READ)),
    _calls(_BINDINGS, "WritableFile", ("", Effect.OPENED)),
    _calls(_BINDINGS, "CreateDir RecursivelyCreateDir", ("", Effect.MADE)),
    _calls(_BINDINGS, "DeleteFile", ("", Effect.FILE_GONE)),
    _calls(_BINDINGS, "DeleteRecursively", ("", Effect.TREE_GONE)),
    _calls(_BINDINGS, "CopyFile", ("", Effect.READ), ("", Effect.WRITTEN)),
    _calls(_BINDINGS, "RenameFile", ("", Effect.MOVED), ("", Effect.WRITTEN)),
    _calls(_BINDINGS, "GetChildren", ("", Effect.CHILDREN)),
    _calls(_BINDINGS, "GetMatchingFiles", ("", Effect.MATCHES)),
    _calls(_SAVER, "save", ("file_prefix", Effect.WRITTEN), first=1),
    _calls(_SAVER, "restore", ("save_path", Effect.READ), first=1),
    _calls(
        "tensorflow.python.saved_model.save",
        "save_and_return_nodes",
        ("export_dir", Effect.WRITTEN),
        first=1,
    ),
    _calls(
        "tensorflow.python.training.py_checkpoint_reader",
        "NewCheckpointReader",
        ("filepattern", Effect.READ),
    ),
    _calls("tf.data.Dataset", "load", ("path", Effect.READ)),
    _calls("tf.data.Dataset", "list_files", ("file_pattern", Effect.PATTERN)),
)
"""Where tf.io.gfile and everything that uses it end up, and where a path enters C++ without a
public call (models of Keras 2).

Private, unchanged from TensorFlow 2.13 to 2.21. Where it moved, the tensor calls and the wall
remain.
"""
OF_TENSORS = (
    _calls("tf.io.TFRecordWriter", "__init__", ("path", Effect.WRITTEN), first=1),
    _of_tensorflow("io", "write_file", ("filename", Effect.WRITTEN)),
    _of_tensorflow("io", "read_file", ("filename", Effect.READ)),
    _calls("tf.train.CheckpointManager", "__init__", ("directory", Effect.MADE), first=2),
    _calls("tf.train.Checkpoint", "save write", ("file_prefix", Effect.WRITTEN), first=1),
    _calls("tf.train.Checkpoint", "restore read", ("save_path", Effect.READ), first=1),
    _of_tensorflow("saved_model", "save", ("export_dir", Effect.WRITTEN), first=1),
    _of_tensorflow("saved_model", "load", ("export_dir", Effect.READ)),
    _of_tensorflow("summary", "create_file_writer", ("logdir", Effect.WRITTEN)),
    _of_tensorflow("profiler.experimental", "start", ("logdir", Effect.WRITTEN)),
    _calls("tf.data.TFRecordDataset", "__init__", ("filenames", Effect.READ), first=1),
    _calls("tf.data.TextLineDataset", "__init__", ("filenames", Effect.READ), first=1),
    _calls("tf.data.FixedLengthRecordDataset", "__init__", ("filenames", Effect.READ), first=1),
    _calls("tf.data.Dataset", "cache", ("filename", Effect.WRITTEN), first=1),
    _calls("tf.data.Dataset", "save snapshot", ("path", Effect.WRITTEN), first=1),
)
"""Where a path enters an operation, possibly as a tensor."""
RAW_FILE = point.point("io", "FileIO", "files that C code opens by Python's class", _RELEASES)
KEPT = point.point("", "", "classes of pathlib (3.10) and glob (3.13) keep functions of os")
