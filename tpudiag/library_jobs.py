"""The part of the library that runs jobs: check, fix and plan, as tpudiag.library has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from tpudiag import scratch
from tpudiag.errors import UsageError
from tpudiag.job_options import CheckOptions, FixOptions, PlanOptions, filled, keywords
from tpudiag.model import Report
from tpudiag.phases import OnPhase
from tpudiag.settings import Settings


@keywords("check")
def check(
    program: str | Path | None = None,
    *,
    module: str | None = None,
    target: str | None = None,
    arguments: Sequence[str] = (),
    tpu: str | None = None,
    log_dir: str | Path | None = None,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    pedantic: bool = False,
    changes_within: str | Path | None = None,
    on_phase: OnPhase = lambda _: None,
    **options: Unpack[CheckOptions],
) -> Report:
    """Run a job in a child process, observed, and diagnose it, as `tpudiag check` does.

    `program` is a script, a notebook or `module:function`, `module` one that runs as by
    `python -m`; without either the reference job runs. `options` say how it runs (tpudiag.
    job_options.CheckOptions, docs/options.md). Without `log_dir` the job's profile goes
    with the call. `changes_within` is a folder that offered changes stay in, where the script's
    project is larger. `on_phase` hears what is being done. Raises TpudiagError: UsageError for an
    unknown target or id, UnreadableInput for a script that is not there, MissingExtra without
    TensorFlow. Ctrl-C gives a report of what was seen, with `interrupted` set.
    """
    said = filled("check", options)
    from tpudiag import snippets
    from tpudiag.diagnoses import job, job_request

    settings = settings_of(select, ignore, pedantic)
    with scratch.folder("log") as temporary:
        folder = Path(log_dir or temporary)
        request = job_request.resolved(
            _text(program), module, arguments=arguments, target=target, tpu=tpu, log_dir=folder,
            said=said,
        )  # fmt: skip
        folder.mkdir(parents=True, exist_ok=True)
        request = replace(request, changes_within=_path(changes_within))
        report = snippets.added(job.diagnose(request, settings, on_phase))
    return report if log_dir is not None else replace(report, next_command=None)


@keywords("fix")
def fix(
    program: str | Path | None = None,
    *,
    module: str | None = None,
    target: str | None = None,
    arguments: Sequence[str] = (),
    write: bool = False,
    patch: str | Path | None = None,
    unsafe: bool = False,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    pedantic: bool = False,
    changes_within: str | Path | None = None,
    on_phase: OnPhase = lambda _: None,
    **options: Unpack[FixOptions],
) -> Report:
    """Change a script so that its findings are gone, proven by a rehearsal, as `tpudiag fix` does.

    Each finding of the report has its `change`, with its state and proof, or says in `no_change`
    why it has none; `mending` holds the whole difference and how many findings are `left`. Files
    are changed with `write` alone, and none outside `changes_within`. `options` say how each
    rehearsal runs (FixOptions). Raises TpudiagError: NothingDiagnosed where the job comes to no
    training step, UnreadableInput for a script that is not to be touched; and KeyboardInterrupt.
    """
    said = filled("fix", options)
    from tpudiag.diagnoses import fix as fixing
    from tpudiag.diagnoses import job_request

    if program is None and module is None:
        raise UsageError("fix: name the script that is to be mended")
    settings = settings_of((), ignore, pedantic)
    with scratch.folder("log") as temporary:
        job = job_request.resolved(
            _text(program), module, arguments=arguments, target=target, log_dir=temporary,
            said=said,
        )  # fmt: skip
        request = fixing.FixRequest(
            job=replace(job, changes_within=_path(changes_within)),
            select=tuple(select),
            unsafe=unsafe,
            write=write,
            patch=_path(patch),
        )
        return fixing.diagnose(request, settings, on_phase)


@keywords("plan")
def plan(
    program: str | Path | None = None,
    *,
    targets: Sequence[str] = ("v5e-8",),
    batch: Sequence[int] = (),
    arguments: Sequence[str] = (),
    cost: str | Path | None = None,
    examples: float | None = None,
    epochs: float | None = None,
    on_phase: OnPhase = lambda _: None,
    **options: Unpack[PlanOptions],
) -> Report:
    """Which TPU and which per-replica batch, by the TPU compiler's word, as `tpudiag plan` does.

    `options` say how the job runs to its first step (PlanOptions). Raises UsageError,
    UnreadableInput, MissingExtra without the compiler or TensorFlow, and NothingDiagnosed where
    the job shows no training step.
    """
    said = filled("plan", options)
    from tpudiag import hardware
    from tpudiag.diagnoses import job_request
    from tpudiag.diagnoses import plan as planning
    from tpudiag.planning import prices

    slices = tuple(hardware.sold_target(name) for name in dict.fromkeys(targets))
    if not slices:
        raise UsageError("targets: name at least one TPU, e.g. v5e-8")
    if examples is None and epochs is not None:
        raise UsageError("epochs: say with examples how many examples the data set has")
    installed = planning.installed_compiler(said["compiler_python"])
    with scratch.folder("log") as folder:
        job = job_request.resolved(
            _text(program), arguments=arguments, target=slices[0].name, log_dir=folder, said=said
        )
        request = planning.PlanRequest(
            job=planning.up_to_its_step(job), installed=installed, targets=slices,
            batches=tuple(batch), prices={} if cost is None else prices.load(Path(cost)),
            examples=None if examples is None else examples * (epochs or 1),
            timeout_s=said["timeout_s"], compile_timeout_s=said["compile_timeout_s"],
        )  # fmt: skip
        return planning.diagnose(request, settings_of((), ()), on_phase)


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
