"""Whether an error is one for want of data: its kind, its words and what it came through tell."""

import dis
import linecache
import operator
import os
import re
import traceback
from collections.abc import Iterator
from itertools import compress
from types import FrameType, FunctionType
from typing import Any

from tpudiag.sources.job.points import user_lines

from . import paths
from .ledger import MARKER

_OF_MODEL = re.compile(
    r"keras[/\\](src[/\\])?(layers|models|engine|optimizers|trainers|applications|losses|metrics)"
    r"[/\\]|[/\\](keras_tensor|modeling_tf\w*|optimization_tf\w*)\.py"
)
"""Where models are made, which no data stand behind."""
_WRITING = re.compile(r"""open\(.*["'][wax]b?\+?["']|\b(to_csv|save|dump|mkdir|write)""")
"""No exception tells whether a file was to be read or written."""
_ABSENT = re.compile(
    r"FileNotFound|NotADirectory|NotFoundError|URLError|HTTPError|Connection|Timeout|gaierror|"
    r"CalledProcessError|DownloadError|MaxRetry|SSLError|ProxyError|EOFError|EmptyDataError|"
    r"RepositoryNotFound|LocalEntryNotFound|OfflineMode|DatasetNotFound|DefaultCredentials|ApiException"
)
"""Exceptions by which something is not there, or not in reach."""
_BEHIND = 3
"""Lines between a script's question and what it raises by the answer."""
_OF_NAMES = (NameError, ImportError, SyntaxError)
_OF_CODE = (NotImplementedError, MemoryError)
_OF_BRANCHES = UnboundLocalError
"""A local that no branch has set: values decide which one is taken."""
_ABSENT_BY_TEXT = re.compile(
    r"[Nn]o (such file|files match|file or directory)|os error 2\b|[Uu]nable to open file|"
    r"urlopen error|Errno -[23]\b|[Cc]ould(n't| not) resolve host|Failed to get matching files"
)
"""What libraries say under exceptions of no kind; the last are names of hosts that none answers."""
_NAMED = re.compile(r"""(["'`])([^"'`\n]{1,300})\1""")
"""What an error names, which may be a path."""
_BELOW = re.compile(r"[^:]*/[^:/]*\.\w{2,5}")
"""A file in a folder, whatever it holds."""
_OF_CALL = re.compile(
    r"(partially initialized )?module '|.*(unexpected keyword|positional) arguments?\b|"
    r".*\bno longer (supported|available|allowed)\b|Received incompatible devices"
)
"""A module or function is not, or not any more, what the script takes it for, whatever the data;
or arrays that were put on some devices meet others."""
_MAKING = ("__init__", "__post_init__", "setup")
_LIBRARY = re.compile(r"(tensorflow|keras|tf_keras)\.")
_TRAINS = re.compile(r"(keras|tensorflow)[/\\]")
_TRAINING = ("fit", "fit_generator", "train_on_batch", "run", "train_step", "gradient", "minimize")


def is_of_code(error: Exception) -> bool:
    """Whether nothing that is missing brings it about: code, or a call that does not fit."""
    return isinstance(error, _OF_CODE) or is_of_names(error)


def is_of_names(error: Exception) -> bool:
    """Whether a name is not there, which no values bring about, or the rehearsal refused it."""
    of_call = _OF_CALL.match(str(error)) is not None
    if of_call and "positional" in str(error):
        # What a library calls, or is unpacked, values tell: `f(*row)`.
        frame, line = [*traceback.walk_tb(error.__traceback__)][-1]
        file = frame.f_code.co_filename
        of_call = user_lines.is_user_file(file) and "*" not in linecache.getline(file, line)
    refused = type(error).__name__ == "NotRehearsable"
    of_names = isinstance(error, _OF_NAMES) and not isinstance(error, _OF_BRANCHES)
    return refused or of_names or of_call or _is_of_release(error)


def _is_of_release(error: Exception) -> bool:
    """Whether a part of TensorFlow or Keras that holds no data has not what it is asked for."""
    # AutoGraph raises one of the same kind in the place of the first, which alone knows more.
    objects = (getattr(each, "obj", None) for each in (error, error.__context__))
    # An object may raise it itself, in its own words, and not Python.
    refuses = _frames(error)[-1:] if getattr(error, "name", "") is None else []
    owners = (frame.f_locals.get("self") for frame in refuses)
    asked = next((each for each in (*objects, *owners) if each is not None), None)
    if not isinstance(error, AttributeError) or asked is None or isinstance(asked, type):
        return False
    ours = any(_LIBRARY.match(each.__module__) for each in type(asked).__mro__)
    return ours and not (hasattr(asked, "shape") or hasattr(asked, "element_spec"))


def _frames(error: Exception) -> list[FrameType]:
    return [frame for frame, _ in traceback.walk_tb(error.__traceback__)]


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error and what it was raised for, as libraries say that nothing answers in their words."""
    while error is not None:
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def is_absent(error: Exception) -> bool:
    """Whether something that was to be read is not there, or not in reach."""
    kinds = " ".join(kind.__name__ for each in _causes(error) for kind in type(each).__mro__)
    text = str(error)
    absent = bool(_ABSENT.search(kinds) or _ABSENT_BY_TEXT.search(text)) or _names_no_file(text)
    # What the environment has not, a host has.
    return (absent and not _writes(error)) or _is_told_by_the_script(error) or _is_of_host(error)


def _names_no_file(text: str) -> bool:
    """Whether an error, of whatever library, names a file of data that is not there."""
    named = [each[2] for each in _NAMED.finditer(text[:2000])]
    below = filter(_BELOW.fullmatch, named)
    return MARKER in text or any(map(paths.is_absent, named)) or any(map(paths.is_missing, below))


def _is_of_host(error: Exception) -> bool:
    """Whether a variable of the environment is not set, as the host of a notebook sets it."""
    last = _frames(error)[-1:]
    return isinstance(error, KeyError) and any(f.f_globals is os.__dict__ for f in last)


def _is_told_by_the_script(error: Exception) -> bool:
    """Whether a path that is not there was asked for just before, or by what the line called."""
    passed = error.__traceback__
    while passed is not None:
        code = passed.tb_frame.f_code
        asked = paths.in_vain.get(code, -_BEHIND - 1)
        if passed.tb_next is not None and passed.tb_lineno == asked:
            return True
        raises = dis.opname[code.co_code[passed.tb_lasti]] == "RAISE_VARARGS"
        if raises and abs(passed.tb_lineno - asked) <= _BEHIND:
            return True
        passed = passed.tb_next
    return False


def is_of_hole(error: Exception) -> bool:
    """Whether an error says that something cannot be done with a hole."""
    return re.search(r"\bHole\b", str(error)) is not None


def is_of_types(error: Exception) -> bool:
    """Whether types do not fit, which no value of the right type brings about: code, or its age."""
    return isinstance(error, (AttributeError, TypeError)) and "NoneType" not in str(error)


def is_of_kinds(error: Exception) -> bool:
    """Whether an operation has no kernel for numbers of such a kind, as of a step that is int64."""
    return "is not in the list of allowed values" in str(error)


def receivers(error: Exception) -> Iterator[object]:
    """Objects of which the script called a library's method, or asked what they have not."""
    at = _frames(error)
    users = [user_lines.is_user_file(frame.f_code.co_filename) for frame in at]
    called = [*compress(at[1:], map(operator.gt, users, users[1:]))]
    taken: Iterator[Any] = (next(iter(frame.f_locals.values()), None) for frame in called)
    firsts = (each[0] if each.__class__ is tuple and each else each for each in taken)
    yield from (
        each for each in (getattr(error, "obj", None), *firsts) if hasattr(each, "__dict__")
    )


def is_of_model(error: Exception) -> bool:
    """Whether an error came of a model: its layers, its optimizer, how it is put together."""
    of_keras = any(_OF_MODEL.search(file) for _, file in _passed(error))
    return of_keras or _is_of_making(error)


def _is_of_making(error: Exception) -> bool:
    """Whether a class of modules, of any library of JAX, refuses how the script makes one."""
    makers = set[str]()
    for frame in _frames(error):
        if frame.f_code.co_name in _MAKING:
            bases = type(frame.f_locals.get("self")).__mro__
            makers |= {c.__module__.split(".")[0] for c in bases if c.__name__ == "Module"}
        if frame.f_globals.get("__name__", "").split(".")[0] in makers:
            return True
    return False


def is_of_training(error: Exception) -> bool:
    """Whether an error went through a training step, or what trains could not be imported, or the
    rehearsal refused something."""
    trains = ((name, file) for name, file in _passed(error) if _TRAINS.search(file))
    return type(error).__name__ == "NotRehearsable" or any(
        name in _TRAINING or (name == "<module>" and not user_lines.is_user_file(file))
        for name, file in trains
    )


def _passed(error: Exception) -> Iterator[tuple[str, str]]:
    """The functions that an error came through, and their files.

    Keras takes its own frames out of a traceback, but for one that holds the function it called.
    """
    for frame in _frames(error):
        yield frame.f_code.co_name, frame.f_code.co_filename
        called = frame.f_locals.get("fn")
        if isinstance(called, FunctionType):
            yield called.__name__, called.__code__.co_filename


def _writes(error: Exception) -> bool:
    """Whether what is not there is the folder of a file that is to be written."""
    places = ((f.f_code.co_filename, at) for f, at in traceback.walk_tb(error.__traceback__))
    users = [at for at in places if user_lines.is_user_file(at[0])]
    return any(_WRITING.search(linecache.getline(*at)) for at in users[-1:])
