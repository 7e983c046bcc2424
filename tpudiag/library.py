"""tpudiag as a library: what the verbs do, from Python.

```python
import tpudiag

report = tpudiag.check("train.py", target="v5e-8", arguments=["--epochs", "1"])
for outcome in report.outcomes:
    print(outcome.id, outcome.verdict.value)
Path("report.html").write_text(tpudiag.render(report, "html"), encoding="utf-8")
```

Options have the names of the command line, with the unit of those that are times.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tpudiag.errors import UsageError
from tpudiag.model import Report
from tpudiag.phases import OnPhase
from tpudiag.settings import Settings

if TYPE_CHECKING:
    from tpudiag.diagnoses.job_request import ReferenceJob

Run = str | Path | Report
"""One run of a comparison: a profile, a report saved as JSON, or a report at hand."""


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
    sandbox: str | Path | None = None,
    log_dir: str | Path | None = None,
    no_compile: bool = False,
    compiler_python: str | None = None,
    compile_timeout_s: float = 600.0,
    reference: str = "mlp",
    loop: str = "custom",
    precision: str = "mixed_bfloat16",
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

    settings = _settings(select, ignore, pedantic)
    model = _reference(reference, loop, precision, full_size, checkpoint_dir)
    compiler = job_request.compiler_request(not no_compile, compiler_python, compile_timeout_s)
    with tempfile.TemporaryDirectory(prefix="tpudiag-") as temporary:
        folder = Path(log_dir or temporary)
        job_ = job_request.resolved(
            _text(program), module, model, arguments=arguments, target=target, tpu=tpu,
            python=_text(python), log_dir=folder,
        )  # fmt: skip
        request = replace(
            job_, steps=steps, warmup_steps=warmup_steps, timeout_s=timeout_s,
            tpu_timeout_s=tpu_timeout_s, measure_input_s=measure_input_s,
            rest_s=0.0 if first_loop else budget_s, fake_data=fake_data, compiler=compiler,
            sandbox=_path(sandbox), changes_within=_path(changes_within),
        )  # fmt: skip
        folder.mkdir(parents=True, exist_ok=True)
        report = job.diagnose(request, settings, on_phase)
    report = snippets.added(report)
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
    settings = _settings((), ignore, pedantic)
    compiler = job_request.compiler_request(not no_compile, compiler_python, compile_timeout_s)
    with tempfile.TemporaryDirectory(prefix="tpudiag-") as temporary:
        job = job_request.resolved(
            _text(program), module, arguments=arguments, target=target, python=_text(python),
            log_dir=Path(temporary),
        )  # fmt: skip
        request = replace(
            job, steps=steps, warmup_steps=warmup_steps, timeout_s=timeout_s,
            measure_input_s=measure_input_s, rest_s=0.0 if first_loop else budget_s,
            fake_data=fake_data, changes_within=_path(changes_within), compiler=compiler,
        )  # fmt: skip
        return fixing.diagnose(
            fixing.FixRequest(
                job=request, select=tuple(select), unsafe=unsafe, write=write,
                patch=_path(patch),
            ),
            settings, on_phase,
        )  # fmt: skip


def plan(
    program: str | Path | None = None,
    *,
    targets: Sequence[str] = ("v5e-8",),
    batch: Sequence[int] = (),
    arguments: Sequence[str] = (),
    python: str | Path | None = None,
    fake_data: bool = False,
    cost: str | Path | None = None,
    examples: float | None = None,
    epochs: float | None = None,
    timeout_s: float = 7200.0,
    compiler_python: str | None = None,
    compile_timeout_s: float = 600.0,
    reference: str = "mlp",
    loop: str = "custom",
    precision: str = "mixed_bfloat16",
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
    with tempfile.TemporaryDirectory(prefix="tpudiag-") as folder:
        job = job_request.resolved(
            _text(program), None, model, arguments=arguments, target=slices[0].name,
            python=_text(python), log_dir=Path(folder),
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
        return planning.diagnose(request, _settings((), ()), on_phase)


def read(
    path: str | Path,
    *,
    run: str | None = None,
    step_name: str | None = None,
    top: int = 30,
    engine: str = "local",
    xprof_limit_s: float | None = 0,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    pedantic: bool = False,
    on_phase: OnPhase = lambda _: None,
) -> Report:
    """Diagnose a TensorBoard profile, as `tpudiag read` does; XProf is asked where a limit is set.

    Raises UnreadableInput where there is no profile, KeyboardInterrupt as it comes.
    """
    from tpudiag import snippets
    from tpudiag.diagnoses import profile

    request = profile.ProfileRequest(
        path=str(path), run=run, engine=engine, xprof_limit_s=xprof_limit_s, step_name=step_name,
        top=top,
    )  # fmt: skip
    report = profile.diagnose(request, _settings(select, ignore, pedantic), on_phase)
    if report.interrupted:
        raise KeyboardInterrupt
    return snippets.added(report)


def compare(
    before: Run | Sequence[Run],
    after: Run | Sequence[Run],
    *,
    fail_on_regression: float = 0.05,
    across_hardware: bool = False,
    engine: str = "local",
    on_phase: OnPhase = lambda _: None,
) -> Report:
    """What changed between two sides, one or more runs each, as `tpudiag compare` does.

    `fail_on_regression` is the share above which a change is called a regression. Raises
    UnreadableInput, and NothingDiagnosed where the sides ran on different hardware.
    """
    from tpudiag.diagnoses import sides

    both = [(side,) if isinstance(side, Run) else tuple(side) for side in (before, after)]
    return sides.compared_runs(
        (both[0], both[1]), engine, _settings((), ()), on_phase,
        limit=fail_on_regression, across_hardware=across_hardware,
    ).report  # fmt: skip


def load(path: str | Path) -> Report:
    """A report that was saved as JSON; raises UnreadableInput where the file holds none."""
    from tpudiag import report_json

    return report_json.load(path)


def render(report: Report, format: str) -> str:
    """The report as text, rich, json, html, markdown, sarif or junit; else raises UsageError."""
    from tpudiag.catalogue import renderer, renderer_names

    if format not in renderer_names():
        raise UsageError(f"{format}: not one of {', '.join(renderer_names())}")
    return renderer(format)(report)


def _reference(
    model: str, loop: str, precision: str, full_size: bool, checkpoint_dir: str | None = None
) -> ReferenceJob:
    """The job that runs where no other is named."""
    from tpudiag.diagnoses.job_request import ReferenceJob

    return ReferenceJob(
        model=model,
        loop=loop,
        precision=precision,
        full_size=full_size,
        checkpoint_dir=checkpoint_dir,
    )


def _text(path: str | Path | None) -> str | None:
    """A path as text."""
    return None if path is None else str(path)


def _path(path: str | Path | None) -> Path | None:
    """A path as one."""
    return None if path is None else Path(path)


def _settings(select: Sequence[str], ignore: Sequence[str], pedantic: bool = False) -> Settings:
    """Those of the working folder, narrowed; raises UsageError for an id that no check has."""
    from tpudiag.catalogue import checked_settings

    return checked_settings(Path.cwd(), select, ignore, pedantic=pedantic)
