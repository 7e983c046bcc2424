"""Activities of a trainer's main thread, recognised by its functions' names."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from tpudiag.sources.live.host_stacks import FRAME, LIBRARY, main_stacks, recorded
from tpudiag.sources.live.processes import is_own

SECONDS = 3.0
MOST_LINES = 20
Activity = Literal["input", "compile", "checkpoint", "evaluation"]
_OURS = re.compile(r"/tpudiag/monitoring/")
_BY_NAME: tuple[tuple[Activity, re.Pattern[str]], ...] = (
    ("evaluation", re.compile(r"(?:^|_)(?:eval|evaluate|evaluation|validate|validation)(?:_|$)")),
    (
        "checkpoint",
        re.compile(
            r"^(?:save|save_(?:weights|model|checkpoint|state)|write_checkpoint|restore|"
            r"(?:save|write|dump|load|restore)_ckpt|checkpoint)$"
        ),
    ),
    (
        "compile",
        re.compile(
            r"^(?:func_graph_from_py_func|_create_concrete_function|trace_function|"
            r"get_concrete_function|convert_call_from_py_func|backend_compile|"
            r"_compile_and_write_cache|compile_or_get_cached)$"
        ),
    ),
)
# Files, since a Dataset's __next__ has many names in TensorFlow's releases; names for the user's
# own loaders.
_INPUT_FILES = re.compile(r"/(?:iterator_ops|dataset_ops|input_lib|distribute/input_ops)\.py$")
_INPUT_NAMES = re.compile(r"^(?:__next__|get_next|_next_internal|next_batch|get_batch)$")


@dataclass(frozen=True)
class MainThread:
    """Shares of the samples by activity, and the most sampled user line; or a fault."""

    shares: tuple[tuple[Activity, float], ...] = ()
    lines: tuple[tuple[str, float], ...] = ()
    """`train.py:37 (load)`: the innermost user frames, most sampled first."""
    fault: str = ""

    @property
    def line(self) -> str:
        """The most sampled line, empty where there is none."""
        return self.lines[0][0] if self.lines else ""

    def line_share(self, line: str) -> float:
        """The share of the samples at a line."""
        return dict(self.lines).get(line, 0.0)

    def share(self, activity: Activity) -> float:
        """An activity's share of the samples."""
        return dict(self.shares).get(activity, 0.0)


def look(pid: int, seconds: float = SECONDS) -> MainThread:
    """Sample a process of this user for some seconds without pausing it."""
    if not is_own(pid):
        return MainThread(fault="it runs as another user: run tpudiag as that user")
    raw, fault = recorded(pid, seconds)
    if raw is None:
        return MainThread(fault=fault)
    return summary(main_stacks(raw, pid))


def summary(stacks: Iterable[tuple[list[str], int]]) -> MainThread:
    """Activities and lines of the samples."""
    shares: Counter[Activity] = Counter()
    lines: Counter[str] = Counter()
    total = 0
    for frames, count in stacks:
        total += count
        act = _activity(frames)
        if act is not None:
            shares[act] += count
        matches = [match for frame in frames if (match := FRAME.fullmatch(frame))]
        own = [m for m in matches if not LIBRARY.search(m["file"]) and not _OURS.search(m["file"])]
        if own:
            lines[f"{own[-1]['file']}:{own[-1]['line']} ({own[-1]['function']})"] += count
    if not total:
        return MainThread(fault="py-spy saw no Python frame of its main thread")
    return MainThread(
        tuple((activity, number / total) for activity, number in shares.most_common()),
        tuple((line, number / total) for line, number in lines.most_common(MOST_LINES)),
    )


def _activity(frames: list[str]) -> Activity | None:
    """The activity of a stack, from the outermost frame that shows one."""
    # Outermost first: an evaluation that reads input or traces functions counts as evaluation.
    for frame in frames:
        match = FRAME.fullmatch(frame)
        # The recorder wraps save and restore: its frames would turn whatever they call into a
        # checkpoint.
        if match is None or _OURS.search(match["file"]):
            continue
        name = match["function"].rpartition(".")[2]
        # Wrappers that can hold any function.
        if name in ("call", "wrapper", "<module>", "main"):
            continue
        # Libraries call other things an evaluation, too.
        own = not LIBRARY.search(match["file"]) or name.endswith("evaluate")
        for activity, pattern in _BY_NAME:
            if pattern.search(name) and (activity != "evaluation" or own):
                return activity
        if _INPUT_FILES.search(match["file"]) or _INPUT_NAMES.search(name):
            return "input"
    return None
