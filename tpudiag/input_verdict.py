"""Whether a host of the target can feed the predicted step, from the pipeline run alone."""

import math
from collections.abc import Sequence

from tpudiag.hardware import Host, Target
from tpudiag.prediction.times import Range
from tpudiag.records import dataclass
from tpudiag.signals import InputCost, Pipeline, Signals

ERROR = 0.20
"""The uncertainty of an example's CPU time on a host's vCPU, compared with this machine."""
USABLE = 0.8
"""The usable share of a host's vCPUs: the rest dispatches steps and transfers."""
SERIAL_BEST = 2.0
"""The greatest speed-up of a pipeline with a serial part over a single core."""
HANDED_US = 0.0, 45.0, 120.0
"""Time of a core that handing an example to another thread costs where there is more than one: it
wakes, or spins while it waits. Measured on a virtual machine of two cores: 28 to 60 by maps of
pictures and of text and by a generator (tests/benchmarks/bench_input.py), 9 by a map that does
nothing, whose threads find the next element before they fall asleep; other machines differ."""
HANDED_OUT_US = 2.0, 12.0, 25.0
"""What one thread takes to hand an element out to the others, one after the other: the rate of a
parallel map of single examples, whatever its function does and the host has. The last was measured
on a virtual machine of two cores (46,000 elements a second of a map that does nothing); of a map
whose function works so long that its threads fall asleep in between, on cores that these need as
well, it was 40."""
SERIAL_SPREAD = 0.5, 1.0, 1.5
"""Times of what it took here that the work of one thread takes: beside parallel work on as few
cores it was interrupted, on many it is woken from afar."""
LEAST_WORK = 0.4
"""The least share of an example's CPU time that is work, not spinning."""


@dataclass(frozen=True, kw_only=True)
class InputVerdict:
    """Examples per second that one host must and can deliver; predicted."""

    needed: Range
    """By the predicted step, on one host."""
    capacity: Range
    """Of the pipeline as built, on the host's vCPUs."""
    per_core: Range
    cores_needed: Range
    host: Host
    """The target's, which feeds its own chips."""
    cost: InputCost
    """Of the pipeline run alone, on this machine."""
    serial: bool
    """Whether a part of it that runs on one core decides: more vCPUs do not help."""
    handing_out: bool
    """Whether that part is one thread that passes examples to the others, one by one."""
    read_bytes_per_second: float | None
    """The read rate from storage that a host needs at the predicted step."""

    @property
    def starves(self) -> bool | None:
        """Whether the step waits for input; None where the ranges overlap."""
        if self.capacity.high < self.needed.low:
            return True
        return False if self.capacity.low >= self.needed.high else None

    @property
    def waiting_share(self) -> float:
        """The share of the step that waits, by the middle of both."""
        return max(0.0, 1 - self.capacity.value / self.needed.value)


def on_cores(pipeline: Pipeline, cost: InputCost, cores: float) -> Range:
    """Examples a second on so many cores like those of this machine."""
    work = cost.cpu_s_per_example
    waits = [us * 1e-6 * pipeline.handed_per_example for us in HANDED_US]
    # On several cores the waiting is among what was measured.
    more = waits if cost.cores == 1 and cores > 1 else [0.0, 0.0, 0.0]
    fastest = work if cost.cores == 1 else max(work - waits[1], work * LEAST_WORK)
    able = Range(cores / (work + more[2]), cores / (work + more[1]), cores / fastest)
    if cores > 1:
        able = Range(*map(min, able, _handed_out(pipeline, cost)))
    serial = cost.serial_s_per_example
    if serial is not None:
        woken = more if any(op.python for op in pipeline.ops) else [0.0, 0.0, 0.0]
        best_s, likely_s, worst_s = (
            serial * slower + wait for slower, wait in zip(SERIAL_SPREAD, woken, strict=True)
        )
        able = Range(*map(min, able, (1 / worst_s, 1 / likely_s, 1 / best_s)))
    # A serial interleave ends its readers, and their times are gone with them.
    ends = any(op.kind == "Interleave" for op in pipeline.ops)
    measured = not pipeline.serial or (cost.serial_seconds is not None and not ends)
    if measured and not pipeline.python_in_parallel:
        return able
    return Range(*map(min, able, _alone(cost, more)))


def _handed_out(pipeline: Pipeline, cost: InputCost) -> Range:
    """What the thread that hands out most can hand out; no less than it did on several cores."""
    ways = pipeline.handed_out_per_example
    if not ways:
        return Range(math.inf, math.inf, math.inf)
    here = 0.0 if cost.cores == 1 else cost.examples_per_second
    low, value, high = (max(here, 1e6 / (us * ways)) for us in reversed(HANDED_OUT_US))
    return Range(low, value, high)


def _alone(cost: InputCost, waits: Sequence[float]) -> Range:
    """Of a pipeline with a serial part: as it ran here, and so much faster at best."""
    seconds = 1 / cost.examples_per_second
    work = min(cost.cpu_s_per_example, seconds)
    return Range(1 / (seconds + waits[2]), 1 / (work + waits[1]), SERIAL_BEST / (work + waits[0]))


def per_core(cost: InputCost) -> Range:
    """Examples a second on one core of a host."""
    rate = 1 / cost.cpu_s_per_example
    return Range(rate * (1 - ERROR), rate, rate * (1 + ERROR))


def verdict(pipeline: Pipeline, examples_per_second: Range, target: Target) -> InputVerdict | None:
    """The verdict; None where the pipeline was not run alone."""
    cost = pipeline.cost
    if cost is None or cost.cpu_seconds <= 0:
        return None
    host = target.host
    one = per_core(cost)
    # Each host feeds its own chips.
    needed = examples_per_second * (1 / target.hosts)
    free = on_cores(pipeline, cost, host.vcpus)
    usable = on_cores(pipeline, cost, host.vcpus * USABLE)
    capacity = Range(usable.low * (1 - ERROR), usable.value, free.high * (1 + ERROR))
    shared = one.value * host.vcpus * USABLE * (1 - ERROR)
    handed_out = _handed_out(pipeline, cost).value
    size = cost.read_bytes
    return InputVerdict(
        needed=needed,
        capacity=capacity,
        per_core=one,
        cores_needed=Range(needed.low / one.high, needed.value / one.value, needed.high / one.low),
        host=host,
        cost=cost,
        serial=capacity.value < shared,
        handing_out=capacity.value == handed_out,
        read_bytes_per_second=size / cost.examples * needed.value if size is not None else None,
    )


def measured(signals: Signals) -> Pipeline | None:
    """The pipeline that trains, where it was run alone."""
    pipelines = (p for p in signals.pipelines or () if p.trains and p.cost)
    return next((p for p in pipelines if p.cost and p.cost.cpu_seconds > 0), None)


def of_signals(signals: Signals) -> InputVerdict | None:
    """The verdict for the pipeline that trains; None where it or the predicted step is missing."""
    step = signals.compiler.step if signals.compiler is not None else None
    pipeline = measured(signals)
    if step is None or step.predicted is None or pipeline is None or signals.target is None:
        return None
    if signals.batch is None:
        return None
    rate = step.predicted.examples_per_second(replicas(signals, signals.target))
    return verdict(pipeline, rate, signals.target)


def replicas(signals: Signals, target: Target) -> int:
    """The devices of a target that have examples of their own: a step of JAX may leave some out."""
    step = signals.sharding
    return target.replicas if step is None else max(target.replicas * step.devices // step.here, 1)
