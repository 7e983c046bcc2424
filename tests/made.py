"""Reports, outcomes and series for tests to which most of their fields do not matter."""

from pathlib import Path
from typing import Any

from tpudiag.model import Finding, Outcome, Report, Severity, Subject, Verdict
from tpudiag.prediction.step import PredictedStep
from tpudiag.prediction.times import Bound, Range
from tpudiag.report_figures import Series, SeriesKind

STARTED = "2026-01-02T03:04:05Z"


def outcome(id_: str, verdict: Verdict, *findings: Finding, **fields: Any) -> Outcome:
    """An outcome of this check, an error named input-bound unless said otherwise."""
    given: dict[str, Any] = {"name": "input-bound", "severity": Severity.ERROR} | fields
    return Outcome(id=id_, verdict=verdict, findings=findings, **given)


def series(kind: SeriesKind, y: tuple[float, ...], name: str = "s", **fields: Any) -> Series:
    """A series of ms by the step, from a job, unless said otherwise."""
    x = tuple(float(number) for number in range(len(y)))
    given: dict[str, Any] = {"x": x, "x_unit": "step", "unit": "ms", "source": "job"} | fields
    return Series(kind=kind, name=name, y=y, **given)


def predicted(ms: Range, batch: int = 128, **fields: Any) -> PredictedStep:
    """A predicted step on v5e-8 that takes so long, bound by HBM, unless said otherwise."""
    given: dict[str, Any] = {"device_ms": ms, "mfu": ms, "hbm_use": ms, "collective_ms": ms} | {
        **dict.fromkeys(("flops", "hbm_bytes", "collective_bytes"), 1), **fields
    }  # fmt: skip
    split = ((Bound.HBM, ms.value),)
    return PredictedStep(
        target="v5e-8", batch=batch, ms=ms, bound_by=Bound.HBM, split_ms=split, top=(), **given
    )


def distribution(site: Path, name: str, version: str, metadata: str = "") -> Path:
    """The folder of an installed distribution's metadata, with these lines more."""
    folder = site / f"{name}-{version}.dist-info"
    folder.mkdir(parents=True)
    told = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{metadata}"
    (folder / "METADATA").write_text(told)
    return folder


def report(*outcomes: Outcome, **fields: Any) -> Report:
    """A report of the job train.py, unless said otherwise."""
    given: dict[str, Any] = {"subject": Subject("job", "train.py"), "started": STARTED} | fields
    return Report(outcomes=outcomes, **given)
