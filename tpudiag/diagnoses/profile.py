"""A profile as a report, for `read` and for `compare`."""

import re
import shlex
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from tpudiag.catalogue import checks
from tpudiag.diagnoses import plot_data, profile_figures, profile_places, profile_tables
from tpudiag.diagnoses.profile_operations import TOP
from tpudiag.diagnoses.report_parts import count, listed
from tpudiag.engine import examine
from tpudiag.errors import UsageError
from tpudiag.hardware import Target, by_device_kind, target
from tpudiag.model import Framework, Report, Subject, TargetSummary
from tpudiag.phases import OnPhase
from tpudiag.records import dataclass
from tpudiag.settings import Settings
from tpudiag.signals import EMPTY, Origin, ProfileFacts, Signals, StepTimes, UnreadHost
from tpudiag.signals.profile import UNTOLD
from tpudiag.sources.profile import engines, locate
from tpudiag.sources.profile.locate import Run
from tpudiag.sources.profile.xprof_says import XProfSays

SMALL_BYTES = 5_000_000
"""Up to this size XProf answers within a second or two, beside our own pass."""
UNCOSTED = 0.05
"""From this share of busy time on, operations without known cost are noted."""
NO_STEPS = (
    "The profile marks no steps (no Steps line on a device, no event of a host with a step_num), "
    "and no training function or program repeats in it, so step times are not known. Put "
    "with tf.profiler.experimental.Trace('train', step_num=i, _r=1): around next(iterator) and "
    "the step, and record again."
)
RECOVERED = (
    "The steps are {source}. A run of a loop over several steps (steps_per_execution) "
    "counts as one."
)
WARMED = (
    "Warm-up: the first {first} took {longest:,.0f} ms at most, the median step {usual:,.4g} ms. "
    "What it took is in the step times, and in no share of the step and no check."
)
GPUS = (
    "The profile was recorded on {gpus} and holds no TPU: steps and input are those of the GPUs' "
    "job, and nothing is said of how it would use a TPU."
)
KERNELS = (
    "{share:.0%} of the busy time is in custom calls (Pallas kernels) of which the profile holds "
    "no FLOPs and bytes: what is said of the use of MXU and HBM is the least that it can be."
)
COPIES = (
    "Waits for asynchronous copies take {share:.0%} of the busy time, and the profile does not "
    "hold their HLO text: whether they wait for the host's memory or for HBM is not known."
)
NO_DEVICE = (
    "The host runs programs on a TPU, but the profile holds no device: it was not traced, or its "
    "planes were lost. Nothing is said of the devices; record again with the TPU's own tracer on."
)
ABSENT = (
    "The profile lacks {devices}: not traced, lost from the file, or of a host that was not "
    "recorded. No check of the devices passes without them."
)
TARGET = (
    "The target {name} is what the devices in the profile make up; a larger slice whose other "
    "hosts were not recorded looks the same."
)
PART = (
    "The program runs on {wanted} devices, of which the profile holds {held}: of the others "
    "nothing is known. The target {name} is what {made}."
)
NO_TPU = "The profile holds no TPU: it is judged as a rehearsal on CPU replicas."


_JAX_PATH = re.compile(r"(?:p?jit|pmap|xmap|shard_map)\(")


runs = locate.runs  # of a path, the newest first; raises UnreadableInput where there is none


@dataclass(frozen=True, kw_only=True)
class ProfileRequest:
    """A profile to read, and how."""

    path: str
    run: str | None = None
    engine: str = "local"
    xprof_limit_s: float | None = None
    """None: 30 s for small profiles, none for others."""
    subject: Subject | None = None
    """The profile's subject, where it is more than a path."""
    missing: tuple[UnreadHost, ...] = ()
    """Hosts without a file, and why."""
    notes: tuple[str, ...] = ()
    known: Signals = EMPTY
    """Facts of the TPU from outside its profile."""
    top: int = TOP
    """Rows of the table of operations."""
    step_name: str | None = None
    """The event, program or tf.function that marks a step, if the user named one."""
    xprof: tuple[str, ...] = ()
    """Addresses where an XProf may run, for links from findings."""
    xprof_seen_at: str | None = None
    """The address for links, where readers see the server at another one."""


def diagnose(
    request: ProfileRequest, settings: Settings, on_phase: OnPhase = lambda _: None
) -> Report:
    """The report on a profile; partial where Ctrl-C cut it short.

    Raises UnreadableInput where nothing can be read, UsageError for an unknown engine.
    """
    mapped = engines.engine(request.engine)
    chosen = locate.choose(locate.runs(request.path), request.path, request.run)
    with _xprof(chosen, request.xprof_limit_s) as answer:
        answers, interrupted = engines.read(chosen, mapped, request.step_name, on_phase)
        facts, steps = answers.merged(request.missing)
        # After our own pass: XProf runs beside it, so there is mostly no wait.
        if not interrupted and request.xprof_limit_s != 0:
            on_phase("waiting for XProf's own analysis")
        says = XProfSays() if interrupted else answer()
    report = _report(request, chosen, _signals(request.known, facts, steps), settings, says)
    report = profile_places.linked(report, request.xprof, request.xprof_seen_at, chosen, facts)
    return replace(report, interrupted=interrupted)


@contextmanager
def _xprof(chosen: Run, limit_s: float | None) -> Generator[Callable[[], XProfSays], None, None]:
    """XProf running beside the block; the yielded call waits for its answer."""
    if limit_s == 0:
        yield XProfSays
    elif limit_s is None and chosen.bytes > SMALL_BYTES:
        size = f"{chosen.bytes / 1e6:,.0f} MB"
        failure = f"it is slow on {size} and was not asked; --xprof-limit 600 asks it"
        yield lambda: XProfSays(failure=failure)
    else:
        from tpudiag.sources.profile import xprof

        with (
            locate.fetched(chosen) as files,
            xprof.query(files, xprof.LIMIT_S if limit_s is None else limit_s) as asking,
        ):
            yield asking


def _signals(known: Signals, facts: ProfileFacts, steps: StepTimes | None) -> Signals:
    return replace(
        known,
        framework=Framework.JAX if _of_jax(facts) else known.framework,
        origin=Origin.PROFILE if facts.devices or facts.devices_missing else Origin.REHEARSAL,
        target=known.target or _target(facts),
        steps=steps,
        profile=facts,
        functions=facts.functions,
        matrix_ops=facts.matrix_ops or None if steps is not None else None,
    )


def _of_jax(facts: ProfileFacts) -> bool:
    """Whether what the devices ran is JAX's: `jit(train_step)/jit(main)/dot_general`."""
    named = [op for op in facts.ops if op.framework_op]
    of_jax = sum(op.share for op in named if _JAX_PATH.match(op.framework_op))
    return of_jax > sum(op.share for op in named) / 2


def _target(facts: ProfileFacts) -> Target | None:
    """The TPU slice of the profile's devices; None for an unknown kind."""
    kinds = {device.kind for device in facts.devices}
    generation = by_device_kind(kinds.pop()) if len(kinds) == 1 else None
    chips = profile_figures.chip_count(facts.devices, generation) if generation else None
    if generation is None or chips is None:
        return None
    try:
        return target(f"{generation.name}-{chips * generation.cores_per_chip}")
    except UsageError:
        return None


def _report(
    request: ProfileRequest,
    chosen: Run,
    signals: Signals,
    settings: Settings,
    xprof_says: XProfSays,
) -> Report:
    path, target = request.path, signals.target
    partial = _partial(signals.profile)
    return Report(
        subject=request.subject
        or Subject("profile", f"{path} ({chosen.name})" if chosen.name not in path else path),
        target=TargetSummary(target.name, target.replicas) if target else None,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        outcomes=examine(signals, checks(), settings),
        measurements=profile_figures.measurements(signals),
        tables=tuple(profile_tables.tables(signals, xprof_says, request.top)),
        headline=profile_figures.headline(signals),
        notes=(*request.notes, *_notes(signals, xprof_says)),
        next_command=_next_command(chosen),
        partial=partial,
        shortfall="part" if partial else None,
        series=plot_data.of(signals),
        samples=profile_tables.samples(signals),
    )


def _partial(facts: ProfileFacts | None) -> str | None:
    if facts is None or not facts.unread:
        return None
    count = len(facts.unread) + len(facts.hosts)
    cut = [host for host in facts.unread if host.interrupted]
    broken = [host for host in facts.unread if not host.interrupted]
    reasons = [f"{host.name} ({host.reason})" for host in broken[:3]]
    reasons += [f"{len(broken) - 3} more"] if len(broken) > 3 else []
    unread = f"{len(broken)} of {count} hosts could not be read: {', '.join(reasons)}"
    parts = [unread] * bool(broken)
    parts += [f"interrupted before {len(cut)} of {count} hosts were read"] * bool(cut)
    return "; ".join(parts)


def _notes(signals: Signals, says: XProfSays) -> Iterator[str]:
    facts = signals.profile
    if facts is not None and not facts.devices:
        gpus = GPUS.format(gpus=count(facts.gpus, "GPU")) if facts.gpus else NO_TPU
        yield NO_DEVICE if facts.devices_missing else gpus
    if signals.steps is None:
        yield NO_STEPS
    else:
        if signals.steps.recovered:
            yield RECOVERED.format(source=signals.steps.source)
        if first := len(signals.steps.step_ms) - len(signals.steps.steady.step_ms):
            yield WARMED.format(
                first=count(first, "step"),
                longest=max(signals.steps.step_ms[:first]),
                usual=profile_figures.percentile(signals.steps.step_ms, 50),
            )
    # Where the Cloud TPU API names the slice, nothing is inferred from the devices.
    if signals.target and signals.cloud_tpu is None:
        yield _on_target(signals.target.name, facts)
    if facts and (absent := facts.absent_devices):
        yield ABSENT.format(devices=", ".join(absent[:8]) + ", ..." * (len(absent) > 8))
    yield from _lost(facts) if facts else ()
    copies = sum(op.share for op in facts.ops if op.part == UNTOLD) if facts else 0.0
    if copies >= UNCOSTED:
        yield COPIES.format(share=copies)
    if facts and facts.uncosted_share >= UNCOSTED:
        yield KERNELS.format(share=facts.uncosted_share)
    yield from facts.warnings if facts else ()
    yield from (f"XProf says: {statement}" for statement in says.statements)
    if says.failure:
        yield f"XProf says nothing: {says.failure}."


def _on_target(name: str, facts: ProfileFacts | None) -> str:
    """How certain the target is: by the program's own devices, where the profile has them."""
    wanted = facts.assigned_devices if facts else None
    if facts is None or wanted is None:
        return TARGET.format(name=name)
    if wanted <= len(facts.devices):
        return f"The target {name} is what the devices in the profile make up."
    held = len(facts.devices)
    made = f"those {held} make up" if held > 1 else "that one makes up"
    return PART.format(name=name, wanted=wanted, held=held, made=made)


def _lost(facts: ProfileFacts) -> Iterator[str]:
    """Devices whose operations the trace lost in part."""
    lost = facts.half_traced
    if lost:
        shares = listed([f"{d.host} {d.name} {d.ops_share or 0.0:.0%}" for d in lost], 8)
        yield (
            "The trace lost operations (its buffers were full?): of the time in which programs ran "
            f"it holds operations for {shares}. The rest is not measured, and no "
            "check passes on it; record fewer steps."
        )


def _next_command(chosen: Run) -> str | None:
    """The command that opens the profile in XProf; a run outside a log folder is linked."""
    if chosen.log_dir is not None:
        return f"xprof --logdir {shlex.quote(chosen.log_dir)} --port 6006"
    if locate.is_url(chosen.folder):
        return None
    # XProf finds runs by their place in a log folder only: plugins/profile/RUN.
    files = " ".join(shlex.quote(str(Path(file).resolve())) for file in chosen.files)
    return (
        'd=$(mktemp -d) && mkdir -p "$d/plugins/profile/run" && '
        f'ln -s {files} "$d/plugins/profile/run/" && xprof --logdir "$d" --port 6006'
    )
