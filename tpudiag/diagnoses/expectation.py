"""What `watch --expect` calls normal: a rate, or what a plan's JSON report predicts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tpudiag.errors import UsageError
from tpudiag.monitoring.detector import Reference
from tpudiag.monitoring.recording import said_rate


def expected(wish: float | Path | None) -> Reference | None:
    """The reference; raises UsageError for a report that predicts no rate, or several."""
    if wish is None:
        return None
    if isinstance(wish, Path):
        return _of_plan(wish)
    return Reference(wish, "what --expect gives", given=True)


def _of_plan(path: Path) -> Reference:
    """The slow end of what is predicted for the best batch: less than that is a drop."""
    try:
        report: Any = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"--expect {path}: {error.strerror or error}") from error
    except ValueError as error:
        raise UsageError(f"--expect {path}: neither a rate nor a JSON report") from error
    rows: Any = report.get("plan") if isinstance(report, dict) else None  # pyright: ignore
    best = [row for row in rows or () if row.get("best") and row.get("examples_per_second")]
    if not best:
        raise UsageError(
            f"--expect {path}: predicts no rate; make it with tpudiag plan train.py --for v5e-8 "
            f"-o {path.name}"
        )
    if len(best) > 1:
        targets = ", ".join(str(row["target"]) for row in best)
        raise UsageError(f"--expect {path}: a plan for several TPUs ({targets}); make one for one")
    (row,) = best
    rate = float(row["examples_per_second"])
    step_ms, high_ms = row.get("step_ms"), row.get("step_high_ms")
    slowest = rate * step_ms / high_ms if step_ms and high_ms else rate
    text = (
        f"what {path.name} predicts for {row['target']} at {row['batch_per_replica']} a replica: "
        f"{said_rate(slowest)} at the least"
    )
    return Reference(slowest, text, given=True)
