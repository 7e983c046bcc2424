"""The job's program: named by the user, or the reference job."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tpudiag.errors import UnreadableInput, UsageError
from tpudiag.reference.options import LOOPS, MODELS, PRECISIONS

REFERENCE = "tpudiag.reference.job:main"


def reference_arguments(by_name: Mapping[str, Any], log_dir: Path) -> tuple[str, ...]:
    """The command line of the reference job; raises UsageError for names from programs."""
    # Types alone are not enough: a notebook's cell is not type-checked.
    for name, known in (("reference", MODELS), ("loop", LOOPS), ("precision", PRECISIONS)):
        if by_name[name] not in known:
            raise UsageError(f"{by_name[name]}: the reference job knows {', '.join(known)}")
    return (
        "--model",
        by_name["reference"],
        "--loop",
        by_name["loop"],
        "--precision",
        by_name["precision"],
        "--checkpoint-dir",
        by_name["checkpoint_dir"] or str(log_dir / "checkpoints"),
        *(("--full-size",) if by_name["full_size"] else ()),
    )


def program_of(target: str | None, module: str | None) -> str | None:
    """The named program, validated; None where none is. Raises UnreadableInput and UsageError."""
    if module is not None:
        # Only the job's own Python knows whether the module exists.
        if target is not None:
            raise UsageError(
                f"-m {module}: arguments of the module follow `--` (TARGET is {target})"
            )
        if not all(part.isidentifier() for part in module.split(".")):
            raise UsageError(f"-m {module}: not the name of a module")
        return module
    return None if target is None else checked_program(target)


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
