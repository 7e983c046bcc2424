"""`tpudiag read PATH`: what a TensorBoard profile says."""

from __future__ import annotations

import argparse
import math
import shlex
import sys
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

from tpudiag.commands._report import add_report_options, check_outputs, emit, settings_for

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence
    from pathlib import Path

    from tpudiag.hardware import Target
    from tpudiag.model import Report
    from tpudiag.settings import Settings
    from tpudiag.signals import ProfileFacts, Signals, StepTimes
    from tpudiag.sources.profile.locate import Run
    from tpudiag.sources.profile.xprof import XProfSays

BIG_BYTES = 20_000_000
NO_STEPS = (
    "The profile marks no steps (no Steps line on a device, no event of a host with a step_num), "
    "so step times are not known. Put with tf.profiler.experimental.Trace('train', step_num=i, "
    "_r=1): around next(iterator) and the step, and record again."
)
NO_TPU = "The profile holds no TPU: it is judged as a rehearsal on CPU replicas."


def add_parser(
    verbs: argparse._SubParsersAction[argparse.ArgumentParser],  # pyright: ignore[reportPrivateUsage]
) -> None:
    """The verb's own arguments."""
    parser = verbs.add_parser(
        "read",
        help="say what a TensorBoard profile holds",
        description="Reads a TensorBoard profile: devices, busy time, operations, steps, checks.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "path", metavar="PATH",
        help="a TensorBoard log folder, a run folder or one *.xplane.pb; local or gs://",
    )  # fmt: skip
    parser.add_argument(
        "--run", metavar="NAME", dest="run_name", help="read this run instead of the newest"
    )
    parser.add_argument("--list", action="store_true", help="list the runs, newest first, and stop")
    parser.add_argument(
        "--xprof-limit", metavar="SECONDS", type=_seconds, default=30.0,
        help="stop XProf's own analysis after this time; 0: do not ask it (default: %(default)g)",
    )  # fmt: skip
    add_report_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, examine, report; raises UnreadableInput and UsageError."""
    from tpudiag.sources.profile import locate, read_files

    found = locate.runs(options.path)
    if options.list:
        return _list(found)
    check_outputs(options)
    settings = settings_for(options)
    chosen = locate.choose(found, options.path, options.run_name)
    with (
        locate.fetched(chosen) as files,
        _progress(chosen),
        _xprof(chosen, files, options) as xprof,
    ):
        facts, steps = read_files(files)
        said = xprof()
    signals = _signals(facts, steps)
    return emit(_report(options.path, chosen, signals, settings, said), options)


@contextmanager
def _xprof(
    chosen: Run, files: Sequence[Path], options: argparse.Namespace
) -> Generator[Callable[[], XProfSays], None, None]:
    """XProf at work beside the block; the call in it waits for what XProf says."""
    from tpudiag.sources.profile.xprof import LIMIT_BYTES, XProfSays, asked

    if not options.xprof_limit:
        yield XProfSays
    elif chosen.bytes > LIMIT_BYTES:
        size = f"{chosen.bytes / 1e6:,.0f} MB"
        yield lambda: XProfSays(failure=f"it is not asked about profiles as large as {size}")
    else:
        with asked(files, options.xprof_limit) as asking:
            yield asking.answer


def _signals(facts: ProfileFacts, steps: StepTimes | None) -> Signals:
    """What the checks get to see."""
    from tpudiag.signals import Origin, Signals

    origin = Origin.PROFILE if facts.devices else Origin.REHEARSAL
    return Signals(origin, target=_target(facts), steps=steps, profile=facts)


def _target(facts: ProfileFacts) -> Target | None:
    """The TPU slice that the profile's devices make up; None for a kind that is not known."""
    from tpudiag.errors import UsageError
    from tpudiag.hardware import by_device_kind, target

    kinds = {device.kind for device in facts.devices}
    generation = by_device_kind(kinds.pop()) if len(kinds) == 1 else None
    if generation is None or len(facts.devices) % generation.devices_per_chip:
        return None
    chips = len(facts.devices) // generation.devices_per_chip
    count = chips * (generation.cores_per_chip if generation.named_by_cores else 1)
    try:
        return target(f"{generation.name}-{count}")
    except UsageError:
        return None


def _report(
    path: str, chosen: Run, signals: Signals, settings: Settings, said: XProfSays
) -> Report:
    """The whole diagnosis."""
    from datetime import UTC, datetime

    from tpudiag.catalogue import checks
    from tpudiag.engine import examine
    from tpudiag.model import Report, Subject, TargetSummary
    from tpudiag.sources.profile import summary

    target = signals.target
    return Report(
        subject=Subject("profile", f"{path} ({chosen.name})" if chosen.name not in path else path),
        target=TargetSummary(target.name, target.replicas) if target else None,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        outcomes=examine(signals, checks(), settings),
        measurements=dict(summary.measurements(signals)),
        tables=tuple(summary.tables(signals, said)),
        headline=summary.headline(signals),
        notes=tuple(_notes(signals, said)),
        next_command=_next_command(chosen),
    )


def _notes(signals: Signals, said: XProfSays) -> Iterator[str]:
    """What the reader must know to trust the figures."""
    facts = signals.profile
    if facts is not None and not facts.devices:
        yield NO_TPU
    if signals.steps is None:
        yield NO_STEPS
    if signals.target:
        yield (
            f"The target {signals.target.name} is what the devices in the profile make up; "
            "a larger slice whose other hosts were not recorded looks the same."
        )
    yield from facts.warnings if facts else ()
    for statement in said.statements:
        yield f"XProf says: {statement}"
    if said.failure:
        yield f"XProf says nothing: {said.failure}."


def _next_command(chosen: Run) -> str | None:
    """What opens the profile in XProf; a run outside a log folder is linked into one."""
    if chosen.log_dir is not None:
        return f"xprof --logdir {shlex.quote(chosen.log_dir)} --port 6006"
    from pathlib import Path

    from tpudiag.sources.profile.locate import is_url

    if is_url(chosen.folder):
        return None
    files = " ".join(shlex.quote(str(Path(file).resolve())) for file in chosen.files)
    return (
        'd=$(mktemp -d) && mkdir -p "$d/plugins/profile/run" && '
        f'ln -s {files} "$d/plugins/profile/run/" && xprof --logdir "$d" --port 6006'
    )


def _list(found: Sequence[Run]) -> int:
    """The runs, newest first, one a line."""
    width = max(len(run_.name) for run_ in found)
    for run_ in found:
        hosts = f"{len(run_.files)} host{'' if len(run_.files) == 1 else 's'}"
        print(f"{run_.name:<{width}}  {hosts:>9}  {run_.bytes / 1e6:10.1f} MB")
    return 0


def _progress(chosen: Run) -> AbstractContextManager[object]:
    """A line on a terminal's stderr while a large profile is read."""
    if chosen.bytes < BIG_BYTES or not sys.stderr.isatty():
        return nullcontext()
    from rich.console import Console

    return Console(stderr=True).status(f"Reading {chosen.bytes / 1e6:,.0f} MB of profile")


def _seconds(text: str) -> float:
    """A time limit of the command line."""
    value = float(text)
    if not 0 <= value < math.inf:
        raise ValueError(text)
    return value
