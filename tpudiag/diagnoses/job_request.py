"""What a job's diagnosis is asked for: everything resolved once, before anything starts."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from tpudiag import settings
from tpudiag.diagnoses.notebook_job import NotebookProgram, prepared
from tpudiag.errors import UnreadableInput, UsageError
from tpudiag.hardware import DEFAULT_TARGET, GENERATIONS, Target, target
from tpudiag.sources import environment, script
from tpudiag.sources.compiler import libtpu_process
from tpudiag.sources.compiler.compile_step import CompilerRequest
from tpudiag.sources.compiler.topologies import Topology, topology
from tpudiag.sources.job.process import job_python
from tpudiag.sources.job.process.job_python import JobPython
from tpudiag.sources.job.process.python_places import Place, named_place

REFERENCE = "tpudiag.reference.job:main"
TargetChoice = Literal["asked", "found", "default"]
"""Whether the target was named, is the TPU of this machine, or neither."""


@dataclass(frozen=True, kw_only=True)
class JobRequest:
    """What `tpudiag check` was asked for."""

    program: str = REFERENCE
    """A script's path, a notebook's or `module:function`."""
    arguments: tuple[str, ...] = ()
    name: str = "reference job"
    target: Target
    target_choice: TargetChoice
    topology: Topology
    tpu: str | None = None
    """The TPU to run on, "" for whatever TPU is here; None to rehearse."""
    steps: int | None = None
    """Steps to profile; None for 20, or fewer where a rehearsal would take too long."""
    warmup_steps: int = 5
    timeout_s: float = 900.0
    tpu_timeout_s: float = 120.0
    log_dir: Path = Path("tpudiag-logs")
    sandbox: Path | None = None
    """A folder that takes what the job writes."""
    measure_input_s: float = 10.0
    """How long the input pipeline is run alone, as built and mended, where a fix applies."""
    python: JobPython
    """The Python that the job runs in, which has TensorFlow."""
    rest_s: float = 60.0
    """How long a rehearsal goes on, shortened, past the steps observed; 0: it ends there."""
    is_module: bool = False
    """The program is a module to be run as by `python -m`."""
    compiler: CompilerRequest = field(default_factory=CompilerRequest)
    fake_data: bool = False
    """Whether data that cannot be reached is stood in for."""
    offers_changes: bool = True
    """Whether the changes that could mend its findings are made."""
    changes_within: Path | None = None
    """A folder that they stay in, where the script's project is larger."""
    seed: int = -1
    """Of all random numbers of the job; -1: as it has them."""
    overlay: tuple[tuple[str, str], ...] = ()
    """Files, each with the one whose source is run in its place."""
    notebook: NotebookProgram | None = None
    """What stands for the program where that is a notebook."""

    def with_notebook(self) -> JobRequest:
        """The request with its notebook read; UnreadableInput or MissingExtra where that fails."""
        if self.notebook is not None or self.is_module:
            return self
        return replace(self, notebook=prepared(self.program, self.log_dir))

    @property
    def file(self) -> str:
        """What is run: the program, or what stands for the notebook."""
        return self.program if self.notebook is None else self.notebook.file

    @property
    def name_of_file(self) -> str:
        """The script or notebook as the user knows it; the module's file where it is one."""
        if self.is_module or not Path(self.program).is_file():
            return script.module_file(self.program.partition(":")[0])
        return self.program

    @property
    def script_file(self) -> str:
        """The file whose source tells of the job."""
        return script.module_file(self.program) if self.is_module else self.file


@dataclass(frozen=True, kw_only=True)
class ReferenceJob:
    """Which reference job runs where no other is named."""

    model: str = "mlp"
    loop: str = "custom"
    precision: str = "mixed_bfloat16"
    full_size: bool = False
    checkpoint_dir: str | None = None
    """None: in the run's folder."""

    @property
    def name(self) -> str:
        """As reports call it."""
        return f"reference {self.model}, {self.loop} loop"

    def arguments(self, log_dir: Path) -> tuple[str, ...]:
        """Its own options."""
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
    """What is to be run: a script, a notebook, `module:function`, a module, the reference job."""

    program: str
    name: str
    is_module: bool = False
    reference: ReferenceJob | None = None
    """Where it is the reference job."""

    def arguments(self, given: Sequence[str], log_dir: Path) -> tuple[str, ...]:
        """Those of its command line."""
        own = self.reference.arguments(log_dir) if self.reference else ()
        return (*own, *given)


def program_of(target: str | None, module: str | None, reference: ReferenceJob) -> Program:
    """What was named, checked; raises UnreadableInput and UsageError."""
    if module is not None:
        checked = checked_module(module, target)
        return Program(program=checked, name=checked, is_module=True)
    if target is not None:
        checked = checked_program(target)
        return Program(program=checked, name=checked)
    return Program(program=REFERENCE, name=reference.name, reference=reference)


@dataclass(frozen=True, kw_only=True)
class ChosenTarget:
    """The TPU that a job is meant for, why that one, and the TPU to run on."""

    target: Target
    target_choice: TargetChoice
    topology: Topology
    tpu: str | None


def chosen_target(named: str | None, tpu: str | None) -> ChosenTarget:
    """The target by its name, or the TPU of this machine, or the default; raises UsageError.

    `tpu` is a TPU's name, `local`, `none`, or None for whatever is found.
    """
    here = None if tpu == "none" else environment.find_tpu()
    run_on = tpu if tpu not in (None, "none") else here.ask if here is not None else None
    local = _found_target(here)
    chosen = target(named or local or DEFAULT_TARGET)
    choice: TargetChoice = "asked" if named else "found" if local else "default"
    return ChosenTarget(target=chosen, target_choice=choice, topology=topology(chosen), tpu=run_on)


def resolved(
    program: str | None,
    module: str | None,
    reference: ReferenceJob | None = None,
    *,
    arguments: Sequence[str] = (),
    target: str | None,
    tpu: str | None = "none",
    python: str | None,
    log_dir: Path,
) -> JobRequest:
    """The job that was named, for its TPU, in its Python; raises TpudiagError for what cannot work.

    Nothing is started and nothing written yet.
    """
    chosen = chosen_target(target, tpu)
    job = program_of(program, module, reference or ReferenceJob())
    return JobRequest(
        program=job.program,
        name=job.name,
        is_module=job.is_module,
        arguments=job.arguments(arguments, log_dir),
        target=chosen.target,
        target_choice=chosen.target_choice,
        topology=chosen.topology,
        tpu=chosen.tpu,
        python=job_python_of(python, program),
        log_dir=log_dir,
    )


def compiler_request(wanted: bool, python: str | None, timeout_s: float) -> CompilerRequest:
    """How the TPU compiler is asked; raises UsageError where the Python named cannot be run."""
    if python is not None:
        libtpu_process.find(python)
    return CompilerRequest(wanted, python, timeout_s)


def checked_program(program: str) -> str:
    """A script that can be read, or the form module:function; raises UnreadableInput."""
    path = Path(program)
    if path.is_file():
        try:
            path.read_bytes()
        except OSError as error:
            raise UnreadableInput(f"{program}: {error.strerror}") from error
        return program
    module, colon, function = program.partition(":")
    if not colon or not all(part.isidentifier() for part in (*module.split("."), function)):
        raise UnreadableInput(f"{program}: no such file, and not of the form module:function")
    return program


def job_python_of(named: str | None, program: str | None = None) -> JobPython:
    """The Python named on the command line or in the settings, or that of the user's environment.

    Raises UsageError where it cannot be used, MissingExtra where it has no TensorFlow.
    """
    place: Place | None = None
    if named is not None:
        place = named_place(named)
    elif (setting := settings.load(Path.cwd()).python) is not None:
        place = named_place(setting, "[tool.tpudiag] python")
    return job_python.choose(place, program)


def checked_module(module: str, target: str | None) -> str:
    """The name of a module, with no TARGET beside it; raises UsageError.

    Whether the module is there only the job's own Python can tell.
    """
    if target is not None:
        raise UsageError(f"-m {module}: arguments of the module follow `--` (TARGET is {target})")
    if not all(part.isidentifier() for part in module.split(".")):
        raise UsageError(f"-m {module}: not the name of a module")
    return module


def _found_target(tpu: environment.FoundTpu | None) -> str | None:
    """The target for the TPU that was found on this machine's bus."""
    if tpu is None or tpu.generation is None or tpu.chips is None:
        return None
    generation = next(g for g in GENERATIONS if g.name == tpu.generation)
    return f"{generation.name}-{tpu.chips * generation.cores_named}"


def run_name(program: str) -> str:
    """A folder name for one run: what ran, and when."""
    stem = re.sub(r"[^A-Za-z0-9_.-]+", "-", Path(program).name)
    return f"{stem}-{time.strftime('%Y%m%d-%H%M%S')}"
