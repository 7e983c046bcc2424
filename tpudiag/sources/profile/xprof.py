"""XProf's view of a run: its overview page, made in a child process with a time limit.

XProf writes caches beside the files that it reads, so it gets a folder of links to them. For a
file that it cannot read its converter returns nothing, without an error: that counts as a failure
here, never as an empty (healthy) answer.
"""

import html
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from typing import Any

import msgspec

from tpudiag import scratch
from tpudiag.records import dataclass
from tpudiag.sources.profile.xprof_says import XProfSays

LIMIT_S = 30.0
"""How long XProf may take before it is stopped."""
FIGURES = {
    "device_duty_cycle_percent": "device duty cycle",
    "device_idle_time_percent": "device idle time",
}
STEP_FIGURES = {
    "steptime_ms_average": "average step time, ms",
    "infeed_percent_average": "share of step time waiting for input, %",
    "mxu_utilization_percent": "MXU utilisation",
    "hbm_utilization_percent": "HBM bandwidth utilisation",
}
"""XProf averages these over the steps, and writes 0 where it saw none."""
STATEMENTS = (
    "statement", "input_conclusion", "output_conclusion", "kernel_launch_statement",
    "device_collectives_statement", "all_other_statement", "precision_statement", "remark_text",
)  # fmt: skip


@dataclass(frozen=True)
class _Row:
    c: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])


@dataclass(frozen=True)
class _Page:
    """One of the tables of an overview page."""

    cols: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    rows: list[_Row] = field(default_factory=list[_Row])
    p: dict[str, str] = field(default_factory=dict[str, str])


@contextmanager
def query(
    files: Sequence[Path], limit_s: float = LIMIT_S
) -> Generator[Callable[[], XProfSays], None, None]:
    """Request the overview page of a run's files; the child ends with the block at the latest.

    Yields what gives XProf's answer, or the reason why there is none, within the time limit.
    """
    with scratch.folder("xprof") as folder:
        run = folder / "plugins" / "profile" / "run"
        run.mkdir(parents=True)
        links = [run / file.name for file in files]
        for link, file in zip(links, files, strict=True):
            link.symlink_to(file.resolve())
        answer = folder / "answer"
        script = Path(__file__).with_name("ask_xprof.py")
        process = subprocess.Popen(
            [sys.executable, "-P", script, answer, "overview_page", *links],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
            cwd=folder,
        )
        until = time.monotonic() + limit_s

        def answered() -> XProfSays:
            try:
                code = process.wait(timeout=max(0.0, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                return XProfSays(failure=f"XProf was stopped after its {limit_s:g} s")
            if code == 0 and answer.is_file():
                return parse(answer.read_bytes())
            if code < 0:
                return XProfSays(failure=f"XProf was ended by signal {-code}")
            return XProfSays(failure="XProf could not convert the profile, and does not say why")

        try:
            yield answered
        finally:
            process.kill()
            process.wait()


def parse(page: bytes) -> XProfSays:
    """An overview page (JSON) as figures and statements."""
    try:
        pages = msgspec.json.decode(page, type=list[_Page], strict=False)
    except msgspec.MsgspecError as error:
        return XProfSays(failure=f"XProf's overview page is of an unknown form: {error}")
    properties = {key: text for page_ in pages for key, text in page_.p.items()}
    devices = properties.get("device_core_count", "0") not in ("", "0")
    stepped = any(p.rows for p in pages if "steptime_ms_average" in p.p)
    wanted = {**(FIGURES if devices else {}), **(STEP_FIGURES if stepped else {})}
    figures = tuple((name, properties[key]) for key, name in wanted.items() if properties.get(key))
    texts = [_plain(properties.get(key, "")) for key in STATEMENTS]
    texts += [
        ": ".join(_plain(str(cell["v"])) for cell in row.c if cell.get("v"))
        for page_ in pages
        if [column.get("id") for column in page_.cols] == ["severity", "message"]
        for row in page_.rows
    ]
    return XProfSays(figures, tuple(dict.fromkeys(text for text in texts if text)))


def _plain(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", text)).split())
