"""A profile in figures and tables, for any report that shows one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from tpudiag.hardware import by_device_kind
from tpudiag.model import Measurement, Table
from tpudiag.signals import ProfileFacts, Signals, StepTimes
from tpudiag.sources.profile.xprof import XProfSays

SOURCE = "profile"
ROWS = 10
"""Rows of a table; devices and operations beyond are counted in its title."""

STEP_PERCENTILES = (("step_time_ms", 50), ("step_time_p90_ms", 90), ("step_time_max_ms", 100))


def headline(signals: Signals) -> str:
    """What was recorded, and the one figure that tells most."""
    facts, steps = _facts(signals), signals.steps
    hosts = count(len(facts.hosts), "host")
    kinds = " and ".join(dict.fromkeys(device.kind for device in facts.devices))
    about = f"{len(facts.devices)} x {kinds} on {hosts}" if kinds else f"{hosts} without a TPU"
    window = sum(device.window_ms for device in facts.devices)
    if window:
        share = sum(device.busy_ms for device in facts.devices) / window
        about += f", busy {share:.1%} of the time from the first to the last module"
    if steps is None:
        return f"{about}; no steps are marked."
    marked = count(len(steps.step_ms), "step")
    return f"{about}; {marked}, median {percentile(steps.step_ms, 50):.4g} ms."


def measurements(signals: Signals) -> Iterator[tuple[str, Measurement]]:
    """The figures that stand outside any check, by name."""
    facts, steps = _facts(signals), signals.steps
    yield "hosts", Measurement(len(facts.hosts), "", SOURCE)
    yield "profile_bytes", Measurement(facts.bytes_read, "bytes", SOURCE)
    if facts.started_ns is not None:
        start = datetime.fromtimestamp(facts.started_ns / 1e9, UTC)
        yield "recorded", Measurement(start.isoformat(timespec="seconds"), "", SOURCE)
    if facts.capture_ms is not None:
        yield "capture_ms", Measurement(facts.capture_ms, "ms", SOURCE)
    yield from _device_measurements(facts)
    if steps is not None:
        yield from _step_measurements(steps)


def _device_measurements(facts: ProfileFacts) -> Iterator[tuple[str, Measurement]]:
    """Hardware, and busy and idle time as means over the devices."""
    devices = facts.devices
    if not devices:
        return
    yield "device_kind", Measurement(" and ".join(sorted({d.kind for d in devices})), "", SOURCE)
    yield "devices", Measurement(len(devices), "", SOURCE)
    generation = by_device_kind(devices[0].kind)
    if generation and len({device.kind for device in devices}) == 1:
        chips = -(-len(devices) // generation.devices_per_chip)
        yield "chips", Measurement(chips, "", f"{SOURCE}, {generation.name} hardware")
    peaks = (("peak_compute", "TFLOP/s", [d.peak_tflops for d in devices]),
             ("peak_hbm_bandwidth", "GB/s", [d.peak_hbm_gb_per_s for d in devices]))  # fmt: skip
    for name, unit, values in peaks:
        if values[0] is not None and len(set(values)) == 1:
            yield name, Measurement(values[0], unit, f"{SOURCE}, plane of the device")
    window = sum(device.window_ms for device in devices)
    if window:
        busy = sum(device.busy_ms for device in devices)
        source = f"{SOURCE}, XLA Modules, mean of {count(len(devices), 'device')}"
        yield "device_busy_ms", Measurement(busy / len(devices), "ms", source)
        yield "device_idle_ms", Measurement((window - busy) / len(devices), "ms", source)
        yield "device_idle_share", Measurement(100 * (1 - busy / window), "%", source)


def _step_measurements(steps: StepTimes) -> Iterator[tuple[str, Measurement]]:
    """Percentiles of the step time, and the share of it that waits for input."""
    source = f"{SOURCE}, {steps.source}"
    yield "steps", Measurement(len(steps.step_ms), "", source)
    for name, percent in STEP_PERCENTILES:
        yield name, Measurement(percentile(steps.step_ms, percent), "ms", source)
    total = sum(steps.step_ms)
    if steps.input_wait_ms is not None and total:
        share = 100 * sum(steps.input_wait_ms) / total
        yield (
            "input_wait_share",
            Measurement(share, "%", f"{SOURCE}, {steps.input_wait_source or steps.source}"),
        )


def tables(signals: Signals, said: XProfSays) -> Iterator[Table]:
    """Devices, operations, and XProf's words."""
    facts = _facts(signals)
    if facts.devices:
        idlest = sorted(facts.devices, key=lambda device: -device.idle_share)[:ROWS]
        whole = len(idlest) == len(facts.devices)
        yield Table(
            "Devices" if whole else f"Devices: the {ROWS} idlest of {len(facts.devices)}",
            ("host", "device", "busy ms", "window ms", "idle %"),
            tuple(
                (d.host, d.name, d.busy_ms, d.window_ms, 100 * d.idle_share)
                for d in (facts.devices if whole else idlest)
            ),
            f"{SOURCE}, XLA Modules",
        )
    if facts.ops:
        whole = len(facts.ops) <= ROWS
        yield Table(
            "Operations" if whole else f"Operations: the {ROWS} longest of {len(facts.ops)}",
            ("operation", "category", "self ms", "% of busy", "count"),
            tuple(
                (o.name, o.category, o.self_ms, 100 * o.share, o.count) for o in facts.ops[:ROWS]
            ),
            f"{SOURCE}, XLA Ops, all devices",
        )
    if said.figures:
        yield Table("What XProf says", ("figure", "value"), said.figures, "xprof, overview page")


def _facts(signals: Signals) -> ProfileFacts:
    """The profile; raises ValueError where there is none to sum up."""
    if signals.profile is None:
        raise ValueError("no profile among the signals")
    return signals.profile


def percentile(values: Sequence[float], percent: int) -> float:
    """The smallest value that is not below `percent` of them (nearest rank)."""
    return sorted(values)[max(0, math.ceil(len(values) * percent / 100) - 1)]


def count(number: int, noun: str) -> str:
    """`1 host`, `2 hosts`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
