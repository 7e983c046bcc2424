"""The figures of a report: measured and predicted, for tables, plots and comparisons."""

from dataclasses import field
from typing import Literal, Union

from tpudiag.location import Location
from tpudiag.records import dataclass

Value = Union[float, int, str, bool]  # noqa: UP007  (read at run time by Python 3.10 too)
"""What a figure may be; a float or int carries its unit beside it."""


@dataclass(frozen=True)
class Measurement:
    """A figure of the report that stands outside any check.

    An estimate carries its range, `low` to `high`, in its unit.
    """

    value: Value
    unit: str
    source: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Table:
    """Rows worth showing that are no check: top operations, hosts, devices."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    source: str


SeriesKind = Literal["step_time", "step_part", "replica_step", "memory", "roofline", "ledger"]


@dataclass(frozen=True, kw_only=True)
class Series:
    """Figures along an axis, for plots: a line, a part of a stack or a row of a heat map.

    Those of one `kind` belong together: `step_time`, `step_part` (mean over the replicas),
    `replica_step` (without collectives, in which the fast wait for the slow), `memory`, `roofline`
    (operations as points; the limit is the chip's peak), `ledger` (what the time went into).
    """

    kind: SeriesKind
    name: str
    x_unit: str
    unit: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    limit: float | None = None
    """What `y` must not pass, in its unit, where that is known."""
    limit_per_x: float | None = None
    """What `y` must not pass for each unit of `x`: a roofline's slope, the HBM bandwidth."""
    labels: tuple[str, ...] = ()
    """What each point is, where points have names."""
    source: str


@dataclass(frozen=True, kw_only=True)
class XProfLink:
    """A place in a running XProf that shows what a report is about."""

    name: str
    """E.g. `slowest step`."""
    url: str


@dataclass(frozen=True)
class StepSamples:
    """A figure by step, in the steps' order, for a test against those of another run."""

    name: str
    unit: str
    values: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class PlanRow:
    """One per-replica batch on one target, by the TPU compiler's word; None: not known.

    Shares are of 1: `headroom` of the HBM that the compiler may use, `more_flops` of FLOPs an
    example above those of the smallest batch.
    """

    target: str
    batch_per_replica: int
    fits: bool | None
    recomputes: bool = False
    best: bool = False
    hbm_need_bytes: int | None = None
    headroom: float | None = None
    more_flops: float | None = None
    step_ms: float | None = None
    """As predicted, between `step_low_ms` and `step_high_ms`."""
    step_low_ms: float | None = None
    step_high_ms: float | None = None
    bound_by: str | None = None
    """What the predicted step waits for most: MXU, HBM, ICI, dispatch."""
    split_ms: dict[str, float] = field(default_factory=dict[str, float])
    """The device's time by what it waits for, predicted."""
    mfu: float | None = None
    """FLOPs of its matrix products over the bfloat16 peak, predicted, 0 to 1."""
    mfu_low: float | None = None
    mfu_high: float | None = None
    hbm_use: float | None = None
    """Bytes over the HBM's bandwidth, predicted, 0 to 1."""
    hbm_use_low: float | None = None
    hbm_use_high: float | None = None
    collective_ms: float | None = None
    collective_low_ms: float | None = None
    collective_high_ms: float | None = None
    flops_per_example: float | None = None
    hbm_bytes_per_example: float | None = None
    collective_bytes_per_step: int | None = None
    examples_per_second: float | None = None
    """Of the whole slice, as predicted."""
    examples_per_second_low: float | None = None
    examples_per_second_high: float | None = None
    examples_per_second_per_chip: float | None = None
    examples_per_second_per_chip_low: float | None = None
    examples_per_second_per_chip_high: float | None = None
    input_needed_examples_per_second_per_host: float | None = None
    """That the step takes on one host, as predicted."""
    input_needed_examples_per_second_per_host_low: float | None = None
    input_needed_examples_per_second_per_host_high: float | None = None
    examples_per_price: float | None = None
    hours: float | None = None
    """For the requested examples, between `hours_low` and `hours_high`."""
    hours_low: float | None = None
    hours_high: float | None = None
    cost: float | None = None
    """Of these hours, in the user's money."""
    cost_low: float | None = None
    cost_high: float | None = None
    hours_per_epoch: float | None = None
    """Of the hours, and of their cost, what one pass over the examples takes."""
    hours_per_epoch_low: float | None = None
    hours_per_epoch_high: float | None = None
    cost_per_epoch: float | None = None
    cost_per_epoch_low: float | None = None
    cost_per_epoch_high: float | None = None
    cost_per_million_examples: float | None = None
    """In the user's money, as predicted."""
    cost_per_million_examples_low: float | None = None
    cost_per_million_examples_high: float | None = None
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class PredictedInstruction:
    """One instruction of the TPU compiler's program, with the time that it is predicted to take.

    Bytes, FLOPs and times are of one step of one replica, loops unrolled.
    """

    name: str
    operation: str
    """The framework's operation that it was made for; empty where it has none."""
    location: Location | None = None
    runs: int
    ms: float
    low_ms: float
    high_ms: float
    share: float
    """Of the predicted step, 0 to 1."""
    hbm_bytes: int
    flops: int
    bound_by: str
    helps: str
    """What would make it faster."""


@dataclass(frozen=True, kw_only=True)
class OperationFigures:
    """What the compiler's program spends on one operation of the framework in one step."""

    operation: str
    location: Location | None = None
    cycles: int
    flops: int
    hbm_bytes: int
    collective_bytes: int
    result_bytes: int
    """Of what its instructions leave in HBM, with padding."""


@dataclass(frozen=True, kw_only=True)
class StepPrediction:
    """A training step on one target, predicted from the TPU compiler's program: not measured."""

    target: str
    batch_per_replica: int
    replicas: int
    """That the program was compiled for."""
    compiler: str
    step_ms: float
    low_ms: float
    high_ms: float
    bound_by: str
    split_ms: dict[str, float] = field(default_factory=dict[str, float])
    """The device's time by what it waits for."""
    instructions: tuple[PredictedInstruction, ...] = ()
    """Those that take most."""
    operations: tuple[OperationFigures, ...] = ()
    """All that take something, for a comparison with another report."""


@dataclass(frozen=True)
class Excerpt:
    """Lines of the user's code around a finding, as they were when the report was made."""

    file: str
    first_line: int
    lines: tuple[str, ...]
    cell: int | None = None
    """The cell whose lines they are, where the file is a notebook."""
