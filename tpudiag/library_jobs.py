"""The part of the library that runs jobs: check, fix and plan, as tpudiag.library has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from tpudiag import scratch
from tpudiag.errors import UsageError
from tpudiag.model import Report
from tpudiag.options.jobs import CheckOptions, FixOptions, PlanOptions
from tpudiag.options.verbs import filled, keywords, request_of
from tpudiag.phases import OnPhase
from tpudiag.settings import Settings


@keywords
def check(
    program: str | Path | None = None,
    *,
    arguments: Sequence[str] = (),
    on_phase: OnPhase = lambda _: None,
    **options: Unpack[CheckOptions],
) -> Report:
    """Run a job in a child process, observed, and diagnose it, as `tpudiag check` does.

    `program` is a script, a notebook or `module:function`, `module` one that runs as by
    `python -m`; without either the reference job runs. `options` say how it runs (tpudiag.options.
    jobs.CheckOptions, docs/options.md). Without `log_dir` the job's profile goes
    with the call. `changes_within` is a folder that offered changes stay in, where the script's
    project is larger. `on_phase` hears what is being done. Raises TpudiagError: UsageError for an
    unknown target or id, UnreadableInput for a script that is not there, MissingExtra without
    TensorFlow. Ctrl-C gives a report of what was seen, with `interrupted` set.
    """
    said = filled("check", options)
    from tpudiag import snippets
    from tpudiag.diagnoses import job, job_request

    settings, kept = settings_of(said), said["log_dir"]
    with scratch.folder("log") as temporary:
        folder = Path(kept or temporary)
        request = job_request.resolved(
            _text(program), said["module"], arguments=arguments, target=said["target"],
            tpu=said["tpu"], log_dir=folder, said=said,
        )  # fmt: skip
        folder.mkdir(parents=True, exist_ok=True)
        report = snippets.added(job.diagnose(request, settings, on_phase))
    return report if kept is not None else replace(report, next_command=None)


@keywords
def fix(
    program: str | Path | None = None,
    *,
    arguments: Sequence[str] = (),
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

    if program is None and said["module"] is None:
        raise UsageError("fix: name the script that is to be mended")
    settings = settings_of(said | {"select": ()})
    with scratch.folder("log") as temporary:
        job = job_request.resolved(
            _text(program), said["module"], arguments=arguments, target=said["target"],
            log_dir=temporary, said=said,
        )  # fmt: skip
        patch = None if said["patch"] is None else Path(said["patch"])
        request = request_of(
            fixing.FixRequest, said, job=job, select=tuple(said["select"]), patch=patch
        )
        return fixing.diagnose(request, settings, on_phase)


@keywords
def plan(
    program: str | Path | None = None,
    *,
    arguments: Sequence[str] = (),
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

    slices = tuple(hardware.sold_target(name) for name in dict.fromkeys(said["targets"]))
    if not slices:
        raise UsageError("targets: name at least one TPU, e.g. v5e-8")
    examples, epochs, cost = said["examples"], said["epochs"], said["cost"]
    if examples is None and epochs is not None:
        raise UsageError("epochs: say with examples how many examples the data set has")
    installed = planning.installed_compiler(said["compiler_python"])
    with scratch.folder("log") as folder:
        job = job_request.resolved(
            _text(program), arguments=arguments, target=slices[0].name, log_dir=folder, said=said
        )
        request = planning.PlanRequest(
            job=planning.up_to_its_step(job), installed=installed, targets=slices,
            batches=tuple(said["batch"]), prices={} if cost is None else prices.load(Path(cost)),
            examples=None if examples is None else examples * (epochs or 1),
            timeout_s=said["timeout_s"], compile_timeout_s=said["compile_timeout_s"],
        )  # fmt: skip
        return planning.diagnose(request, settings_of({}), on_phase)


def _text(path: str | Path | None) -> str | None:
    """A path as text."""
    return None if path is None else str(path)


def settings_of(said: Mapping[str, Any]) -> Settings:
    """Those of the working folder, narrowed; raises UsageError for an id that no check has."""
    from tpudiag.catalogue import checked_settings

    return checked_settings(Path.cwd(), said)
