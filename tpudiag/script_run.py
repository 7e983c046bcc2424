"""What became of a script that ran under observation: its crash, our defects, how much was run."""

from enum import Enum
from typing import Literal

from tpudiag.location import Location
from tpudiag.records import dataclass

CoverageEnd = Literal["whole", "first loop", "budget", "crash"]
Isolation = Literal["overlay", "landlock", "refused", "none"]
"""What holds back the files that a job writes: a layer over the file system, which the system keeps
apart; a wall around one folder, into which ordinary calls are redirected; nothing, and so all that
writes is refused; or nothing, by choice."""


@dataclass(frozen=True, kw_only=True)
class Writes:
    """What a job wrote, and what became of it."""

    isolation: Isolation
    """What held it back."""
    written: int = 0
    """Files that it made or changed, each once; None of them is there where it was held back."""
    checkpoints: int = 0
    """Of them, checkpoints and saved models."""
    removed: int = 0
    """Files that it removed, or gave other names."""
    names: tuple[str, ...] = ()
    """Some of both."""
    kept: str | None = None
    """Where what it wrote is kept; None where it was thrown away, or never held back."""
    read_only: tuple[str, ...] = ()
    """Folders in which it could not write, though the user can: no layer could be put over them."""
    not_sent: tuple[str, ...] = ()
    """What it was not let send, each kind with its number: `2 uploads`, `1 wandb run`."""


@dataclass(frozen=True, kw_only=True)
class RunEnvironment:
    """What a job ran in, and what looked at it; versions are None where nothing is installed."""

    python: str
    """The job's Python, e.g. `3.10.13`."""
    python_path: str
    chosen_by: str
    """Why that Python: `--python`, `VIRTUAL_ENV`, ..."""
    tensorflow: str | None
    keras: str | None
    libtpu: str | None
    """Of the job's environment; the compiler may have another."""
    packages: dict[str, str]
    """Every installed distribution that matters to a job on TPU, with its version."""
    tool_python: str
    """The Python that tpudiag itself runs in; its own version stands under `tool`."""
    compiler: str | None = None
    """The TPU compiler used, e.g. `libtpu 0.0.51, jax 0.10.2`."""


@dataclass(frozen=True)
class CodeFrame:
    """A line of user code that an exception went through."""

    location: Location
    function: str
    text: str
    """The line of code."""


@dataclass(frozen=True)
class Crash:
    """An exception that ended the job."""

    error: str
    frames: tuple[CodeFrame, ...]
    """The traceback's frames of user code, outermost first."""
    traceback: str
    """The job's own, whole, without the frames of these hooks."""


@dataclass(frozen=True)
class HookDefect:
    """A hook of this tool that failed while the job ran: our defect, not the job's."""

    hook: str
    error: str
    traceback: str
    count: int = 1


@dataclass(frozen=True, kw_only=True)
class StepFunction:
    """A function that trains, or an evaluation that was cut short, as the job called it."""

    name: str
    location: Location | None
    """Where it is defined; None for a library's own, as Keras' fit."""
    called_at: Location | None
    """The line that called it first."""
    ran: int
    """Calls that ran really."""
    forwarded: int
    """Calls that its last result answered."""
    call_ms: float | None = None
    """Median of its later calls, on CPU replicas."""
    trains: bool = True


ShortenedOver = Literal[
    "epochs of fit",
    "steps of an epoch",
    "batches of predict",
    "tf.range",
    "a dataset",
    "rounds of a loop",
]
"""What a shortened loop iterates over."""


@dataclass(frozen=True)
class ShortenedLoop:
    """A loop that ran fewer iterations than the script requests."""

    kind: ShortenedOver
    location: Location | None
    ran: int
    asked: int | None
    """None where only the data knows it."""


@dataclass(frozen=True)
class UnreachedLines:
    """Statements of the main flow that were not reached."""

    file: str
    first_line: int
    last_line: int
    text: str
    """The first of the lines."""
    cell: int | None = None
    """Of a notebook, whose lines then count in that cell."""

    def __str__(self) -> str:
        return f"{Location(self.file, self.first_line, self.cell)} {self.text}"


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """What of the script was run."""

    end: CoverageEnd
    functions: tuple[StepFunction, ...] = ()
    shortened: tuple[ShortenedLoop, ...] = ()
    stopped_at: Location | None = None
    unreached: tuple[UnreachedLines, ...] = ()
    rest_s: float = 0.0
    """What the script took past the steps that were observed."""


class InterventionKind(Enum):
    """What a rehearsal changes of what a job sees."""

    PREDICTIONS = "shortened predictions"
    BATCHES = "shortened batches"
    ROWS = "even split of the last batch"
    EPOCHS = "shortened fits"
    STEPS = "repeated results of steps"
    LOOPS = "shortened loops"
    ROUNDS = "loops that end early"
    TRACED = "functions traced and not run"
    EFFECTS = "functions that give nothing back, traced and not run"
    HOLES = "statements passed over for lack of data"
    SESSION = "answers in the place of a notebook service"
    SHUFFLES = "small buffers, and no examples skipped"
    REPLICAS = "fewer replicas"
    SINGLE_STEPS = "single steps per execution"
    UNCOMPILED = "steps without jit_compile"
    EARLY = "variables made before the first step"
    ALIKE = "Python state of the first replica for all"
    DATA = "stand-ins for data"
    CPU = "CPU replicas"
    DEFECT = "stand-ins that failed"


@dataclass(frozen=True)
class Misfit:
    """What the rehearsal changed made a statement fail; or may have, where it was not decided."""

    kinds: tuple[InterventionKind, ...]
    statement: Location | None
    error: str
    decided: bool = True
    """Without it the statement did not fail."""

    @property
    def names(self) -> str:
        """What it is, in words."""
        return "the rehearsal's " + " and ".join(kind.value for kind in self.kinds)

    def __str__(self) -> str:
        """One line that says whose fault it is."""
        where = f" at {self.statement}" if self.statement is not None else ""
        if self.decided:
            verdict = f"do not fit{where}: it ran without"
        else:
            verdict = f"may not fit{where}, and it could not be run without"
        return f"T{self.names[1:]} {verdict}. The error: {self.error}"
