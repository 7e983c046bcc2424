"""TensorFlow's calls that name files, which its C++ code opens."""

from tpudiag.sources.job.held_back.file_calls import FileCalls, may_change_elsewhere, with_path
from tpudiag.sources.job.held_back.file_lists import given
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


def watch(layer: Layer, tf: Library) -> None:
    """Redirect what TensorFlow reads and writes."""
    calls = FileCalls(layer)
    hooks.quietly(_ask_elsewhere, layer)
    for each in (*files.TENSORFLOW, *files.OF_TENSORS):
        hooks.quietly(calls.around, each)
    for each in files.OF_TENSORS:
        call = _of_tensors(layer, tf, each.arguments[0])
        hooks.around(each.at, call, sends=may_change_elsewhere(each.arguments))


def _ask_elsewhere(layer: Layer) -> None:
    """Access other file systems by TensorFlow's own file code."""
    places = (*files.FILE_ASKED.places(), *files.FILE_COPIED.places())
    asked, copied = (getattr(owner, name) for owner, name in places)

    def exists(path: str) -> bool:
        try:
            asked(path.encode())
        except Exception:  # it does not exist, or cannot be accessed
            return False
        return True

    layer.exists_elsewhere = exists
    layer.fetch = lambda path, place: copied(path.encode(), place.encode(), True)
    hooks.around(files.FILE_ASKED, _absent_where_unreached)


def _of_tensors(layer: Layer, tf: Library, argument: Argument) -> Call:
    """Redirect a path that is a tensor, as text where its value is known; else, in the graph, those
    of buckets that are written."""

    def call(original: Call, *args: object, **kwargs: object) -> object:
        path = given(argument, args, kwargs)
        if not tf.is_tensor(path) or path.dtype != tf.string or path.shape.rank != 0:
            return original(*args, **kwargs)
        if hasattr(path, "numpy") and tf.executing_eagerly():
            path = path.numpy().decode()
        elif argument.effect is Effect.WRITTEN:
            to = layer.folder.replace("\\", r"\\") + r"/\1__/"
            path = tf.strings.regex_replace(path, _REMOTE, to)
        args, kwargs = with_path(argument, path, args, kwargs)
        return original(*args, **kwargs)

    return call
