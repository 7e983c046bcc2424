"""The figures of a profile, for any report that shows one."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime

from tpudiag.diagnoses.report_parts import Figures, count
from tpudiag.hardware import Generation, by_device_kind
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
    if facts.window_ms:
        share = facts.busy_ms / facts.window_ms
        about += f", busy {share:.1%} of the time from the first to the last module"
    if steps is None:
        return f"{about}; no steps are marked."
    marked = count(len(steps.step_ms), "recovered step" if steps.recovered else "step")
    parts = sorted(shares(facts).items(), key=lambda part: -part[1])
    spent = ", ".join(f"{name} {share:.0%}" for name, share in parts if share >= SAID)
    usual = percentile(steps.step_ms, 50)
    median = f"{usual:,.0f}" if usual >= 1_000 else f"{usual:.4g}"
    return f"{about}; {marked}, median {median} ms: {spent}."


def measurements(signals: Signals) -> Figures:
    """The figures that stand outside any check, by name."""
    facts, steps = profile_of(signals), signals.steps
    figures = Figures()
    figures.put("hosts", len(facts.hosts), "", facts.source)
    figures.put("profile_bytes", facts.bytes_read, "bytes", facts.source)
    if facts.started_ns is not None:
        start = datetime.fromtimestamp(facts.started_ns / 1e9, UTC)
        figures.put("recorded", start.isoformat(timespec="seconds"), "", facts.source)
    figures.put("capture_ms", facts.capture_ms, "ms", facts.source)
    if facts.devices:
        _put_devices(figures, facts)
    _put_use(figures, facts)
    if steps is not None:
        _put_steps(figures, facts, steps)
        source = f"{facts.source}, mean of {count(len(facts.replicas), 'replica')}"
        for name, share in shares(facts).items():
            figures.put(f"{name.replace(' ', '_')}_share", 100 * share, "%", source)
    return figures


def _put_devices(figures: Figures, facts: ProfileFacts) -> None:
    devices = facts.devices
    kinds = sorted({device.kind for device in devices})
    figures.put("device_kind", " and ".join(kinds), "", facts.source)
    figures.put("devices", len(devices), "", facts.source)
    generation = by_device_kind(devices[0].kind)
    if generation and len(kinds) == 1:
        chips = chip_count(devices, generation)
        figures.put("chips", chips, "", f"{facts.source}, {generation.name} hardware")
    for name, unit, values in (
        ("peak_compute", "TFLOP/s", {d.peak_tflops for d in devices}),
        ("peak_hbm_bandwidth", "GB/s", {d.peak_hbm_gb_per_s for d in devices}),
    ):
        # A mixed slice has no single peak.
        if len(values) == 1:
            figures.put(name, values.pop(), unit, f"{facts.source}, plane of the device")
    window, busy = facts.window_ms, facts.busy_ms
    if window:
        source = f"{facts.source}, XLA Modules, mean of {count(len(devices), 'device')}"
        figures.put("device_busy_ms", busy / len(devices), "ms", source)
        figures.put("device_idle_ms", (window - busy) / len(devices), "ms", source)
        figures.put("device_idle_share", 100 * (1 - busy / window), "%", source)


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


def _put_use(figures: Figures, facts: ProfileFacts) -> None:
    unknown = f", at least: kernels of unknown cost take {facts.uncosted_share:.0%} of it"
    least = unknown if facts.uncosted_share >= SAID else ""
    of_mxu = f"FLOPs of XLA Ops over the peak in busy time{least}"
    of_hbm = f"HBM bytes of XLA Ops over the peak{least}"
    known = [
        (name, share, source)
        for name, share, source in (
            ("mxu_utilization", facts.mxu_share, of_mxu),
            ("hbm_bandwidth_utilization", facts.hbm_share, of_hbm),
            ("compute_16bit_share", facts.share_16_bit, "FLOPs of matrix operations"),
            ("eager_share", facts.eager_share, "EagerLocalExecute on the host"),
        )
        if share is not None
    ]
    for name, share, source in known:
        figures.put(name, 100 * share, "%", f"{facts.source}, {source}")
    for name, share, source in known if facts.window_ms else ():
        if source in (of_mxu, of_hbm):
            busy = facts.busy_ms / facts.window_ms
            whole = f"{facts.source}, {source.replace(' in busy time', '')}, idle time included"
            figures.put(f"{name}_of_window", 100 * share * busy, "%", whole)
    if facts.memory:
        worst = facts.memory_in_order[0]
        source = f"{facts.source}, allocations on {worst.host}, {worst.allocator}"
        figures.put("peak_memory_bytes", worst.peak_bytes, "bytes", source)
        figures.put("memory_capacity_bytes", worst.capacity_bytes or None, "bytes", source)


def shares(facts: ProfileFacts) -> dict[str, float]:
    """Each part's share of the step, over all replicas' steps after warm-up, 0 to 1."""
    replicas = [replica.steady for replica in facts.replicas]
    whole = sum(sum(replica.step_ms) for replica in replicas)
    if not whole:
        return {}
    # Ratio of sums, not mean of ratios: a long step counts by its length.
    return {name: sum(r.part(name) for r in replicas) / whole for name in facts.part_names}


def _put_steps(figures: Figures, facts: ProfileFacts, steps: StepTimes) -> None:
    replicas = len(facts.replicas)
    slowest = f"slowest of {replicas} replicas, " if replicas > 1 else ""
    source = f"profile, {slowest}{steps.source}"
    figures.put("steps", len(steps.step_ms), "", source)
    for name, percent in STEP_PERCENTILES:
        figures.put(name, percentile(steps.step_ms, percent), "ms", source)
    steady = steps.steady
    mean = sum(steady.step_ms) / len(steady.step_ms)
    figures.put("step_time_mean_ms", mean, "ms", f"{source}, without warm-up")
    first = len(steps.step_ms) - len(steady.step_ms)
    figures.put("warm_up_steps", first or None, "", source)
    recorded = steady.recorded
    total = sum(recorded.step_ms)
    if recorded.input_wait_ms is not None and total:
        waited = f"{facts.source}, {steps.input_wait_source or steps.source}"
        share = 100 * sum(recorded.input_wait_ms) / total
        figures.put("input_wait_share", share, "%", waited)


def profile_of(signals: Signals) -> ProfileFacts:
    """The profile; raises ValueError where there is none to sum up."""
    if signals.profile is None:
        raise ValueError("no profile among the signals")
    return signals.profile


def percentile(values: Sequence[float], percent: int) -> float:
    """The smallest value that is not below `percent` of them (nearest rank)."""
    # Not interpolated: the 99th percentile of thirty steps would be a time that no step took.
    return sorted(values)[max(0, math.ceil(len(values) * percent / 100) - 1)]
