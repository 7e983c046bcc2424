# ruff: noqa: E501  (sentences stay in one piece)
"""What can be said of an error that is not known: what its kind means, and what to look at next."""

from __future__ import annotations

import re

from tpudiag.records import dataclass

from .catalogue import shared
from .model import Phase
from .place import operation_in, place_of
from .readings import FORM, narrower

_STATUSES = (
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "ABORTED",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
)
_STATUS = re.compile(rf"\b({'|'.join(_STATUSES)})\b")
_CLASS_OF = {"".join(part.capitalize() for part in name.split("_")): name for name in _STATUSES}
_CLASS = re.compile(rf"\b({'|'.join(_CLASS_OF)})Error\b")
_WORDS_OF = {name.replace("_", " ").capitalize(): name for name in _STATUSES if "_" in name}
_WORDS = re.compile(rf"\b({'|'.join(_WORDS_OF)}): ")

_MEANS = {
    "CANCELLED": "It was cancelled because something else failed: the cause is an earlier error.",
    "INVALID_ARGUMENT": "An operation refused what it was given: a shape, a type, a value out of range, or an operation that cannot be compiled.",
    "DEADLINE_EXCEEDED": "Another process did not answer in time: it is busy, was not started, or cannot be reached.",
    "NOT_FOUND": "Something is not there: a file, a variable or table that was not made on this device, an operation that this build does not know.",
    "ALREADY_EXISTS": "Something is made for the second time in one process: a resource, a profiler session, a name.",
    "ABORTED": "It was given up because another process or replica failed: the cause is in its log.",
    "PERMISSION_DENIED": "The account has no right to it.",
    "UNAUTHENTICATED": "There is no valid login.",
    "RESOURCE_EXHAUSTED": "Something is full: the TPU's memory, the host's, a quota, or the size of a message.",
    "FAILED_PRECONDITION": "Something had to be done first: a variable or table initialised, the TPU set up, a server started.",
    "OUT_OF_RANGE": "The data ended, or an index is past the end.",
    "UNIMPLEMENTED": "This device, file system or compiler cannot do that operation for that type or shape.",
    "INTERNAL": "A check inside TensorFlow, the compiler or the runtime failed, or a remote worker failed in a way that it did not explain.",
    "UNAVAILABLE": "Another process went away or cannot be reached: mostly a worker that died, so the cause is in its log.",
    "DATA_LOSS": "A file is damaged or cut off.",
    "ImportError": "A package or a name in it is missing, or two packages are of releases that do not belong together.",
    "ModuleNotFoundError": "A package is not installed in this Python, or the module moved in its release.",
    "AttributeError": "The object has no such attribute: mostly a name that is gone or new in this release of the package, or None where an object was expected.",
    "TypeError": "A function got an argument that it does not take: another release's signature, or a value of another type (a tensor of all replicas, None).",
    "KeyError": "A name is not in a dict: of a metric, a feature, an environment variable, a column.",
    "ValueError": "A value is refused: of a shape, a configuration, an argument.",
    "FileNotFoundError": "The path does not exist on this machine.",
}
_NEXT = {
    Phase.INSTALLING: 'pip list | grep -iE "tensorflow|keras|libtpu|jax|numpy|protobuf"\npip check',
    Phase.CREATING: "gcloud compute tpus tpu-vm describe NAME --zone=ZONE\ngcloud compute tpus locations list",
    Phase.RESOLVING: 'env | grep -E "TPU|COLAB|KAGGLE"\npython -c "import tensorflow as tf; print(tf.distribute.cluster_resolver.TPUClusterResolver(tpu=\'local\').master())"',
    Phase.CONNECTING: "gcloud compute tpus tpu-vm describe NAME --zone=ZONE --format='value(state,health)'\nnc -vz ADDRESS 8470",
    Phase.INITIALISING: "ls -l /dev/accel* /dev/vfio/*; sudo lsof -w /dev/accel* /dev/vfio/*\nls -t /tmp/tpu_logs/ | head",
    Phase.BUILDING: "tpudiag check train.py --for v5e-8      # rehearses the script without a TPU, and names the line",
    Phase.TRACING: "tpudiag check train.py --for v5e-8      # rehearses the step without a TPU, and names the line",
    Phase.COMPILING: "tpudiag check train.py --for v5e-8      # compiles the step for the TPU without one, and names the line",
    Phase.LOADING: "tpudiag check train.py --for v5e-8      # what the program needs of the TPU's memory",
    Phase.EXECUTING: "tpudiag check train.py --for v5e-8      # the first steps without a TPU: does it fail there too?\nprint(dataset.element_spec)",
    Phase.READING: "for batch in dataset.take(1): print(tf.nest.map_structure(lambda t: (t.dtype, t.shape), batch))      # on a CPU: does it fail too?",
    Phase.SAVING: "tf.train.list_variables(PATH)           # what the checkpoint holds\n[(v.name, v.shape) for v in model.variables]",
    Phase.WATCHING: 'find LOGDIR -name "*.xplane.pb"; ss -ltn',
    Phase.ANY: "tpudiag explain --log LOG               # the whole log: the first error before this one is often the cause",
}


@dataclass(frozen=True, kw_only=True)
class Guidance:
    """What helps with an error that is not known."""

    status: str | None
    """Its status code, from the code, the exception's name or the words."""
    meaning: str
    operation: str | None
    own_line: str | None
    """The last line of the traceback that is no library's: file:line, or a notebook's cell."""
    next_steps: str
    """Commands, one a line."""


def guidance(text: str, message: str, phase: Phase) -> Guidance:
    """What the kind of an error means, what it names, what to look at.

    `message`: its own words; `text`: all that there is.
    """
    # The error's own words first: a log names the status of every retry that went well.
    status = status_of(message) or status_of(text)
    exception = re.findall(r"\b([A-Z]\w{2,60}(?:Error|Exception))\b", message)
    place = place_of(text)
    operation = operation_in(message) or place.operation
    meaning = _MEANS.get(status or "") or _MEANS.get(exception[-1] if exception else "", "")
    return Guidance(
        status=status,
        meaning=f"{meaning} {refusal_of(operation)}".strip() if operation else meaning,
        operation=operation,
        own_line=place.own_line,
        next_steps=_NEXT[phase],
    )


def refusal_of(operation: str) -> str:
    """What an operation, or the last part of a node's name, mostly refuses; empty if not known."""
    kind = re.sub(r"_\d{1,4}$", "", operation.rsplit("/", 1)[-1])
    refused = narrower.first(shared().get(FORM, ()), {"operation": (kind,)})
    return refused.cause if refused else ""


def status_of(text: str) -> str | None:
    """The status code that a text names, in any of its spellings."""
    if code := _STATUS.search(text):
        return code[1]
    if name := _CLASS.search(text):
        return _CLASS_OF[name[1]]
    words = _WORDS.search(text)
    return _WORDS_OF[words[1]] if words else None
