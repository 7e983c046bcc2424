"""The normal rate for `watch --expect`: a number, or a plan's prediction."""

from pathlib import Path

import msgspec

from tpudiag.bounded_files import read_bytes
from tpudiag.errors import UsageError
from tpudiag.monitoring.detector import Reference
from tpudiag.monitoring.recording import said_rate
from tpudiag.report_figures import PlanRow


class _Report(msgspec.Struct):
    """A JSON report."""

    plan: tuple[PlanRow, ...] = ()


def expected(wish: float | Path | None) -> Reference | None:
    """The reference, of a plan the slow end of the prediction for its best batch.

    Raises UsageError for a report that predicts no rate, or several.
    """
    if wish is None:
        return None
    if not isinstance(wish, Path):
        return Reference(wish, "what --expect gives", given=True)
    try:
        report = msgspec.json.decode(read_bytes(wish), type=_Report)
    except OSError as error:
        raise UsageError(f"--expect {wish}: {error.strerror or error}") from error
    except (msgspec.MsgspecError, RecursionError) as error:
        raise UsageError(f"--expect {wish}: neither a rate nor a JSON report") from error
    best = [row for row in report.plan if row.best and row.examples_per_second]
    if not best:
        raise UsageError(
            f"--expect {wish}: predicts no rate; make it with tpudiag plan train.py --for v5e-8 "
            f"-o {wish.name}"
        )
    if len(best) > 1:
        targets = ", ".join(row.target for row in best)
        raise UsageError(f"--expect {wish}: a plan for several TPUs ({targets}); make one for one")
    (row,) = best
    slowest = row.examples_per_second or 0.0
    if row.step_ms and row.step_high_ms:
        # A job at the slow end of its prediction is still as predicted.
        slowest *= row.step_ms / row.step_high_ms
    text = (
        f"what {wish.name} predicts for {row.target} at {row.batch_per_replica} a replica: "
        f"{said_rate(slowest)} at the least"
    )
    return Reference(slowest, text, given=True)
