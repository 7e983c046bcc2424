"""What libtpu's own monitoring library says of the chips that a job holds: throttling, ICI links.

Names and forms as the library itself describes them (libtpu 0.0.52, `libtpu.sdk.tpumonitoring`,
`get_metric(NAME).description()`); not verified on hardware. It reads beside a running job, in a
process of its own: in the job's interpreter with the job's libtpu, because the library is built
for one version of Python and talks to the runtime of its own release.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

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
    """How ill a chip or a link of it is.

    Throttling counts tenths: 0 is not throttled, 3 is throttled by 30 %. A link is well at 0, has
    passing problems from 1, lasting ones from 6 and cannot be used at 10.
    """

    health: Health
    where: str
    """The chip's number, or the link as the library names it: `tray1.chip3.ici0.int`."""
    score: int


def scores(pid: int) -> tuple[ChipScore, ...]:
    """What the library says of the chips that a process of this host holds; empty where nothing.

    Takes up to `LIMIT_S`; a process without a libtpu is not asked.
    """
    library = _libtpu_of(pid)
    if library is None:
        return ()
    # /proc/PID/exe is the interpreter's binary itself: packages of its environment are named.
    command = [f"/proc/{pid}/exe", "-c", _ASK, str(library.parent.parent), THROTTLE, ICI]
    try:
        answer = subprocess.run(
            command, capture_output=True, text=True, timeout=LIMIT_S, check=True, errors="replace"
        )
        # The last line: libtpu may print before it.
        answers = msgspec.json.decode(answer.stdout.splitlines()[-1], type=dict[str, list[str]])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return ()
    return _scores(answers)


def _libtpu_of(pid: int) -> Path | None:
    """The libtpu that a process has loaded from a package with the monitoring library."""
    try:
        lines = Path(f"/proc/{pid}/maps").read_text(errors="replace").splitlines()
    except OSError:
        return None
    for line in lines:
        if line.endswith("/libtpu.so"):
            library = Path(line[line.index("/") :])
            # Older packages of libtpu hold no such library.
            return library if any(library.parent.glob("sdk*")) else None
    return None


def _scores(answers: Mapping[str, Sequence[str]]) -> tuple[ChipScore, ...]:
    """The entries that have the described form; others are not guessed at."""
    kinds: tuple[tuple[str, Health], ...] = ((THROTTLE, "throttling"), (ICI, "ICI link"))
    return tuple(
        ChipScore(health, match["where"], int(match["score"]))
        for name, health in kinds
        for entry in answers.get(name, ())
        if (match := _SCORE.fullmatch(entry.strip())) is not None
        and int(match["score"]) <= MOST_SCORE
    )
