"""The figures of a profile, for any report that shows one."""

import math
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from tpudiag.hardware import Generation, by_device_kind
from tpudiag.report_figures import Measurement
from tpudiag.signals import Device, ProfileFacts, Signals, StepTimes

STEP_PERCENTILES = (
    ("step_time_ms", 50),
    ("step_time_p90_ms", 90),
    ("step_time_p99_ms", 99),
    ("step_time_max_ms", 100),
)
SAID = 0.005
"""A part of the step below this share is left out of the headline."""
CORE_OF_CHIP = 0.75
"""A plane whose peak is below this share of its chip's is that of one of its cores."""


def headline(signals: Signals) -> str:
    """What was recorded, and the most telling figure."""
    facts, steps = profile_of(signals), signals.steps
    hosts = count(len(facts.hosts), "host")
    kinds = " and ".join(dict.fromkeys(device.kind for device in facts.devices))
    about = f"{len(facts.devices)} x {kinds} on {hosts}" if kinds else f"{hosts} without a TPU"
    if facts.devices_missing:
        about = f"{hosts} of a TPU whose devices are not in the profile"
    if facts.gpus and not kinds:
        about = f"{count(facts.gpus, 'GPU')} on {hosts}, no TPU"
    window = sum(device.window_ms for device in facts.devices)
    if window:
        share = sum(device.busy_ms for device in facts.devices) / window
        about += f", busy {share:.1%} of the time from the first to the last module"
    if steps is None:
        return f"{about}; no steps are marked."
    marked = count(len(steps.step_ms), "recovered step" if steps.recovered else "step")
    parts = sorted(shares(facts).items(), key=lambda part: -part[1])
    spent = ", ".join(f"{name} {share:.0%}" for name, share in parts if share >= SAID)
    usual = percentile(steps.step_ms, 50)
    median = f"{usual:,.0f}" if usual >= 1_000 else f"{usual:.4g}"
    return f"{about}; {marked}, median {median} ms: {spent}."


def measurements(signals: Signals) -> Iterator[tuple[str, Measurement]]:
    """The figures that stand outside any check, by name."""
    facts, steps = profile_of(signals), signals.steps
    yield "hosts", Measurement(len(facts.hosts), "", facts.source)
    yield "profile_bytes", Measurement(facts.bytes_read, "bytes", facts.source)
    if facts.started_ns is not None:
        start = datetime.fromtimestamp(facts.started_ns / 1e9, UTC)
        yield "recorded", Measurement(start.isoformat(timespec="seconds"), "", facts.source)
    if facts.capture_ms is not None:
        yield "capture_ms", Measurement(facts.capture_ms, "ms", facts.source)
    yield from _device_measurements(facts)
    yield from _use(facts)
    if steps is not None:
        yield from _step_measurements(facts, steps)
        yield from _shares(facts)


def _device_measurements(facts: ProfileFacts) -> Iterator[tuple[str, Measurement]]:
    devices = facts.devices
    if not devices:
        return
    yield (
        "device_kind",
        Measurement(" and ".join(sorted({d.kind for d in devices})), "", facts.source),
    )
    yield "devices", Measurement(len(devices), "", facts.source)
    generation = by_device_kind(devices[0].kind)
    if generation and len({device.kind for device in devices}) == 1:
        chips = chip_count(devices, generation)
        if chips is not None:
            yield "chips", Measurement(chips, "", f"{facts.source}, {generation.name} hardware")
    peaks = (
        ("peak_compute", "TFLOP/s", [d.peak_tflops for d in devices]),
        ("peak_hbm_bandwidth", "GB/s", [d.peak_hbm_gb_per_s for d in devices]),
    )
    for name, unit, values in peaks:
        # A mixed slice has no single peak.
        if values[0] is not None and len(set(values)) == 1:
            yield name, Measurement(values[0], unit, f"{facts.source}, plane of the device")
    window = sum(device.window_ms for device in devices)
    if window:
        busy = sum(device.busy_ms for device in devices)
        source = f"{facts.source}, XLA Modules, mean of {count(len(devices), 'device')}"
        yield "device_busy_ms", Measurement(busy / len(devices), "ms", source)
        yield "device_idle_ms", Measurement((window - busy) / len(devices), "ms", source)
        yield "device_idle_share", Measurement(100 * (1 - busy / window), "%", source)


def chip_count(devices: Sequence[Device], generation: Generation) -> int | None:
    """The chips; None where the devices make up no whole number of them.

    A v4 or v5p chip shows as one device (megacore) or as its two cores. The profile has each
    device's chip; where it does not, the device's peak distinguishes a core from a chip.
    """
    if devices and all(device.chip is not None for device in devices):
        return len({(device.host, device.chip) for device in devices})
    per_chip = generation.devices_per_chip
    peaks = {device.peak_tflops for device in devices}
    peak = peaks.pop() if len(peaks) == 1 else None
    if peak and generation.cores_per_chip > 1:
        is_core = peak < CORE_OF_CHIP * generation.peak_bf16_tflops_per_chip
        per_chip = generation.cores_per_chip if is_core else 1
    # Half a chip: some plane was lost, and a number would be a guess.
    return None if len(devices) % per_chip else len(devices) // per_chip


def _use(facts: ProfileFacts) -> Iterator[tuple[str, Measurement]]:
    unknown = f", at least: kernels of unknown cost take {facts.uncosted_share:.0%} of it"
    least = unknown if facts.uncosted_share >= SAID else ""
    shares = (
        ("mxu_utilization", facts.mxu_share, f"FLOPs of XLA Ops over the peak in busy time{least}"),
        (
            "hbm_bandwidth_utilization",
            facts.hbm_share,
            f"HBM bytes of XLA Ops over the peak{least}",
        ),
        ("compute_16bit_share", facts.share_16_bit, "FLOPs of matrix operations"),
        ("eager_share", facts.eager_share, "EagerLocalExecute on the host"),
    )
    for name, share, source in shares:
        if share is not None:
            yield name, Measurement(100 * share, "%", f"{facts.source}, {source}")
    window = sum(device.window_ms for device in facts.devices)
    if window:
        busy = sum(device.busy_ms for device in facts.devices) / window
        for name, share, source in shares[:2]:
            if share is not None:
                whole = f"{facts.source}, {source.replace(' in busy time', '')}, idle time included"
                yield f"{name}_of_window", Measurement(100 * share * busy, "%", whole)
    if facts.memory:
        worst = facts.memory_in_order[0]
        source = f"{facts.source}, allocations on {worst.host}, {worst.allocator}"
        yield "peak_memory_bytes", Measurement(worst.peak_bytes, "bytes", source)
        if worst.capacity_bytes:
            yield "memory_capacity_bytes", Measurement(worst.capacity_bytes, "bytes", source)


def _shares(facts: ProfileFacts) -> Iterator[tuple[str, Measurement]]:
    source = f"{facts.source}, mean of {count(len(facts.replicas), 'replica')}"
    for name, share in shares(facts).items():
        yield f"{name.replace(' ', '_')}_share", Measurement(100 * share, "%", source)


def shares(facts: ProfileFacts) -> dict[str, float]:
    """Each part's share of the step, over all replicas' steps after warm-up, 0 to 1."""
    replicas = [replica.steady for replica in facts.replicas]
    whole = sum(sum(replica.step_ms) for replica in replicas)
    names = dict.fromkeys(part.name for replica in replicas for part in replica.parts)
    if not whole:
        return {}
    # Ratio of sums, not mean of ratios: a long step counts by its length.
    return {name: sum(replica.part(name) for replica in replicas) / whole for name in names}


def _step_measurements(facts: ProfileFacts, steps: StepTimes) -> Iterator[tuple[str, Measurement]]:
    replicas = len(facts.replicas)
    slowest = f"slowest of {replicas} replicas, " if replicas > 1 else ""
    source = f"profile, {slowest}{steps.source}"
    yield "steps", Measurement(len(steps.step_ms), "", source)
    for name, percent in STEP_PERCENTILES:
        yield name, Measurement(percentile(steps.step_ms, percent), "ms", source)
    steady = steps.steady
    mean = sum(steady.step_ms) / len(steady.step_ms)
    yield "step_time_mean_ms", Measurement(mean, "ms", f"{source}, without warm-up")
    if first := len(steps.step_ms) - len(steady.step_ms):
        yield "warm_up_steps", Measurement(first, "", source)
    recorded = steady.recorded
    total = sum(recorded.step_ms)
    if recorded.input_wait_ms is not None and total:
        share = 100 * sum(recorded.input_wait_ms) / total
        yield (
            "input_wait_share",
            Measurement(share, "%", f"{facts.source}, {steps.input_wait_source or steps.source}"),
        )


def profile_of(signals: Signals) -> ProfileFacts:
    """The profile; raises ValueError where there is none to sum up."""
    if signals.profile is None:
        raise ValueError("no profile among the signals")
    return signals.profile


def percentile(values: Sequence[float], percent: int) -> float:
    """The smallest value that is not below `percent` of them (nearest rank)."""
    # Not interpolated: the 99th percentile of thirty steps would be a time that no step took.
    return sorted(values)[max(0, math.ceil(len(values) * percent / 100) - 1)]


def count(number: int, noun: str) -> str:
    """`1 host`, `2 hosts`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
