"""The part of the library that runs jobs: check, fix and plan, as tpudiag.library has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tpudiag import scratch
from tpudiag.errors import UsageError
from tpudiag.model import Report
from tpudiag.phases import OnPhase
from tpudiag.settings import Settings

if TYPE_CHECKING:
    from tpudiag.diagnoses.job_request import WritesWanted
    from tpudiag.diagnoses.named_program import ReferenceJob
    from tpudiag.reference.options import LoopName, ModelName, PrecisionName


def check(
    program: str | Path | None = None,
    *,
    module: str | None = None,
    target: str | None = None,
    arguments: Sequence[str] = (),
    tpu: str | None = None,
    python: str | Path | None = None,
    fake_data: bool = False,
    steps: int | None = None,
    warmup_steps: int = 5,
    first_loop: bool = False,
    budget_s: float = 60.0,
    timeout_s: float = 900.0,
    tpu_timeout_s: float = 120.0,
    measure_input_s: float = 10.0,
    in_place: bool = False,
    keep_writes: str | Path | None = None,
    offline: bool = False,
    log_dir: str | Path | None = None,
    no_compile: bool = False,
    compiler_python: str | None = None,
    compile_timeout_s: float = 600.0,
    reference: ModelName = "mlp",
    loop: LoopName = "custom",
    precision: PrecisionName = "mixed_bfloat16",
    full_size: bool = False,
    checkpoint_dir: str | None = None,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    pedantic: bool = False,
    changes_within: str | Path | None = None,
    on_phase: OnPhase = lambda _: None,
) -> Report:
    """Run a job in a child process, observed, and diagnose it, as `tpudiag check` does.

    `program` is a script, a notebook or `module:function`, `module` one that runs as by
    `python -m`; without either the reference job runs. Without `log_dir` the job's profile goes
    with the call. `changes_within` is a folder that offered changes stay in, where the script's
    project is larger. `on_phase` hears what is being done. Raises TpudiagError: UsageError for an
    unknown target or id, UnreadableInput for a script that is not there, MissingExtra without
    TensorFlow. Ctrl-C gives a report of what was seen, with `interrupted` set.
    """
    from tpudiag import snippets
    from tpudiag.diagnoses import job, job_request

    settings = settings_of(select, ignore, pedantic)
    model = _reference(reference, loop, precision, full_size, checkpoint_dir)
    with scratch.folder("log") as temporary:
        folder = Path(log_dir or temporary)
        named = job_request.resolved(
            _text(program), module, model, arguments=arguments, target=target, tpu=tpu,
            python=_text(python), log_dir=folder,
            writes=_writes(in_place, keep_writes, offline),
        )  # fmt: skip
        request = job_request.configured(
            replace(named, changes_within=_path(changes_within)),
            steps=steps, warmup_steps=warmup_steps, first_loop=first_loop, budget_s=budget_s,
            timeout_s=timeout_s, tpu_timeout_s=tpu_timeout_s, measure_input_s=measure_input_s,
            fake_data=fake_data, no_compile=no_compile, compiler_python=compiler_python,
            compile_timeout_s=compile_timeout_s,
        )  # fmt: skip
        folder.mkdir(parents=True, exist_ok=True)
        report = snippets.added(job.diagnose(request, settings, on_phase))
    return report if log_dir is not None else replace(report, next_command=None)


def fix(
    program: str | Path | None = None,
    *,
    module: str | None = None,
    target: str | None = None,
    arguments: Sequence[str] = (),
    python: str | Path | None = None,
    write: bool = False,
    patch: str | Path | None = None,
    unsafe: bool = False,
    fake_data: bool = False,
    steps: int | None = None,
    warmup_steps: int = 5,
    first_loop: bool = False,
    budget_s: float = 60.0,
    timeout_s: float = 900.0,
    measure_input_s: float = 10.0,
    in_place: bool = False,
    offline: bool = False,
    no_compile: bool = False,
    compiler_python: str | None = None,
    compile_timeout_s: float = 600.0,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    pedantic: bool = False,
    changes_within: str | Path | None = None,
    on_phase: OnPhase = lambda _: None,
) -> Report:
    """Change a script so that its findings are gone, proven by a rehearsal, as `tpudiag fix` does.

    Each finding of the report has its `change`, with its state and proof, or says in `no_change`
    why it has none; `mending` holds the whole difference and how many findings are `left`. Files
    are changed with `write` alone, and none outside `changes_within`. Raises TpudiagError:
    NothingDiagnosed where the job comes to no training step, UnreadableInput for a script that is
    not to be touched; and KeyboardInterrupt.
    """
    from tpudiag.diagnoses import fix as fixing
    from tpudiag.diagnoses import job_request

    if program is None and module is None:
        raise UsageError("fix: name the script that is to be mended")
    settings = settings_of((), ignore, pedantic)
    with scratch.folder("log") as temporary:
        named = job_request.resolved(
            _text(program), module, arguments=arguments, target=target, python=_text(python),
            log_dir=temporary, writes=_writes(in_place, None, offline),
        )  # fmt: skip
        job = job_request.configured(
            replace(named, changes_within=_path(changes_within)), steps=steps,
            warmup_steps=warmup_steps, first_loop=first_loop, budget_s=budget_s,
            timeout_s=timeout_s, measure_input_s=measure_input_s, fake_data=fake_data,
            no_compile=no_compile, compiler_python=compiler_python,
            compile_timeout_s=compile_timeout_s,
        )  # fmt: skip
        request = fixing.FixRequest(
            job=job, select=tuple(select), unsafe=unsafe, write=write, patch=_path(patch)
        )
        return fixing.diagnose(request, settings, on_phase)


def plan(
    program: str | Path | None = None,
    *,
    targets: Sequence[str] = ("v5e-8",),
    batch: Sequence[int] = (),
    arguments: Sequence[str] = (),
    python: str | Path | None = None,
    fake_data: bool = False,
    in_place: bool = False,
    offline: bool = False,
    cost: str | Path | None = None,
    examples: float | None = None,
    epochs: float | None = None,
    timeout_s: float = 7200.0,
    compiler_python: str | None = None,
    compile_timeout_s: float = 600.0,
    reference: ModelName = "mlp",
    loop: LoopName = "custom",
    precision: PrecisionName = "mixed_bfloat16",
    full_size: bool = False,
    on_phase: OnPhase = lambda _: None,
) -> Report:
    """Which TPU and which per-replica batch, by the TPU compiler's word, as `tpudiag plan` does.

    Raises UsageError, UnreadableInput, MissingExtra without the compiler or TensorFlow, and
    NothingDiagnosed where the job shows no training step.
    """
    from tpudiag import hardware
    from tpudiag.diagnoses import job_request
    from tpudiag.diagnoses import plan as planning
    from tpudiag.planning import prices

    slices = tuple(hardware.sold_target(name) for name in dict.fromkeys(targets))
    if not slices:
        raise UsageError("targets: name at least one TPU, e.g. v5e-8")
    if examples is None and epochs is not None:
        raise UsageError("epochs: say with examples how many examples the data set has")
    model = _reference(reference, loop, precision, full_size)
    installed = planning.installed_compiler(compiler_python)
    with scratch.folder("log") as folder:
        job = job_request.resolved(
            _text(program), None, model, arguments=arguments, target=slices[0].name,
            python=_text(python), log_dir=folder, writes=_writes(in_place, None, offline),
        )  # fmt: skip
        rehearsal = replace(
            job, warmup_steps=1, tpu_timeout_s=1.0, measure_input_s=0.0, rest_s=0.0,
            fake_data=fake_data,
        )  # fmt: skip
        request = planning.PlanRequest(
            job=rehearsal, installed=installed, targets=slices, batches=tuple(batch),
            prices={} if cost is None else prices.load(Path(cost)),
            examples=None if examples is None else examples * (epochs or 1),
            timeout_s=timeout_s, compile_timeout_s=compile_timeout_s,
        )  # fmt: skip
        return planning.diagnose(request, settings_of((), ()), on_phase)


def _reference(
    model: ModelName,
    loop: LoopName,
    precision: PrecisionName,
    full_size: bool,
    checkpoint_dir: str | None = None,
) -> ReferenceJob:
    """The job that runs where no other is named."""
    from tpudiag.diagnoses.named_program import ReferenceJob

    return ReferenceJob(
        model=model,
        loop=loop,
        precision=precision,
        full_size=full_size,
        checkpoint_dir=checkpoint_dir,
    )


def _writes(in_place: bool, keep: str | Path | None, offline: bool) -> WritesWanted:
    """What becomes of what a rehearsal writes and sends."""
    from tpudiag.diagnoses.job_request import WritesWanted

    return WritesWanted(in_place=in_place, keep=_path(keep), offline=offline)


def _text(path: str | Path | None) -> str | None:
    """A path as text."""
    return None if path is None else str(path)


def _path(path: str | Path | None) -> Path | None:
    """A path as one."""
    return None if path is None else Path(path)


def settings_of(select: Sequence[str], ignore: Sequence[str], pedantic: bool = False) -> Settings:
    """Those of the working folder, narrowed; raises UsageError for an id that no check has."""
    from tpudiag.catalogue import checked_settings

    return checked_settings(Path.cwd(), select, ignore, pedantic=pedantic)
