"""Shared by the checks on a profile."""

from collections.abc import Iterable, Sequence
from statistics import median

from tpudiag.model import Evidence, NotMeasured
from tpudiag.signals import CallbackTime, DeviceOp, ProfileFacts, ReplicaSteps, Signals
from tpudiag.signals.profile import UNTOLD, WHOLE_TRACE

from ._need import ON_THE_TPU, need

INPUT = ("input", "input processing", "input transfer")
FEWER_STEPS = "record fewer steps (trace buffers are finite): 5 to 10, then `tpudiag read logdir`"
EDGE_STEPS = 2
"""Steps that a capture's start and end may cut on one replica but not on another."""
HOST_MEMORY = "host memory"
"""Waits for copies between HBM and host memory."""


def replicas_of(signals: Signals) -> tuple[ProfileFacts, tuple[ReplicaSteps, ...]]:
    """The profile and its replicas with steps, on devices, without warm-up; skips if none."""
    profile = need(signals.profile, "a device profile", ON_THE_TPU)
    measured = tuple(
        replica.steady.recorded
        for replica in profile.replicas
        # The steps on a host's plane are Python's: a CPU profile is no evidence for a TPU.
        if sum(replica.step_ms) > 0 and replica.replica.startswith("/device:")
    )
    return profile, need(measured or None, "a training step on a device", ON_THE_TPU)


def longest(profile: ProfileFacts, part: str) -> tuple[list[DeviceOp], tuple[Evidence, ...]]:
    """The longest operations in a part of the step, and their times."""
    ops = [op for op in profile.ops if op.part == part][:3]
    return ops, tuple(
        Evidence(f"{op.name} ({op.category})", round(op.self_ms, 3), "ms", source=profile.source)
        for op in ops
    )


def on_host(profile: ProfileFacts, ops: Sequence[CallbackTime]) -> tuple[Evidence, ...]:
    """The times of the first of some operations on the host."""
    return tuple(Evidence(op.op, round(op.ms, 3), "ms", source=profile.source) for op in ops[:3])


def share(replicas: Iterable[ReplicaSteps], *parts: str) -> float:
    """The share of all steps' time in some parts, 0 to 1; a lower bound if a trace lost some."""
    counted = tuple(replicas)
    whole = sum(sum(replica.step_ms) for replica in counted)
    return sum(replica.part(*parts) for replica in counted) / whole


def ms_per_step(replicas: Iterable[ReplicaSteps], *parts: str) -> float:
    """The mean time per step in some parts, over replicas."""
    counted = tuple(replicas)
    return sum(r.part(*parts) / len(r.step_ms) for r in counted) / len(counted)


def outliers(values: dict[str, float], limit: float, floor: float) -> dict[str, float]:
    """The modified z-scores above the limit: 0.6745 x (value - median) / MAD, MAD >= floor."""
    middle = median(values.values())
    spread = max(median(abs(value - middle) for value in values.values()), floor)
    # 0.6745 makes the MAD of normal noise its standard deviation. Equal hosts have a MAD of 0,
    # where without a floor a nanosecond would be an outlier.
    scores = {name: 0.6745 * (value - middle) / spread for name, value in values.items()}
    return {name: score for name, score in scores.items() if score > limit}


def every_device(profile: ProfileFacts) -> None:
    """Skip a check that cannot pass while devices are lost, or lack steps that others have."""
    if absent := profile.absent_devices:
        more = f" and {len(absent) - 3} more" if len(absent) > 3 else ""
        raise NotMeasured(
            f"the profile lacks {', '.join(absent[:3])}{more}, which may differ from the others",
            "record some steps of all devices, then `tpudiag read logdir`",
        )
    most = max((len(replica.numbers) for replica in profile.replicas), default=0)
    for replica in profile.replicas:
        if len(replica.numbers) + EDGE_STEPS < WHOLE_TRACE * most:
            raise NotMeasured(
                f"the trace holds {len(replica.numbers)} steps of {replica.host} "
                f"{replica.replica}, and {most} of others",
                FEWER_STEPS,
            )
    known = {(replica.host, replica.replica) for replica in profile.replicas}
    # Where no device has steps, the check that needs them gives a better reason.
    unknown = [d for d in profile.devices if (d.host, d.name) not in known] if known else []
    if unknown:
        raise NotMeasured(
            f"{len(unknown)} of {len(profile.devices)} devices show no steps "
            f"({unknown[0].host} {unknown[0].name})",
            "record some steps of all devices, then `tpudiag read logdir`",
        )


def every_step(profile: ProfileFacts) -> None:
    """Skip a check that cannot pass where the trace lost everything that ran in some steps."""
    for replica in profile.replicas:
        lost = replica.part(UNTOLD) / max(sum(replica.step_ms), 1e-9)
        if lost > 1 - WHOLE_TRACE:
            raise NotMeasured(
                f"the trace does not tell what ran in {lost:.0%} of the steps of {replica.host} "
                f"{replica.replica}",
                FEWER_STEPS,
            )


def whole_trace(profile: ProfileFacts | None) -> None:
    """Skip a check that cannot pass where the trace lost the operations of programs."""
    if profile is None:
        return
    if profile.devices_missing:
        raise NotMeasured("the profile holds no device of the TPU that the host drives", ON_THE_TPU)
    if profile.devices:
        every_device(profile)
    if not profile.half_traced:
        every_step(profile)
        return
    worst = min(profile.half_traced, key=lambda device: device.ops_share or 0.0)
    others = len(profile.half_traced) - 1
    more = f" ({others} more devices lost some, too)" if others else ""
    raise NotMeasured(
        f"the trace holds operations for {worst.ops_share or 0.0:.0%} of the time in which "
        f"programs ran on {worst.host} {worst.name}{more}",
        FEWER_STEPS,
    )


def whole_run(profile: ProfileFacts) -> None:
    """Skip the search for stragglers, which cannot pass while hosts of the run are missing."""
    if profile.unread:
        names = ", ".join(host.name for host in profile.unread[:3])
        raise NotMeasured(
            f"{len(profile.unread)} of {len(profile.unread) + len(profile.hosts)} hosts could not "
            f"be read ({names}), and a straggler may be among them",
            "record the run again, or copy the missing files anew, then `tpudiag read logdir`",
        )
