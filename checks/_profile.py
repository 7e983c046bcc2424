"""What the checks on a profile share."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from tpudiag.model import NotMeasured
from tpudiag.signals import ProfileFacts, ReplicaSteps, Signals

from ._need import ON_THE_TPU, need

INPUT = ("input", "input processing", "input transfer")
HOST_MEMORY = "host memory"
"""Waits for copies between HBM and the host's memory."""


def replicas_of(signals: Signals) -> tuple[ProfileFacts, tuple[ReplicaSteps, ...]]:
    """The profile and its replicas with steps, on devices, without warm-up; skips if none."""
    profile = need(signals.profile, "a device profile", ON_THE_TPU)
    measured = tuple(
        replica.steady.told
        for replica in profile.replicas
        if sum(replica.step_ms) > 0 and replica.replica.startswith("/device:")
    )
    if not measured:
        need(None, "a training step on a device", ON_THE_TPU)
    return profile, measured


def share(replicas: Iterable[ReplicaSteps], *parts: str) -> float:
    """The share of the time of all steps in some parts, 0 to 1; at least, if a trace lost some."""
    counted = tuple(replicas)
    whole = sum(sum(replica.step_ms) for replica in counted)
    return sum(replica.part(*parts) for replica in counted) / whole


def ms_per_step(replicas: Iterable[ReplicaSteps], *parts: str) -> float:
    """The mean time a step in some parts, over replicas."""
    counted = tuple(replicas)
    return sum(r.part(*parts) / len(r.step_ms) for r in counted) / len(counted)


def outliers(values: dict[str, float], limit: float, floor: float) -> dict[str, float]:
    """The modified z-scores above the limit: 0.6745 x (value - median) / MAD, MAD >= floor."""
    middle = median(values.values())
    spread = max(median(abs(value - middle) for value in values.values()), floor)
    scores = {name: 0.6745 * (value - middle) / spread for name, value in values.items()}
    return {name: score for name, score in scores.items() if score > limit}


def every_device(profile: ProfileFacts) -> None:
    """Skip a check that cannot pass while devices that ran something show no steps."""
    known = {(replica.host, replica.replica) for replica in profile.replicas}
    ran = [device for device in profile.devices if device.busy_ms]
    unknown = [d for d in ran if (d.host, d.name) not in known] if known else []
    if unknown:
        raise NotMeasured(
            f"{len(unknown)} of {len(ran)} devices ran something and show no steps "
            f"({unknown[0].host} {unknown[0].name})",
            "record some steps of all devices, then `tpudiag read logdir`",
        )


def whole_trace(profile: ProfileFacts | None) -> None:
    """Skip a check that cannot pass where programs ran whose operations the trace lost."""
    if profile is not None and profile.devices_missing:
        raise NotMeasured("the profile holds no device of the TPU that the host drives", ON_THE_TPU)
    if profile is not None and profile.devices:
        every_device(profile)
    if profile is None or not profile.half_traced:
        return
    worst = min(profile.half_traced, key=lambda device: device.ops_share or 0.0)
    others = len(profile.half_traced) - 1
    more = f" ({others} more devices lost some, too)" if others else ""
    raise NotMeasured(
        f"the trace holds operations for {worst.ops_share or 0.0:.0%} of the time in which "
        f"programs ran on {worst.host} {worst.name}{more}",
        "record fewer steps (trace buffers are finite): 5 to 10, then `tpudiag read logdir`",
    )


def whole_run(profile: ProfileFacts, what: str) -> None:
    """Skip a check that cannot pass while hosts of the run are missing."""
    if profile.unread:
        names = ", ".join(host.name for host in profile.unread[:3])
        raise NotMeasured(
            f"{len(profile.unread)} of {len(profile.unread) + len(profile.hosts)} hosts could not "
            f"be read ({names}), and {what} may be among them",
            "record the run again, or copy the missing files anew, then `tpudiag read logdir`",
        )
