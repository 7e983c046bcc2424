"""What crosses between the observing child and its parent: a specification in, facts out.

Plain JSON by the standard library alone, for the child has no other; `facts` reads it on the
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
from dataclasses import dataclass
from typing import Any

from tpudiag.script_run import InterventionKind, Isolation

UP_TO_FIRST_STEP = "running up to the first step"
REST = "running the rest of the script, shortened"
LOWERING = "lowering the step"
"""The phase in which all is seen, and a job that dies has died of being lowered."""


@dataclass(frozen=True, kw_only=True)
class JobSpec:
    """The job to observe and how; passed to the child as JSON."""

    program: str
    """A script's path, `module:function`, or a module's name."""
    arguments: tuple[str, ...]
    replicas: int
    """What the script sees as num_replicas_in_sync when rehearsing."""
    real_replicas: int
    """How many of them run, each with the target's per-replica batch."""
    hosts: int
    rehearse: bool
    """Whether the TPU is stood in for by CPU replicas."""
    steps: int
    warmup_steps: int
    budget_s: float
    """Steps are cut where they would take longer all together; 0 for no such limit."""
    log_dir: str
    """Where the profile goes: a TensorBoard log folder; empty for no profile."""
    isolation: Isolation = "none"
    """What holds the job's writes back; by `landlock` all but `layer` and `log_dir` is walled off,
    by `overlay` no call on local files needs to be redirected."""
    layer: str = ""
    """The folder, writable whatever the isolation, that takes what is redirected: each path under
    its whole name, local ones (by `landlock` alone) and those of buckets. It lies in the run's own,
    where there is room for what else goes with the job; empty for no rehearsal."""
    keep: str = ""
    """Where the files that it wrote are kept; empty: nowhere."""
    writable: tuple[str, ...] = ()
    """More folders that it writes in for real."""
    mount_points: tuple[str, ...] = ()
    """Where file systems begin, as they are without layers; empty where there are none."""
    offline: bool = False
    """Whether the job shall reach no network at all; else what sends is held back, and reads go."""
    measure_input_s: float = 0.0
    """How long the input pipeline may be run alone, with and without its fixes; 0 for not."""
    lower_to: str = ""
    """The folder for the lowered step; empty where it is not to be lowered."""
    lower_for: int = 1
    """Replicas over which the lowered step sums its gradients."""
    of_jax: bool = False
    """Its source says that it trains with JAX."""
    is_module: bool = False
    """The program is a module to be run as by `python -m`."""
    rest_s: float = 0.0
    """How long the script may go on, shortened, past the steps observed; 0: it ends there."""
    devices_per_chip: int = 1
    """Of the target, as TPUStrategy counts devices."""
    hbm_bytes: int = 0
    """Of one of its devices, as far as a program may use it."""
    cells: tuple[int, ...] = ()
    """The line of the program with which each cell of a notebook begins; empty for no notebook."""
    notebook: str = ""
    """The notebook that the program was made of."""
    fake_data: bool = False
    """Whether data that cannot be reached is stood in for."""
    seed: int = -1
    """Of all random numbers of the run; -1: as the job has it."""
    without: tuple[InterventionKind, ...] = ()
    """What the rehearsal is not to change of what the job sees."""
    changed_sources: tuple[tuple[str, str], ...] = ()
    """Files, each with the one whose source is run in its place."""
    ends_in_s: float = 0.0
    """When it will be ended, wherever it stands; 0: nobody knows."""
    requests: int = -1
    """A pipe with one LoweringRequest a line: lower the step for each, and never run it."""


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

    def take_over(self) -> None:
        """It is this process, a copy, that is the job from now on."""
        self._owner = os.getpid()

    def put(self, **facts: object) -> None:
        """Send facts; a parent that is gone is no reason to hurt the job."""
        if os.getpid() != self._owner:
            return  # a fork of the job: its facts are not the job's
        line = encoded(facts)
        with self._lock:
            try:
                while line:
                    line = line[os.write(self._descriptor, line) :]
            except OSError:
                return

    def phase(self, name: str) -> None:
        """Tell the parent what the job is doing now."""
        self.put(phase=name)


def encoded(value: object) -> bytes:
    """A dataclass, or anything that `plain` takes, as one line of JSON."""
    text = json.dumps(plain(value), ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace") + b"\n"


def plain(value: Any) -> object:
    """A fact as JSON has it: dataclasses as objects, no NaN, and str() of what it does not know."""
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
    """A JobSpec for the command line; arguments that are no text keep their bytes."""
    # ASCII, unlike facts: the lone surrogates that stand for such bytes survive as \udcXX.
    return json.dumps(plain(spec))


def decoded_spec(text: str) -> JobSpec:
    """The JobSpec that was encoded."""
    fields: dict[str, Any] = json.loads(text)
    for name in ("arguments", "cells", "writable", "mount_points"):
        fields[name] = tuple(fields[name])
    fields["without"] = tuple(map(InterventionKind, fields["without"]))
    fields["changed_sources"] = tuple(tuple(pair) for pair in fields["changed_sources"])
    return JobSpec(**fields)


def decoded_request(line: bytes) -> LoweringRequest:
    """The LoweringRequest that was encoded."""
    return LoweringRequest(**json.loads(line))
