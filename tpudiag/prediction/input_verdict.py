"""Whether a host of the target can feed the predicted step, from the pipeline run alone."""

from __future__ import annotations

from tpudiag.hardware import Target
from tpudiag.prediction.times import Range
from tpudiag.records import dataclass
from tpudiag.signals import Pipeline, Signals

ERROR = 0.20
"""CPU time of an example on this machine against that on a host's vCPU: give or take."""
USABLE = 0.8
"""Of a host's vCPUs: the rest dispatches steps and transfers."""
SERIAL_BEST = 2.0
"""A pipeline with a serial part may run so many times faster than one core does all of it."""


@dataclass(frozen=True, kw_only=True)
class InputVerdict:
    """Examples a second that one host must give, and those that it can; predicted."""

    needed: Range
    """By the predicted step, on one host."""
    capacity: Range
    """Of the pipeline as built, on the host's vCPUs."""
    per_core: Range
    cores_needed: Range
    vcpus: int
    machine_type: str
    serial: bool
    """Whether a part of it keeps it on about one core."""
    read_bytes_per_second: float | None
    """That a host must read from the storage at the predicted step."""

    @property
    def starves(self) -> bool | None:
        """Whether the step waits for input; None where the ends of the ranges do not agree."""
        if self.capacity.high < self.needed.low:
            return True
        return False if self.capacity.low >= self.needed.high else None

    @property
    def waiting_share(self) -> float:
        """The share of the step that waits, by the middle of both."""
        return max(0.0, 1 - self.capacity.value / self.needed.value)


def verdict(pipeline: Pipeline, examples_per_second: Range, target: Target) -> InputVerdict | None:
    """The verdict; None where the pipeline was not run alone."""
    cost = pipeline.cost
    if cost is None or cost.cpu_seconds <= 0:
        return None
    host = target.host
    rate = 1 / cost.cpu_s_per_example
    per_core = Range(rate * (1 - ERROR), rate, rate * (1 + ERROR))
    # Each host feeds its own chips.
    needed = examples_per_second * (1 / target.hosts)
    if pipeline.serial:
        best = max(rate, cost.examples_per_second)
        capacity = Range(
            min(rate, cost.examples_per_second) * (1 - ERROR), best, best * SERIAL_BEST
        )
    else:
        capacity = Range(
            per_core.low * host.vcpus * USABLE,
            rate * host.vcpus * USABLE,
            per_core.high * host.vcpus,
        )
    size = cost.read_bytes
    return InputVerdict(
        needed=needed,
        capacity=capacity,
        per_core=per_core,
        cores_needed=Range(
            needed.low / per_core.high, needed.value / rate, needed.high / per_core.low
        ),
        vcpus=host.vcpus,
        machine_type=host.machine_type,
        serial=pipeline.serial,
        read_bytes_per_second=size / cost.examples * needed.value if size is not None else None,
    )


def of_signals(signals: Signals) -> InputVerdict | None:
    """The verdict for the pipeline that trains; None where it or the predicted step is missing."""
    step = signals.compiler.step if signals.compiler is not None else None
    pipeline = next((p for p in signals.pipelines or () if p.trains and p.cost), None)
    if step is None or step.predicted is None or pipeline is None or signals.target is None:
        return None
    rate = step.predicted.examples_per_second(signals.target.replicas)
    return verdict(pipeline, rate, signals.target)
