"""The request for a job's diagnosis: everything resolved once, before anything starts."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from tpudiag import settings
from tpudiag.diagnoses.named_program import REFERENCE, program_of, reference_arguments
from tpudiag.diagnoses.notebook_job import NotebookProgram, prepared
from tpudiag.errors import MissingExtra, UsageError
from tpudiag.hardware import DEFAULT_TARGET, GENERATIONS, Target, target
from tpudiag.model import Framework
from tpudiag.options.verbs import request_of
from tpudiag.script_run import Isolation
from tpudiag.sources import environment, script
from tpudiag.sources.compiler import libtpu_process
from tpudiag.sources.compiler.compile_step import CompilerRequest
from tpudiag.sources.job.process import job_python
from tpudiag.sources.job.process.isolation import chosen
from tpudiag.sources.job.process.job_python import JobPython
from tpudiag.sources.job.process.python_places import Place, named_place, places

MOST_NAME, MOST_AT_ONCE = 100, 1000
"""Characters of the program in a run's name, and runs of one program per second."""
TargetChoice = Literal["asked", "found", "default"]
"""Whether the target was named, is this machine's TPU, or neither."""


@dataclass(frozen=True, kw_only=True)
class JobRequest:
    """The options of `tpudiag check`."""

    program: str = REFERENCE
    """A script's path, a notebook's or `module:function`."""
    arguments: tuple[str, ...] = ()
    name: str = "reference job"
    target: Target
    target_choice: TargetChoice
    tpu: str | None = None
    """The TPU to run on, "" for any TPU found here; None to rehearse."""
    steps: int | None = None
    """Steps to profile; None for 20, or fewer where a rehearsal would take too long."""
    warmup_steps: int = 5
    timeout_s: float
    tpu_timeout_s: float = 120.0
    log_dir: Path = Path("tpudiag-logs")
    isolation: Isolation = "none"
    """How a rehearsal's writes are held back; `none`: it writes where it says."""
    keep_writes: Path | None = None
    """Where they are kept; None: they are thrown away."""
    saves_in: str = ""
    """The user's checkpoint folder of the reference job, which is written for real."""
    offline: bool = False
    """Whether the job has no network access at all."""
    measure_input_s: float = 10.0
    """How long the input pipeline is measured alone, original and fixed, where a fix applies."""
    python: JobPython
    """The Python that the job runs in, which has TensorFlow."""
    framework: Framework = Framework.TENSORFLOW
    """Its framework, as far as its source and settings show."""
    rest_s: float = 180.0
    """How long a rehearsal continues, shortened, past the observed steps; 0: it ends there."""
    is_module: bool = False
    """Whether the program is a module, run as by `python -m`."""
    compiler: CompilerRequest
    fake_data: bool = False
    """Whether synthetic data replaces unreachable data."""
    offers_changes: bool = True
    """Whether changes that could fix its findings are made."""
    changes_within: Path | None = None
    """A folder to which they are restricted, where the script's project is larger."""
    seed: int = -1
    """The seed of all the job's random numbers; -1: unchanged."""
    changed_sources: tuple[tuple[str, str], ...] = ()
    """Files, each with the one whose source replaces it."""
    notebook: NotebookProgram | None = None
    """The program made from a notebook."""

    def with_notebook(self) -> JobRequest:
        """The request with its notebook read; UnreadableInput or MissingExtra where that fails."""
        if self.notebook is not None or self.is_module:
            return self
        held = self.isolation == "overlay"
        return replace(self, notebook=prepared(self.program, self.log_dir, holds_writes=held))

    @property
    def file(self) -> str:
        """The file that runs: the program, or the one made from the notebook."""
        return self.program if self.notebook is None else self.notebook.file

    @property
    def name_of_file(self) -> str:
        """The script or notebook as the user named it; for a module its file."""
        return script.file_of(self.program)

    @property
    def script_file(self) -> str:
        """The file whose source describes the job."""
        own = self.is_module
        return script.module_file(self.program, self.python.path) if own else self.file


def _isolation(in_place: bool, keep: Path | None) -> Isolation:
    """How a rehearsal's writes are held back; raises UsageError for an unusable folder."""
    if in_place:
        if keep is not None:
            raise UsageError("--in-place and --keep-writes: choose one")
        return "none"
    if keep is not None:
        if keep.exists() and (not keep.is_dir() or any(keep.iterdir())):
            raise UsageError(f"--keep-writes {keep}: name a folder that is new or empty")
        if not keep.absolute().parent.is_dir():
            raise UsageError(f"--keep-writes {keep}: its parent folder does not exist")
    return chosen.means(str(Path.cwd())).isolation


def chosen_target(named: str | None, tpu: str | None) -> tuple[Target, TargetChoice, str | None]:
    """The target by its name, or the TPU of this machine, or the default; raises UsageError.

    `tpu` is a TPU's name, `local`, `none`, or None for whatever is found.
    """
    here = None if tpu == "none" else environment.find_tpu()
    run_on = tpu if tpu not in (None, "none") else here.ask if here is not None else None
    local = _found_target(here)
    chosen = target(named or local or DEFAULT_TARGET)
    choice: TargetChoice = "asked" if named else "found" if local else "default"
    return chosen, choice, run_on


def resolved(by_name: Mapping[str, Any], log_dir: Path, target: str | None = None) -> JobRequest:
    """The job that was named, for its TPU, in its Python, with the options of its verb.

    `by_name` are the options by name, those of a request's fields under the same name; `target`
    replaces its own where a verb has several.
    Nothing is started or written yet. Raises TpudiagError for an invalid request.
    """
    keep = _path(by_name.get("keep_writes"))
    isolation = _isolation(by_name["in_place"], keep)
    on, choice, tpu = chosen_target(target or by_name.get("target"), by_name.get("tpu", "none"))
    reference = reference_arguments(by_name, log_dir) if "reference" in by_name else ()
    asked, module = by_name["program"], by_name.get("module")
    program = program_of(None if asked is None else str(asked), module)
    named = None if by_name["python"] is None else str(by_name["python"])
    source = None if program is None else _source(program, named)
    framework, python = _framework_and_python(source, named)
    return request_of(
        JobRequest,
        by_name,
        program=program or REFERENCE,
        name=program or f"reference {by_name['reference']}, {by_name['loop']} loop",
        is_module=module is not None,
        arguments=(*(() if program else reference), *by_name["arguments"]),
        target=on,
        target_choice=choice,
        tpu=tpu,
        python=python,
        framework=framework,
        log_dir=log_dir,
        isolation=isolation,
        keep_writes=keep,
        changes_within=_path(by_name.get("changes_within")),
        saves_in="" if program else by_name["checkpoint_dir"] or "",
        rest_s=0.0 if by_name.get("first_loop") else by_name.get("budget_s", 0.0),
        compiler=_compiler(by_name),
    )


def _framework_and_python(source: str | None, named: str | None) -> tuple[Framework, JobPython]:
    """The job's framework, which is TensorFlow where its Python has a Keras before the third."""
    if source is None or script.trains_with(source) is Framework.TENSORFLOW:
        return Framework.TENSORFLOW, job_python_of(named, source)

    def framework(python: JobPython) -> Framework:
        return script.trains_with(source, keras=python.distributions.get("keras", "3"))

    try:
        python = job_python_of(named, source, Framework.JAX)
    except MissingExtra:
        with contextlib.suppress(MissingExtra):
            python = job_python_of(named, source)
            if framework(python) is Framework.TENSORFLOW:
                return Framework.TENSORFLOW, python
        raise
    return framework(python), python


def _compiler(by_name: Mapping[str, Any]) -> CompilerRequest:
    """The compiler's settings; raises UsageError where its Python cannot be run."""
    python = by_name["compiler_python"]
    if python is not None:
        # Checked now, not after minutes of rehearsal: a Python that cannot run is a usage error.
        libtpu_process.find(python)
    wanted, timeout_s = not by_name.get("no_compile"), by_name["compile_timeout_s"]
    return CompilerRequest(wanted=wanted, python=python, timeout_s=timeout_s)


def _path(path: str | Path | None) -> Path | None:
    return None if path is None else Path(path)


def _source(program: str, named: str | None) -> str:
    """The file of a program; of a module, where the first Python that may run it has it."""
    place = _named_place(named)
    pythons = [place] if place is not None else places(None, os.environ, Path.cwd())
    files = (script.file_of(program, each.path) for each in pythons)
    return next(filter(os.path.isfile, files), script.file_of(program))


def _named_place(named: str | None) -> Place | None:
    """The Python named on the command line or in the settings."""
    if named is not None:
        return named_place(named)
    setting = settings.load(Path.cwd()).python
    return None if setting is None else named_place(setting, "[tool.tpudiag] python")


def job_python_of(
    named: str | None, program: str | None = None, framework: Framework = Framework.TENSORFLOW
) -> JobPython:
    """The Python named on the command line or in the settings, or that of the user's environment.

    Raises UsageError where it cannot be used, MissingExtra where it has no TensorFlow.
    """
    return job_python.choose(_named_place(named), program, framework=framework)


def _found_target(tpu: environment.FoundTpu | None) -> str | None:
    """The target for the TPU that was found on this machine's bus."""
    if tpu is None:
        return None
    generation = next(g for g in GENERATIONS if g.name == tpu.generation)
    return f"{generation.name}-{tpu.chips * generation.cores_per_chip}"


def run_folder(log_dir: Path, program: str) -> Path:
    """A new folder for one run, named by what ran, and when; raises UsageError."""
    stem = re.sub(r"[^A-Za-z0-9_.-]+", "-", Path(program).name)[:MOST_NAME]
    name = f"{stem}-{time.strftime('%Y%m%d-%H%M%S')}"
    try:
        log_dir.mkdir(parents=True, exist_ok=True)
        for number in range(1, MOST_AT_ONCE):
            folder = log_dir / (name if number == 1 else f"{name}-{number}")
            # Runs may start in the same second: whoever creates the folder owns it.
            with contextlib.suppress(FileExistsError):
                folder.mkdir()
                return folder
    except OSError as error:
        raise UsageError(f"--log-dir {log_dir}: {error.strerror}") from error
    raise UsageError(f"--log-dir {log_dir}: {MOST_AT_ONCE} runs began there in this second")
