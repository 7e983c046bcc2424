"""`tpudiag read` beside XProf on the same files: each figure, and why where they differ.

    .venv/bin/python -m tests.benchmarks.bench_agreement [PROFILE.xplane.pb ...]

Without files: the real v6e profile (where it is there) and generated ones. Exits with 1 where a
figure differs by more than 1 % without a reason that is known.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from tests.benchmarks.bench_profile import generator
from tpudiag.signals import ProfileFacts, StepTimes
from tpudiag.sources.profile import ask_xprof, facts

REAL = Path(__file__).parents[3] / "shared" / "profiles" / "v6e-4-inference"
NEAR = 0.01
WHY = {
    "input %": "XProf gives the first step the infeed of the second, the last none, and takes the "
    "mean of each step's percentage; ours is the share of the time",
    "HBM of window %": "the file does not part bytes by memory: XProf counts none, ours all",
    "idle of device %": "XProf counts the time between operations of a program, too, as idle, and "
    "its window reaches from the first operation on the host's clock (the event's offset) to the "
    "end of the last on the device's (device_offset_ps), so that their difference is idle as well",
}


class Figure(NamedTuple):
    """One figure of both; None where one of them has none."""

    name: str
    ours: float | None
    xprof: float | None

    @property
    def difference(self) -> float:
        """Relative to XProf's; of figures near zero the plain difference."""
        if self.ours is None or self.xprof is None:
            return 0.0
        return abs(self.ours - self.xprof) / max(abs(self.xprof), 1.0)


def main(names: Sequence[str]) -> int:
    """Print the table of each profile."""
    unexplained = 0
    with TemporaryDirectory() as folder:
        for title, files in _named(names) if names else _all(Path(folder)):
            print(f"\n{title}\n  {'figure':24} {'tpudiag':>14} {'XProf':>14}  differs  why")
            for figure in _figures(files, Path(folder)):
                far = figure.difference > NEAR
                why = WHY.get(figure.name, "not explained") if far else ""
                unexplained += why == "not explained"
                print(
                    f"  {figure.name:24} {_text(figure.ours)} {_text(figure.xprof)}"
                    f"  {100 * figure.difference:5.2f} %  {why}",
                    flush=True,
                )
    return int(bool(unexplained))


def _named(names: Sequence[str]) -> Iterator[tuple[str, list[Path]]]:
    """The requested files."""
    return ((name, [Path(name)]) for name in names)


def _all(folder: Path) -> Iterator[tuple[str, list[Path]]]:
    """The real profile and generated ones."""
    if REAL.is_dir():
        yield "v6e, inference, 4 devices (real)", [next(REAL.rglob("*.xplane.pb"))]
    spaces = generator()
    one = spaces.write(spaces.pod_host("a", steps=40, input_ms=3.0), folder / "one")
    yield "one host of a pod, 2 devices, 40 steps, input 15 % (generated)", [one]
    late = [
        spaces.write(
            spaces.pod_host(f"h{n}", steps=40, step_ms=20.0 + n, input_ms=1.0 + n),
            folder / "four",
            host=f"h{n}",
        )
        for n in range(4)
    ]
    yield "four hosts of unequal speed, 8 devices (generated)", late


def _figures(files: list[Path], folder: Path) -> Iterator[Figure]:
    """Every figure of both."""
    ours, steps = facts(files[0] if len(files) == 1 else files[0].parent)
    overview = {k: v for table in _ask(files, "overview_page", folder) for k, v in _said(table)}
    yield from _of_steps(steps, overview)
    yield Figure("devices", len(ours.devices), _number(overview.get("device_core_count")))
    yield Figure("hosts", len(ours.hosts), _number(overview.get("host_count")))
    window = sum(device.window_ms for device in ours.devices)
    busy = sum(device.busy_ms for device in ours.devices) / window if window else None
    if busy is not None:
        idle = _number(overview.get("device_idle_time_percent"))
        yield Figure("idle of device %", 100 * (1 - busy), idle)
        profile = _ask(files, "op_profile", folder)["byProgram"]["metrics"]
        # XProf's FLOPs are over busy time, its bandwidth is over the whole window.
        yield Figure(
            "MXU in busy time %", _percent(ours.mxu_share), 100 * profile.get("flops", 0.0)
        )
        hbm = None if ours.hbm_share is None else 100 * ours.hbm_share * busy
        yield Figure("HBM of window %", hbm, 100 * profile.get("bandwidthUtils", [0.0])[0])
    yield from _of_memory(ours, files, folder)


def _of_steps(steps: StepTimes | None, overview: dict[str, Any]) -> Iterator[Figure]:
    """Step times, and the input's share."""
    ms = () if steps is None or steps.recovered else steps.step_ms
    means = {"average": sum(ms) / len(ms), "minimum": min(ms), "maximum": max(ms)} if ms else {}
    for name in ("average", "minimum", "maximum"):
        theirs = _number(overview.get(f"steptime_ms_{name}")) or None
        yield Figure(f"step {name} ms", means.get(name), theirs)
    if steps is not None and steps.input_wait_ms is not None and ms:
        share = 100 * sum(steps.input_wait_ms) / sum(ms)
        said = re.search(r"because ([0-9.]+)%", str(overview.get("input_conclusion", "")))
        yield Figure("input %", share, float(said[1]) if said else None)


def _of_memory(ours: ProfileFacts, files: list[Path], folder: Path) -> Iterator[Figure]:
    """Peaks of the allocators."""
    if not ours.memory:
        return
    told = _ask(files[:1], "memory_profile", folder)["memoryProfilePerAllocator"]
    for peak in ours.memory:
        said = told.get(peak.allocator.removeprefix("device "))
        if said:
            summary = said["profileSummary"]
            name = f"peak of {peak.allocator}"
            yield Figure(
                f"{name} MiB",
                peak.peak_bytes / 2**20,
                int(summary["peakStats"]["peakBytesInUse"]) / 2**20,
            )
            yield Figure(
                f"{name} fragm. %",
                100 * (peak.fragmentation or 0.0),
                100 * summary["peakStats"]["fragmentation"],
            )


def _ask(files: list[Path], tool: str, folder: Path) -> Any:
    """XProf's own answer, away from the caches that it writes."""
    with TemporaryDirectory(dir=folder) as place:
        links = [Path(place) / "plugins/profile/run" / file.name for file in files]
        links[0].parent.mkdir(parents=True)
        for link, file in zip(links, files, strict=True):
            link.symlink_to(file.resolve())
        answer = Path(place) / "answer.json"
        command = [sys.executable, "-P", str(ask_xprof.__file__), str(answer), tool]
        subprocess.run([*command, *map(str, links)], check=True, capture_output=True)
        return json.loads(answer.read_bytes())


def _said(table: dict[str, dict[str, Any]]) -> Iterator[tuple[str, Any]]:
    """The properties of one of the page's tables."""
    yield from (table.get("p") or {}).items()


def _percent(share: float | None) -> float | None:
    """Of a share from 0 to 1."""
    return None if share is None else 100 * share


def _number(text: Any) -> float | None:
    """`13.4` of `13.4%`."""
    try:
        return float(str(text).rstrip("%"))
    except ValueError:
        return None


def _text(value: float | None) -> str:
    """A figure in its column."""
    return f"{'-' if value is None else format(value, ',.4f'):>14}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
