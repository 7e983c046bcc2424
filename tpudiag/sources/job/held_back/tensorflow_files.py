"""TensorFlow's calls that name files, which its C++ code opens."""

from typing import Any

from tpudiag.sources.job.held_back.file_calls import FileCalls, may_change_elsewhere
from tpudiag.sources.job.held_back.layer import Layer, is_elsewhere
from tpudiag.sources.job.held_back.refusals import NO_NAME
from tpudiag.sources.job.points import Call, Library, barrier, files, hooks, user_lines
from tpudiag.sources.job.points.files import Argument, Effect

_REMOTE = r"^([a-z][a-z0-9+.-]*)://"


def _absent_where_unreached(original: Call, path: object, *args: object) -> object:
    """Whether something exists at a path; False where a library checks an unreachable bucket."""
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

    def watch(self, tf: Library) -> None:
        """Hook the calls."""
        hooks.quietly(self._ask_elsewhere)
        for each in (*files.TENSORFLOW, *files.OF_TENSORS):
            hooks.quietly(self._calls.around, each)
        for each in files.OF_TENSORS:
            call = self._of_tensors(tf, each.arguments[0])
            hooks.around(each.at, call, sends=may_change_elsewhere(each.arguments))

    def _ask_elsewhere(self) -> None:
        """Access other file systems by TensorFlow's own file code."""
        places = (*files.FILE_ASKED.places(), *files.FILE_COPIED.places())
        asked, copied = (getattr(owner, name) for owner, name in places)

        def exists(path: str) -> bool:
            try:
                asked(path.encode())
            except Exception:  # it does not exist, or cannot be accessed
                return False
            return True

        self._layer.exists_elsewhere = exists
        self._layer.fetch = lambda path, place: copied(path.encode(), place.encode(), True)
        hooks.around(files.FILE_ASKED, _absent_where_unreached)

    def _of_tensors(self, tf: Library, argument: Argument) -> Call:
        """Redirect a path that is a tensor, as text where its value is known; else, in the graph,
        those of buckets that are written."""

        def call(original: Call, *args: object, **kwargs: object) -> object:
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
