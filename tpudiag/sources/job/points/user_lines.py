"""Which line of the user's code is behind a call or an operation."""

import os
import re
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from tpudiag.model import Location
from tpudiag.sources.job.points import hooks, table

_PACKAGE = str(Path(__file__).resolve().parents[3])
_REFERENCE = os.path.join(_PACKAGE, "reference") + os.sep  # noqa: PTH118
_HOOKS = str(Path(__file__).resolve().parents[1]) + os.sep
_OF_PYTHON = tuple({sysconfig.get_paths()[name] + os.sep for name in ("stdlib", "platstdlib")})
_LIBRARIES = (
    *_OF_PYTHON,
    *{sysconfig.get_paths()[name] + os.sep for name in ("purelib", "platlib")},
)
_KERAS = re.compile(r"[/\\\\](tf_)?keras[/\\\\]")
_DECORATORS = "tensorflow.python.util."
_LATER = frozenset(("build", "call", "__call__"))
"""Methods of a layer that run after it was made."""
# Read at once, for the job may change its folder.
_STARTED_IN = os.getcwd()  # noqa: PTH109
_own: list[str] = []
"""Folders of libraries that are the program here, for `-m` names a module of theirs."""
_generated: dict[tuple[str, int], Location] = {}
"""Lines of code that AutoGraph generated -> the user's lines they were made from."""


@cache
def is_user_file(file: str) -> bool:
    """Whether a file is the user's own: no library, no generated code, not tpudiag's hooks."""
    if file.startswith("<") or "__autograph_generated_file" in file:
        return False
    path = os.path.abspath(file)  # noqa: PTH100
    if path.startswith((_REFERENCE, *_own)):
        return True
    # Also site-packages of other Pythons and zipped ones, which this interpreter's own paths do not
    # name.
    if path.startswith(_PACKAGE + os.sep) or "site-packages" in path or "dist-packages" in path:
        return False
    return not path.startswith(_LIBRARIES)


def own_package(module: str) -> None:
    """The program is a module that is run by `-m`: its whole package is the user's code here."""
    try:
        spec = find_spec(module.partition(".")[0])
    except (ImportError, ValueError):
        return
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        _own.append(os.path.abspath(folder) + os.sep)  # noqa: PTH100
    is_user_file.cache_clear()


def user_files() -> tuple[str, ...]:
    """The files of the user's modules that were imported so far."""
    files = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
    return tuple(sorted(os.path.abspath(f) for f in files if f and is_user_file(f)))  # noqa: PTH100


@cache
def _shown(file: str) -> str:
    """A file below the folder that the job was started in, as seen from there."""
    return file.removeprefix(_STARTED_IN + os.sep)


def of(file: str, line: int) -> Location | None:
    """A line as the user wrote it; None where it is not the user's."""
    if "__autograph_generated_file" in file:
        original = _generated.get((file, line))
        return original if original is not None and is_user_file(original.file) else None
    return Location(_shown(file), line) if is_user_file(file) else None


def of_frame(frame: FrameType | None) -> Location | None:
    """The user's line that a frame is at; None where it is not the user's."""
    return None if frame is None else of(frame.f_code.co_filename, frame.f_lineno)


class Line(NamedTuple):
    """A line of user code that is under way."""

    file: str
    function: str
    number: int


def line_of(frame: FrameType, number: int) -> Line | None:
    """The line of a frame as the user wrote it; None where it is not the user's."""
    code = frame.f_code
    location = of(code.co_filename, number)
    if location is None:
        return None
    generated = "__autograph_generated_file" in code.co_filename
    file = location.file if generated else code.co_filename
    return Line(file, code.co_name.removeprefix("tf__"), location.line or 0)


def frames(begin: FrameType | None = None) -> Iterator[FrameType]:
    """The stack from a frame on, else this thread's, innermost first."""
    frame: FrameType | None = begin or sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        yield frame
        frame = frame.f_back


def stack() -> tuple[Line, ...]:
    """The lines of user code on this thread's stack, outermost first."""
    lines = [line_of(frame, frame.f_lineno) for frame in frames()]
    return tuple(line for line in reversed(lines) if line is not None)


def is_hook(file: str) -> bool:
    """Whether a file is one of these hooks."""
    return file.startswith(_HOOKS)


def caller() -> Location | None:
    """The innermost line of user code on this thread's stack."""
    located = (of_frame(frame) for frame in frames())
    return next((location for location in located if location is not None), None)


def outside_keras() -> Location | None:
    """The innermost line on this thread's stack that is neither Keras' nor one of these hooks."""
    for frame in frames():
        file = frame.f_code.co_filename
        known = of(file, frame.f_lineno)
        other = not (is_hook(file) or _KERAS.search(file) or file.startswith("<"))
        if known is not None or (other and "__autograph_generated_file" not in file):
            return known or Location(file, frame.f_lineno)
    return None


def called() -> tuple[str, str]:
    """Module and name of the library function that the innermost line of user code called.

    TensorFlow's decorators around it are passed over.
    """
    module = name = ""
    for frame in frames():
        if of_frame(frame) is not None:
            break
        here = str(frame.f_globals.get("__name__", ""))
        # Every public function of TensorFlow goes through a dispatch decorator: without this all
        # calls would be called `wrapper`.
        if not (frame.f_code.co_filename.startswith(_HOOKS) or here.startswith(_DECORATORS)):
            module, name = here, frame.f_code.co_name
    return module, name


def direct_frame() -> FrameType | None:
    """The frame that called the hooked function, or imports."""
    for frame in frames():
        name = str(frame.f_globals.get("__name__", ""))
        if not (is_hook(frame.f_code.co_filename) or "importlib" in name):
            return frame
    return None


def frame_above(files: tuple[str, ...]) -> FrameType | None:
    """The innermost frame that is neither of these hooks nor in a file that ends so."""
    of_code = ((frame, frame.f_code.co_filename) for frame in frames())
    return next(
        (each for each, file in of_code if not (is_hook(file) or file.endswith(files))), None
    )


def direct_caller() -> Location | None:
    """The line that called the hooked function, or imports; None where a library does."""
    return of_frame(direct_frame())


def through_python() -> bool:
    """Whether what runs now was called by user code, through Python's own library at most."""
    for frame in frames():
        file = frame.f_code.co_filename
        if is_user_file(file):
            return True
        hook = is_hook(file) and "fake_data" not in file  # which makes files of its own
        if not (hook or file.startswith(("<frozen", *_OF_PYTHON))) or "-packages" in file:
            return False
    return False


def own_caller() -> Location | None:
    """The line that called the hooked function; None where a library but TensorFlow did.

    What AutoGraph converted calls through functions of TensorFlow's.
    """
    for frame in frames():
        location = of_frame(frame)
        module = str(frame.f_globals.get("__name__", ""))
        own = is_hook(frame.f_code.co_filename) or module.startswith("tensorflow.python.")
        if location is not None or not own:
            return location
    return None


def maker() -> Location | None:
    """The innermost line of user code on this thread's stack, behind what is made just now.

    None where a library makes it for itself while something of the library's is built or called:
    that line may be any, such as that of `fit`.
    """
    for frame in frames():
        location = of_frame(frame)
        later = frame.f_code.co_name in _LATER and not is_hook(frame.f_code.co_filename)
        if location is not None or later:
            return location
    return None


def of_frames(frames: Iterable[Any]) -> Location | None:
    """The innermost line of user code in a traceback's or an operation's frames."""
    location = None
    for frame in frames:
        location = of(frame.filename, frame.lineno) or location
    return location


def of_own_call(frames: Iterable[Any]) -> Location | None:
    """The innermost line of user code, where that called TensorFlow itself and not Keras."""
    location = None
    for frame in frames:
        own = of(frame.filename, frame.lineno)
        if own is not None:
            location = own
        elif _KERAS.search(frame.filename):
            location = None
    return location


def of_function(function: object) -> Location | None:
    """Where a Python function is defined, if that is user code."""
    code = getattr(function, "__code__", None)
    return None if code is None else of(code.co_filename, code.co_firstlineno)


def first_replica_value(value: object) -> object:
    """The first replica's part of a per-replica value; anything else as it is."""
    # `values` of a dict is a method: it has no items.
    values: Any = getattr(value, "values", None)
    return values[0] if hasattr(values, "__getitem__") and len(values) else value


def follow_autograph() -> None:
    """Learn from AutoGraph which user line each generated line was made from.

    Where it moved, lines inside traced functions are not named; nothing else is lost.
    """

    def create_source_map(
        create: Callable[..., dict[Any, Any]], *args: object, **kwargs: object
    ) -> object:
        source_map = create(*args, **kwargs)
        for generated, origin in source_map.items():
            _generated[generated.filename, generated.lineno] = Location(
                _shown(origin.loc.filename), origin.loc.lineno
            )
        return source_map

    hooks.around(table.CODE_GENERATED, create_source_map)
