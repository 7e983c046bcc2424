"""Chip throttling and ICI link health, from libtpu's own monitoring library.

Names and formats are those of the library's descriptions (libtpu 0.0.52,
`libtpu.sdk.tpumonitoring`, `get_metric(NAME).description()`); not verified on hardware. It runs
beside the job, in a process of its own, with the libtpu installed beside tpudiag: nothing of the
job's is executed. The library talks to the runtime of its own release, so both must have one
version.
"""

import re
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import msgspec

from tpudiag.sources.live.processes import is_own, package

LIMIT_S = 8.0
THROTTLE, ICI = "tpu_throttle_score", "ici_link_health"
MOST_SCORE = 10
_ASK = """
import json, sys
sys.path.insert(0, sys.argv[1])
from libtpu.sdk import tpumonitoring
data = {name: list(tpumonitoring.get_metric(name).data()) for name in sys.argv[2:]}
print("\\n" + json.dumps(data))
"""
_SCORE = re.compile(r"(?P<where>.*\S)\s*[-:]\s*(?P<score>\d+)")

Health = Literal["throttling", "ICI link"]


@dataclass(frozen=True)
class ChipScore:
    """The health of a chip or a link.

    Throttling counts tenths: 0 is not throttled, 3 is throttled by 30 %. A link is healthy at 0,
    has transient problems from 1, persistent ones from 6 and is unusable at 10.
    """

    health: Health
    where: str
    """The chip's number, or the link as the library names it: `tray1.chip3.ici0.int`."""
    score: int


def scores(pid: int, own: Path | None = None) -> tuple[ChipScore, ...]:
    """The scores of the chips that a process of this user holds; empty where unknown.

    `own` is the package folder of the libtpu to use; None for tpudiag's. Takes up to `LIMIT_S`.
    """
    found = find_spec("libtpu")
    packages = own or (Path(found.origin).parents[1] if found and found.origin else None)
    if packages is None or not is_own(pid):
        return ()
    version = _version(packages)
    # By the folders' names alone: nothing that the process has loaded is executed.
    if version is None or version != _version_of(pid):
        return ()
    command = [sys.executable, "-I", "-c", _ASK, str(packages), THROTTLE, ICI]
    try:
        answer = subprocess.run(
            command, capture_output=True, text=True, timeout=LIMIT_S, check=True, errors="replace"
        )
        # The last line: libtpu may print before it.
        answers = msgspec.json.decode(answer.stdout.splitlines()[-1], type=dict[str, list[str]])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return ()
    # Entries in the documented format; others are skipped.
    kinds: tuple[tuple[str, Health], ...] = ((THROTTLE, "throttling"), (ICI, "ICI link"))
    return tuple(
        ChipScore(health, match["where"], int(match["score"]))
        for name, health in kinds
        for entry in answers.get(name, ())
        if (match := _SCORE.fullmatch(entry.strip())) is not None
        and int(match["score"]) <= MOST_SCORE
    )


def _version_of(pid: int) -> str | None:
    try:
        with Path(f"/proc/{pid}/maps").open(encoding="utf-8", errors="replace") as lines:
            loaded = next((line for line in lines if line.endswith("/libtpu.so\n")), None)
    except OSError:
        return None
    if loaded is None:
        return None
    packages = Path(loaded[loaded.index("/") :].strip()).parents[1]
    return _version(Path(f"/proc/{pid}/root{packages}"))


def _version(packages: Path) -> str | None:
    found = package(packages, "libtpu")
    return found.version if found is not None else None
