"""The job's program: named by the user, or the reference job."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tpudiag.errors import UnreadableInput, UsageError
from tpudiag.reference.options import (
    LOOPS,
    MODELS,
    PRECISIONS,
    LoopName,
    ModelName,
    PrecisionName,
)

REFERENCE = "tpudiag.reference.job:main"


@dataclass(frozen=True, kw_only=True)
class ReferenceJob:
    """The choice of the reference job, which runs where no other is named."""

    model: ModelName = "mlp"
    loop: LoopName = "custom"
    precision: PrecisionName = "mixed_bfloat16"
    full_size: bool = False
    checkpoint_dir: str | None = None
    """None: the run's folder."""

    def __post_init__(self) -> None:
        """Validates names from programs; raises UsageError."""
        named = (self.model, MODELS), (self.loop, LOOPS), (self.precision, PRECISIONS)
        # Types alone are not enough: a notebook's cell is not type-checked.
        for word, known in named:
            if word not in known:
                raise UsageError(f"{word}: the reference job knows {', '.join(known)}")

    @property
    def name(self) -> str:
        """Its name in reports."""
        return f"reference {self.model}, {self.loop} loop"

    def arguments(self, log_dir: Path) -> tuple[str, ...]:
        """Its command line options."""
        checkpoints = self.checkpoint_dir or str(log_dir / "checkpoints")
        return (
            "--model",
            self.model,
            "--loop",
            self.loop,
            "--precision",
            self.precision,
            "--checkpoint-dir",
            checkpoints,
            *(("--full-size",) if self.full_size else ()),
        )


@dataclass(frozen=True, kw_only=True)
class Program:
    """What to run: a script, a notebook, `module:function`, a module, the reference job."""

    program: str
    name: str
    is_module: bool = False
    reference: ReferenceJob | None = None
    """Set for the reference job."""

    def arguments(self, given: Sequence[str], log_dir: Path) -> tuple[str, ...]:
        """The arguments of its command line."""
        own = self.reference.arguments(log_dir) if self.reference else ()
        return (*own, *given)


def program_of(target: str | None, module: str | None, reference: ReferenceJob) -> Program:
    """The named program, validated; raises UnreadableInput and UsageError."""
    if module is not None:
        # Only the job's own Python knows whether the module exists.
        if target is not None:
            raise UsageError(
                f"-m {module}: arguments of the module follow `--` (TARGET is {target})"
            )
        if not all(part.isidentifier() for part in module.split(".")):
            raise UsageError(f"-m {module}: not the name of a module")
        return Program(program=module, name=module, is_module=True)
    if target is not None:
        checked = checked_program(target)
        return Program(program=checked, name=checked)
    return Program(program=REFERENCE, name=reference.name, reference=reference)


def checked_program(program: str) -> str:
    """A readable script, or the form module:function; raises UnreadableInput."""
    path = Path(program)
    if path.is_file():
        try:
            path.read_bytes()
        except OSError as error:
            raise UnreadableInput(f"{program}: {error.strerror}") from error
        return program
    if path.is_dir():
        raise UnreadableInput(
            f"{program}: a folder; name the script in it, or a module: -m package"
        )
    module, colon, function = program.partition(":")
    # Not imported to check: a job's module may need TensorFlow, and run for minutes.
    if not colon or not all(part.isidentifier() for part in (*module.split("."), function)):
        raise UnreadableInput(f"{program}: no such file, and not of the form module:function")
    return program
