"""The job's environment: packages, TensorFlow, Keras, the TPU, and how the job ended."""

from dataclasses import field
from typing import Literal

from tpudiag.model import Location
from tpudiag.records import dataclass
from tpudiag.script_run import Crash

Runtime = Literal["own", "kaggle", "colab", "tpu-vm"]
"""The machine or image of the job, where that decides what is installed."""
StandInKind = Literal["batch", "data", "model", "service"]
"""Synthetic values read like real ones; a part of a model, of unknown size; answers of a notebook
service, which are no data."""
LoopKind = Literal["fit", "custom"]
JobEndKind = Literal[
    "finished", "stopped", "exception", "exit", "signal", "timeout", "interrupted", "running",
    "unsupported",
]  # fmt: skip

TpuPhase = Literal["resolver", "connect", "initialize", "strategy"]
"""The calls with which a job reaches its TPU."""
CloudTpuState = Literal[
    "STATE_UNSPECIFIED", "CREATING", "READY", "RESTARTING", "REIMAGING", "DELETING", "REPAIRING",
    "STOPPED", "STOPPING", "STARTING", "PREEMPTED", "TERMINATED", "HIDING", "HIDDEN", "UNHIDING",
    "UNKNOWN", "UNRECOGNIZED",
]  # fmt: skip
"""Node.State of the Cloud TPU API v2; the last one stands for states unknown to its client."""
CloudTpuHealth = Literal[
    "HEALTH_UNSPECIFIED", "HEALTHY", "TIMEOUT", "UNHEALTHY_TENSORFLOW", "UNHEALTHY_MAINTENANCE",
    "UNRECOGNIZED",
]  # fmt: skip
"""Node.Health of the same API."""


@dataclass(frozen=True)
class Environment:
    """The Python environment of the job; versions are None where nothing is installed."""

    python: str
    distributions: dict[str, str] = field(default_factory=dict[str, str])
    """Installed distributions that matter (tensorflow*, keras, tf-keras, libtpu, jax)."""
    legacy_keras_asked: bool = False
    """TF_USE_LEGACY_KERAS is set to a true value."""
    runtime: Runtime = "own"
    path: str = ""
    """The interpreter."""


@dataclass(frozen=True, kw_only=True)
class TensorFlowImport:
    """The result of importing TensorFlow in a child process."""

    succeeded: bool
    version: str | None = None
    tf2_behavior: bool | None = None
    eager: bool | None = None
    failure: str | None = None
    """The last telling line where the import failed, aborted or did not end in time."""
    took_s: float | None = None


@dataclass(frozen=True, kw_only=True)
class KerasUse:
    """The Keras that the job trains with, and its loop."""

    package: str
    """`keras` (3), `tf_keras` or `keras` 2 inside TensorFlow; with `version`."""
    version: str
    loop: LoopKind
    epochs: int = 1
    """The epochs requested from `fit`; 1 where steps_per_epoch cuts the data."""
    jit_compile: bool = False
    steps_per_execution: int = 1
    fit_at: Location | None = None
    """The line that called fit last."""


@dataclass(frozen=True, kw_only=True)
class TpuAttempt:
    """An attempt to reach the requested TPU."""

    asked: str
    reached: bool
    phase: TpuPhase | None = None
    """The active or failed call."""
    error: str | None = None
    waited_s: float = 0.0
    limit_s: float = 0.0
    ran: bool = False
    """The script ran, and wrote for real, up to the call that failed."""


@dataclass(frozen=True, kw_only=True)
class CloudTpu:
    """The Cloud TPU API's description of a TPU."""

    name: str
    project: str
    zone: str
    state: CloudTpuState
    health: CloudTpuHealth
    health_description: str
    accelerator_type: str
    runtime_version: str
    preemptible: bool
    """Preemptible or Spot: it may be taken away at any time."""
    workers: tuple[str, ...]
    """Addresses of its workers inside the network."""
    symptoms: tuple[str, ...] = ()
    """Type, worker and details of its problems."""


@dataclass(frozen=True)
class HiddenModule:
    """An installed module that a file of the job's own with its name hides."""

    name: str
    file: str


@dataclass(frozen=True, kw_only=True)
class JobEnd:
    """How the observed job ended, and its last output."""

    how: JobEndKind
    """`stopped`: after the request was fulfilled; `running`: not ended yet; `unsupported`: it needs
    something only a TPU has."""
    error: str | None = None
    location: Location | None = None
    exit_code: int | None = None
    log_tail: str = ""
    crash: Crash | None = None
    """The exception, where one ended it."""
    follows_from: str = ""
    """The notebook command, with its place, that was not run and whose absence made it fail."""
    hidden: HiddenModule | None = None
    """What the exception comes from, where a library asked a file of the job's for its own."""


@dataclass(frozen=True)
class LoggedRecord:
    """A record of the job's that was logged at level WARNING or above."""

    text: str
    """Its message, with the traceback that it was given."""
    error: bool
    """Of level ERROR or above."""


@dataclass(frozen=True)
class Tf1Use:
    """A use of a TensorFlow 1 interface."""

    api: str
    location: Location | None
