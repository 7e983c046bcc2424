# ruff: noqa: E501  (texts of other programs stay as they are)
"""Values, indices and names that Python itself refuses."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase

ERRORS = (
    KnownError(
        id="E499",
        family="out-of-bounds",
        phase=Phase.ANY,
        kind=Kind.BROAD,
        patterns=(
            r"(?:list|tuple|string|pop) (?:assignment )?index out of range",
            r"IndexError: pop from empty list",
            r"IndexError: .{0,60}?out of (?:range|bounds)",
            r"ZeroDivisionError",
            r"(?:float )?division by zero",
            r"\(\) arg is an empty sequence",
            r"iterable argument is empty",
            r"Cannot choose from an empty sequence",
            r"ValueError: (?:Sample larger than population|empty range for)",
            r"need at least one array to \w{3,12}",
            r"shorter than minimum length \d",
            r"passed list of length \d{1,4} less than minimum \d",
            r"Cannot pack an empty list of tensors",
            r"Length of params is currently 0",
            r"zero-size array to reduction operation",
            r"get arg(?:max|min) of an empty sequence",
            r"non-empty jnp\.take\(\) from an empty axis",
        ),
        cause="A list is shorter than expected, mostly empty: no file matched a pattern, no TPU or GPU is there (list_logical_devices gives []), a dataset has fewer examples than one global batch (steps become 0).",
        fix="""\
files = tf.io.gfile.glob(pattern); assert files, pattern
devices = tf.config.list_logical_devices("TPU"); assert devices, "no TPU here"
steps = max(1, N_EXAMPLES // global_batch)""",
        evidence="recalled",
        example="IndexError: list index out of range",
        yields_to=("E54", "E493"),
    ),
    KnownError(
        id="E500",
        family="text-encoding",
        phase=Phase.READING,
        patterns=(
            r"UnicodeDecodeError: '(?P<codec>[\w-]{1,20})' codec can't decode byte",
            r"UnicodeEncodeError: '(?P<codec>[\w-]{1,20})' codec can't encode",
            r"codec can't (?:de|en)code (?:byte|character)",
            r"a bytes-like object is required, not '?str",
            r"(?:must be str|expected str|can't concat), not bytes",
            r"'bytes' object has no attribute '(?:encode|format)'",
            r"'str' object has no attribute 'decode'",
        ),
        cause="Bytes are read as text or the reverse: a binary file (TFRecord, pickle, image, gzip) opened as text, a text in another encoding, or a library of the time of Python 2 or h5py 2.",
        fix="""\
open(path, "rb"); tf.io.gfile.GFile(path, "rb")                  # binary files
open(path, encoding="utf-8", errors="replace"); export PYTHONIOENCODING=utf-8 LANG=C.UTF-8
pickle.load(file, encoding="latin1")                              # pickles of Python 2
pip install "h5py<3"                                              # 'str' object has no attribute 'decode' while a TensorFlow before 2.4 loads .h5""",
        evidence="recalled",
        example="UnicodeDecodeError: 'utf-8' codec can't decode byte 0x89 in position 0: invalid start byte",
        yields_to=("E205",),
    ),
    KnownError(
        id="E501",
        family="recursion",
        phase=Phase.ANY,
        patterns=(r"maximum recursion depth exceeded", r"RecursionError"),
        cause="A function calls itself without end: mostly an attribute of a layer or model that is looked up before super().__init__() ran, a wrapper around a wrapper (a notebook cell run twice), or a model nested thousands of levels deep when it is copied or pickled.",
        fix="""\
super().__init__(**kwargs)                              # first statement of __init__ of layers and models
# notebooks: restart the runtime, then run each cell once
import sys; sys.setrecursionlimit(10_000)                # only where the nesting is meant: very deep models""",
        evidence="recalled",
        example="RecursionError: maximum recursion depth exceeded while calling a Python object",
    ),
    KnownError(
        id="N15",
        family="interrupted",
        phase=Phase.ANY,
        level="info",
        patterns=(r"(?<!except)(?<!\()KeyboardInterrupt(?![,)])",),
        cause="No error of the program: it was stopped by Ctrl-C, the stop button of a notebook, or a signal sent by a scheduler. The traceback shows what it was at.",
        fix="""\
# stopped because it seemed to hang? look where it waited:
py-spy dump --pid PID                                     # the stack of the running process
tpudiag attach PID                                         # what the TPU does meanwhile""",
        evidence="recalled",
        example="KeyboardInterrupt",
        near_miss="except (KeyboardInterrupt, SystemExit):",
    ),
)
