"""The plan as a report: its tables, the figures of the chosen batches, and their basis."""

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial

from tpudiag.diagnoses import plan_rows
from tpudiag.diagnoses.plan_rows import plan_row
from tpudiag.diagnoses.report_parts import Figures
from tpudiag.model import (
    Evidence,
    Finding,
    Framework,
    Outcome,
    Report,
    Severity,
    Subject,
    TargetSummary,
    Verdict,
)
from tpudiag.planning import candidates as planning
from tpudiag.planning.candidates import Plan, Row
from tpudiag.prediction.times import Range

ESTIMATE = (
    "Whether it fits, GiB and FLOPs (an example, above the smallest batch's) are what the TPU "
    "compiler says. Times are predicted from the program that it makes, not measured: published "
    "steps lay between the two ends in nine of ten cases. The input is left out."
)
UNREADABLE = "this jax cannot read the program that its libtpu makes, so that times are not known."
ONE_REPLICA = "compiled for one replica: the all-reduce between replicas is left out"
KEPT = (
    "The step is the one that an earlier plan lowered: the job's modules, arguments, environment "
    "and libraries are as they were. What it reads from elsewhere was not looked at: where that "
    "changed its shapes, name another cache folder (TPUDIAG_CACHE)."
)
ALONE = (
    "{target}: the job makes no TPUStrategy: it trains on one of the {replicas} replicas, and is "
    "planned so."
)
LOWERED = (
    "The step was lowered by TensorFlow for the CPU, so that which operations the TPU supports was "
    "judged by that lowering."
)

_tpu301 = partial(Outcome, id="TPU301", name="oom-headroom", severity=Severity.ERROR)


def report(
    name: str, plans: Sequence[Plan], partial: str | None = None, examples: float | None = None,
    reused: int = 0, *, epochs: float = 1, framework: Framework = Framework.TENSORFLOW,
) -> Report:  # fmt: skip
    """The plan of a job for some targets."""
    rows = {plan.target.name: plan.rows() for plan in plans}
    chosen = {target: planning.best(candidates) for target, candidates in rows.items()}
    priced = any(plan.price for plan in plans)
    plan = tuple(
        plan_row(row, chosen[t], examples, epochs)
        for t, candidates in rows.items()
        for row in candidates
    )
    single = plans[0].target if len(plans) == 1 else None
    return Report(
        subject=Subject("job", name),
        target=TargetSummary(single.name, single.replicas) if single is not None else None,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        outcomes=_outcome(plans, rows),
        measurements=_measurements(chosen),
        tables=plan_rows.tables(plan, priced, lasting=bool(examples)),
        headline=_headline([row for row in chosen.values() if row], rows),
        notes=(
            *(
                f"{target}: {_none_fits(rows[target])}."
                if row is None
                else f"{target}: take {row.batch} a replica, {row.batch * row.replicas} in all; "
                f"{planning.why(row, rows[target])}."
                for target, row in chosen.items()
                if len(rows) > 1  # of one target the headline says it
            ),
            *_limits(plans, framework),
            ESTIMATE,
            *((LOWERED,) if framework is Framework.TENSORFLOW else ()),
            *((KEPT,) if reused else ()),
        ),
        partial=partial,
        shortfall="whole" if partial else None,
        plan=plan,
    )


def _headline(chosen: Sequence[Row], rows: dict[str, tuple[Row, ...]]) -> str:
    # Money and time cannot be compared: by price only where all have one.
    by_price = all(row.rate_per_price for row in chosen)
    rates = [(row.rate_per_price if by_price else row.rate) or 0.0 for row in chosen]
    winner = chosen[rates.index(max(rates))] if rates else None
    if winner is None:
        said = _none_fits([row for each in rows.values() for row in each])
        return f"{said[0].upper()}{said[1:]}."
    advice = f"Take a per-replica batch of {winner.batch} on {winner.target.name}"
    reason = planning.why(winner, rows[winner.target.name])
    measure = "the predicted time of a chip"
    if by_price:
        measure = "the examples that its price buys, predicted"
    if len(rows) == 1:
        return f"{advice}, {winner.batch * winner.replicas} in all: {reason}."
    return f"{advice}, by {measure}."


def _none_fits(rows: Sequence[Row]) -> str:
    """That no batch is known to fit, unlike one known not to."""
    silent = sum(row.fits is None for row in rows)
    if not silent:
        return "no batch was seen to fit"
    return f"whether a batch fits is not known: {silent} of {len(rows)} compilations gave no answer"


def _limits(plans: Sequence[Plan], framework: Framework) -> tuple[str, ...]:
    limits: list[str] = []
    for plan in plans:
        if plan.target.hardware.minimum_tensorflow is None and framework is Framework.TENSORFLOW:
            limits.append(f"{plan.target.name} compiles, but no TensorFlow can drive it.")
        if any(a.compiled and a.program is None for a in plan.answers.values()):
            limits.append(f"{plan.target.name}: {UNREADABLE}")
        if plan.alone and plan.target.replicas > 1:
            limits.append(ALONE.format(target=plan.target.name, replicas=plan.target.replicas))
        elif plan.target.replicas > 1 and any(a.replicas == 1 for a in plan.answers.values()):
            limits.append(f"{plan.target.name} was {ONE_REPLICA}.")
    return tuple(limits)


def _measurements(chosen: dict[str, Row | None]) -> Figures:
    figures = Figures()
    for target, row in chosen.items():
        if row is not None and row.answer is not None:
            source = row.answer.source
            figures.put(f"best_batch_{target}", row.batch, "examples/replica", source)
            figures.put(f"hbm_need_{target}", row.answer.need_bytes, "bytes", source)
            name, predicted = f"examples_per_second_per_chip_{target}", f"predicted, {source}"
            figures.put(name, _rate(row), "examples/s", predicted, 1)
    return figures


def _rate(row: Row) -> Range | float | None:
    """Examples per second and chip; a range where the step is one."""
    if row.step is None or row.rate is None or not row.step.low:
        return row.rate
    step = row.step
    ends = row.rate * step.value / step.high, row.rate * step.value / step.low
    return Range(ends[0], row.rate, ends[1])


def _outcome(plans: Sequence[Plan], rows: dict[str, tuple[Row, ...]]) -> tuple[Outcome, ...]:
    """TPU301 of the plan: failed where nothing fits on a target, passed where something does."""
    judged = {t: [row for row in each if row.fits is not None] for t, each in rows.items()}
    findings = tuple(
        _nothing_fits(plan, judged[plan.target.name])
        for plan in plans
        if judged[plan.target.name] and not any(row.fits for row in judged[plan.target.name])
    )
    if findings:
        return (_tpu301(verdict=Verdict.FAILED, findings=findings),)
    unknown = [target for target, candidates in judged.items() if not candidates]
    # Unknown targets keep TPU301 from passing, since the reader may choose just that one.
    if unknown or not judged:
        reason = f"the compiler gave no answer for {', '.join(unknown) or 'any target'}"
        return (_tpu301(verdict=Verdict.SKIPPED, reason=reason),)
    evidence = tuple(
        Evidence(f"largest that fits on {plan.target.name}", plan.largest_fitting(),
                 "examples/replica", source="TPU compiler")
        for plan in plans
    )  # fmt: skip
    return (_tpu301(verdict=Verdict.PASSED, evidence=evidence),)


def _nothing_fits(plan: Plan, rows: Sequence[Row]) -> Finding:
    smallest = next((row for row in rows if row.answer is not None), None)
    full = smallest.answer.out_of_memory if smallest and smallest.answer else None
    message = full.message if full is not None else "the compiler refuses it"
    return Finding(
        f"no batch fits on {plan.target.name}: {message}",
        "a smaller batch, bfloat16 activations, or a TPU with more HBM",
        (Evidence("smallest batch tried", smallest.batch if smallest else 0, "examples/replica",
                  source="TPU compiler"),),
    )  # fmt: skip
