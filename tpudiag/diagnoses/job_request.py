"""What a job's diagnosis is asked for: everything resolved once, before anything starts."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from tpudiag import settings
from tpudiag.diagnoses.named_program import REFERENCE, ReferenceJob, program_of
from tpudiag.diagnoses.notebook_job import NotebookProgram, prepared
from tpudiag.errors import UsageError
from tpudiag.hardware import DEFAULT_TARGET, GENERATIONS, Target, target
from tpudiag.model import Framework
from tpudiag.options.verbs import request_of
from tpudiag.script_run import Isolation
from tpudiag.sources import environment, script
from tpudiag.sources.compiler import libtpu_process
from tpudiag.sources.compiler.compile_step import CompilerRequest
from tpudiag.sources.compiler.topologies import Topology, topology
from tpudiag.sources.job.process import job_python
from tpudiag.sources.job.process.isolation import chosen
from tpudiag.sources.job.process.job_python import JobPython
from tpudiag.sources.job.process.python_places import Place, named_place

MOST_NAME, MOST_AT_ONCE = 100, 1000
"""Characters of a program in the name of its run, and runs of one program in one second."""
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
    isolation: Isolation = "none"
    """What holds back what a rehearsal writes; `none`: it writes where it says."""
    keep_writes: Path | None = None
    """Where that is kept; None: it is thrown away."""
    saves_in: str = ""
    """Where the reference job saves by the user's word: there it writes for real."""
    offline: bool = False
    """Whether the job reaches no network at all."""
    measure_input_s: float = 10.0
    """How long the input pipeline is run alone, as built and mended, where a fix applies."""
    python: JobPython
    """The Python that the job runs in, which has TensorFlow."""
    framework: Framework = Framework.TENSORFLOW
    """What it trains with, as far as its source and settings tell."""
    rest_s: float = 180.0
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
    changed_sources: tuple[tuple[str, str], ...] = ()
    """Files, each with the one whose source is run in its place."""
    notebook: NotebookProgram | None = None
    """What stands for the program where that is a notebook."""

    def with_notebook(self) -> JobRequest:
        """The request with its notebook read; UnreadableInput or MissingExtra where that fails."""
        if self.notebook is not None or self.is_module:
            return self
        held = self.isolation == "overlay"
        return replace(self, notebook=prepared(self.program, self.log_dir, holds_writes=held))

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


def _isolation(in_place: bool, keep: Path | None) -> Isolation:
    """What holds back what a rehearsal writes; raises UsageError for what cannot be kept."""
    if in_place:
        if keep is not None:
            raise UsageError("--in-place and --keep-writes: choose one")
        return "none"
    if keep is not None:
        _refuse_kept(keep)
    return chosen.means(str(Path.cwd())).isolation


def _refuse_kept(folder: Path) -> None:
    """UsageError for a folder that nothing can be kept in."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"--keep-writes {folder}: name a folder that is new or empty")
    if not folder.absolute().parent.is_dir():
        raise UsageError(f"--keep-writes {folder}: its parent folder does not exist")


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


def resolved(said: Mapping[str, Any], log_dir: Path, target: str | None = None) -> JobRequest:
    """The job that was named, for its TPU, in its Python, with the options of its verb.

    `said` are the options by name, those that are fields of a request under the same name;
    `target` stands for its own where a verb has several.
    Nothing is started and nothing written yet. Raises TpudiagError for what cannot work.
    """
    keep = _path(said.get("keep_writes"))
    isolation = _isolation(said["in_place"], keep)
    chosen = chosen_target(target or said.get("target"), said.get("tpu", "none"))
    program = None if said["program"] is None else str(said["program"])
    job = program_of(program, said.get("module"), _reference(said))
    python = said["python"]
    framework = Framework.TENSORFLOW if program is None else script.trains_with(program)
    return request_of(
        JobRequest,
        said,
        program=job.program,
        name=job.name,
        is_module=job.is_module,
        arguments=job.arguments(said["arguments"], log_dir),
        target=chosen.target,
        target_choice=chosen.target_choice,
        topology=chosen.topology,
        tpu=chosen.tpu,
        python=job_python_of(None if python is None else str(python), program, framework),
        framework=framework,
        log_dir=log_dir,
        isolation=isolation,
        keep_writes=keep,
        changes_within=_path(said.get("changes_within")),
        saves_in=(job.reference.checkpoint_dir or "") if job.reference else "",
        rest_s=0.0 if said.get("first_loop") else said.get("budget_s", 0.0),
        compiler=_compiler(said),
    )


def _compiler(said: Mapping[str, Any]) -> CompilerRequest:
    """How the TPU compiler is asked; raises UsageError where its Python cannot be run."""
    python = said["compiler_python"]
    if python is not None:
        # Now, and not after the minutes of a rehearsal: a Python that cannot be run is a usage
        # error.
        libtpu_process.find(python)
    return CompilerRequest(not said.get("no_compile"), python, said["compile_timeout_s"])


def _reference(said: Mapping[str, Any]) -> ReferenceJob:
    """The job that runs where no other is named."""
    if "reference" not in said:
        return ReferenceJob()
    own = {name: said[name] for name in ("loop", "precision", "full_size", "checkpoint_dir")}
    return ReferenceJob(model=said["reference"], **own)


def _path(path: str | Path | None) -> Path | None:
    """A path as one."""
    return None if path is None else Path(path)


def job_python_of(
    named: str | None, program: str | None = None, framework: Framework = Framework.TENSORFLOW
) -> JobPython:
    """The Python named on the command line or in the settings, or that of the user's environment.

    Raises UsageError where it cannot be used, MissingExtra where it has no TensorFlow.
    """
    place: Place | None = None
    if named is not None:
        place = named_place(named)
    elif (setting := settings.load(Path.cwd()).python) is not None:
        place = named_place(setting, "[tool.tpudiag] python")
    return job_python.choose(place, program, framework=framework)


def _found_target(tpu: environment.FoundTpu | None) -> str | None:
    """The target for the TPU that was found on this machine's bus."""
    if tpu is None or tpu.generation is None or tpu.chips is None:
        return None
    generation = next(g for g in GENERATIONS if g.name == tpu.generation)
    return f"{generation.name}-{tpu.chips * generation.cores_named}"


def run_folder(log_dir: Path, program: str) -> Path:
    """A new folder for one run, named by what ran, and when; raises UsageError."""
    stem = re.sub(r"[^A-Za-z0-9_.-]+", "-", Path(program).name)[:MOST_NAME]
    name = f"{stem}-{time.strftime('%Y%m%d-%H%M%S')}"
    try:
        log_dir.mkdir(parents=True, exist_ok=True)
        for number in range(1, MOST_AT_ONCE):
            folder = log_dir / (name if number == 1 else f"{name}-{number}")
            # Runs may start in the same second: whoever makes the folder has it.
            with contextlib.suppress(FileExistsError):
                folder.mkdir()
                return folder
    except OSError as error:
        raise UsageError(f"--log-dir {log_dir}: {error.strerror}") from error
    raise UsageError(f"--log-dir {log_dir}: {MOST_AT_ONCE} runs began there in this second")
