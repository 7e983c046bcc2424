"""The protocol between the observing child and its parent: a specification in, facts out.

Plain JSON by the standard library only, since the child has nothing else; `facts` reads it on the
tool's side.
"""

import dataclasses
import enum
import json
import math
import numbers
import os
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from tpudiag.script_run import InterventionKind, Isolation

UP_TO_FIRST_STEP = "running up to the first step"
REST = "running the rest of the script, shortened"
LOWERING = "lowering the step"
"""The phase in which everything was observed, so that a job that dies died of being lowered."""


@dataclass(frozen=True, kw_only=True)
class JobSpec:
    """The job to observe and how; passed to the child as JSON."""

    program: str
    """A script's path, `module:function`, or a module's name."""
    arguments: tuple[str, ...]
    replicas: int
    """The script's num_replicas_in_sync in a rehearsal."""
    real_replicas: int
    """How many of them run, each with the target's per-replica batch."""
    hosts: int
    rehearse: bool
    """Whether CPU replicas replace the TPU."""
    steps: int
    warmup_steps: int
    budget_s: float
    """CPU seconds for all steps together, beyond which their number is cut; 0 for no limit."""
    log_dir: str
    """A TensorBoard log folder for the profile; empty for no profile."""
    isolation: Isolation = "none"
    """How the job's writes are held back; `landlock` walls off all but `layer` and `log_dir`, with
    `overlay` no call on local files needs to be redirected."""
    layer: str = ""
    """The folder, writable under any isolation, for redirected files: each under its absolute path,
    local ones (with `landlock` only) and those of buckets. It is in the run's own folder, with
    space
    for the job's other temporary files; empty for a real run."""
    keep: str = ""
    """Where its written files are kept; empty: nowhere."""
    writable: tuple[str, ...] = ()
    """Additional folders that it writes for real."""
    mount_points: tuple[str, ...] = ()
    """Where file systems begin without layers; empty where there are no layers."""
    offline: bool = False
    """Whether the job has no network at all; otherwise sends are held back, and reads work."""
    measure_input_s: float = 0.0
    """How long the input pipeline may be measured alone, with and without fixes; 0 for not."""
    lower_to: str = ""
    """The folder for the lowered step; empty to skip lowering."""
    lower_for: int = 1
    """The replicas over which the lowered step sums its gradients."""
    of_jax: bool = False
    """Whether its source trains with JAX."""
    is_module: bool = False
    """Whether the program is a module, run as by `python -m`."""
    rest_s: float = 0.0
    """How long the script may continue, shortened, past the observed steps; 0: it ends there."""
    devices_per_chip: int = 1
    """The target's, as TPUStrategy counts devices."""
    hbm_bytes: int = 0
    """The target's per device, as far as programs may use it."""
    cells: tuple[int, ...] = ()
    """The program's line at which each cell of a notebook begins; empty for no notebook."""
    notebook: str = ""
    """The notebook from which the program was made."""
    fake_data: bool = False
    """Whether synthetic data replaces unreachable data."""
    seed: int = -1
    """The seed of all the run's random numbers; -1: unchanged."""
    without: tuple[InterventionKind, ...] = ()
    """Changes that the rehearsal must not make."""
    changed_sources: tuple[tuple[str, str], ...] = ()
    """Files, each with the one whose source is run in its place."""
    ends_in_s: float = 0.0
    """When it will be ended, wherever it stands; 0: nobody knows."""
    requests: int = -1
    """A pipe with one LoweringRequest per line: lower the step for each, and never run it."""


@dataclass(frozen=True)
class LoweringRequest:
    """A request for the step with this batch on each of so many replicas."""

    batch: int
    replicas: int


class Recorder:
    """Writes facts to the parent: each line holds fields of Signals, the last one wins."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = threading.Lock()
        self._owner = os.getpid()

    def put(self, **facts: object) -> None:
        """Send facts; a dead parent must not disturb the job."""
        if os.getpid() != self._owner:
            return  # a fork of the job, whose facts are not the job's
        line = encoded(facts)
        with self._lock, suppress(OSError):
            while line:
                line = line[os.write(self._descriptor, line) :]

    def phase(self, name: str) -> None:
        """Report the job's current phase."""
        self.put(phase=name)


def encoded(value: object) -> bytes:
    """A dataclass, or anything that `plain` accepts, as one line of JSON."""
    text = json.dumps(plain(value), ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace") + b"\n"


def plain(value: Any) -> object:
    """A fact as JSON: dataclasses as objects, no NaN, and str() of unknown types."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, enum.Enum):
        return plain(value.value)
    if isinstance(value, numbers.Integral):  # NumPy's too
        return int(value)
    if isinstance(value, numbers.Real):
        number = float(value)
        return number if math.isfinite(number) else None
    if issubclass(type(value), Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if dataclasses.is_dataclass(value):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if issubclass(type(value), (list, tuple, set, frozenset)):
        return [plain(member) for member in value]
    return str(value)


def encoded_spec(spec: JobSpec) -> str:
    """A JobSpec for the command line; arguments that are no valid text keep their bytes."""
    # ASCII, unlike facts: the lone surrogates for such bytes survive as \udcXX.
    return json.dumps(plain(spec))


def decoded_spec(text: str) -> JobSpec:
    """The JobSpec in a text."""
    fields: dict[str, Any] = {name: tupled(value) for name, value in json.loads(text).items()}
    fields["without"] = tuple(map(InterventionKind, fields["without"]))
    return JobSpec(**fields)


def tupled(value: Any) -> Any:
    """The lists of JSON as tuples."""
    several: list[Any] = value
    return tuple(map(tupled, several)) if isinstance(value, list) else value


def decoded_request(line: bytes) -> LoweringRequest:
    """The LoweringRequest in a line."""
    return LoweringRequest(**json.loads(line))
