"""Steps from the TensorBoard event files that a job writes anyway, without TensorFlow.

Each event carries a wall time and a step; the times at which the step advances are the job's
progress. Framing: TFRecord (length, its checksum, data, checksum).
"""

import hashlib
import heapq
import struct
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import google_crc32c

from tpudiag.errors import UnreadableInput
from tpudiag.monitoring.recording import NS, Recording, Run, RunUnit, Window, bucket
from tpudiag.monitoring.windows import USUAL_STEPS, losses_of, stalled
from tpudiag.sources.profile.schema import parsed
from tpudiag.sources.profile.wire import Damaged

MARK = ".tfevents."
OF_REPORTS = ".tpudiag"
"""Ending of event files with a report of tpudiag, which hold no training."""
NOT_TRAINING = ("validation", "eval", "test")
BY_EPOCH = ("epoch_", "evaluation_")
"""Tags whose step is the number of an epoch (Keras' TensorBoard callback)."""
DT_FLOAT = 1
LOSS = "loss"
"""Part of a loss's tag."""
Event = tuple[int, int, bool, tuple[float, ...]]
"""Time (ns), step, whether the step is an epoch, and the losses."""
CHUNK_BYTES = 64 * 2**20
LARGEST_RECORD = 2**31
SINK_FLUSH_S = 120.0
"""TensorFlow's summary writers flush every two minutes."""


@dataclass
class Progress:
    """When each step (or epoch) was first reached."""

    points: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """(ns since the epoch, step), both rising."""
    starts: int = 0
    """Points at which the job started anew: its step fell."""
    shift_ns: int = 0
    """How far the clock was set back since the first point."""

    def add(self, at_ns: int, step: int) -> None:
        """One event."""
        at_ns += self.shift_ns
        if self.points and step > self.points[-1][1] and at_ns < self.points[-1][0] - NS:
            # The step rises while the time falls by more than a second: the clock was set back.
            # Dropping such events would hide all steps until it caught up.
            # By how much is not known: as if the last gap came again.
            gap_ns = self.points[-1][0] - self.points[-2][0] if len(self.points) > 1 else NS
            ahead_ns = self.points[-1][0] + gap_ns - at_ns
            self.shift_ns, at_ns = self.shift_ns + ahead_ns, at_ns + ahead_ns
        # By half: a restore from a late checkpoint continues the run, and is a pause until its
        # steps pass the last one.
        if self.points and step < self.points[-1][1] // 2 and at_ns > self.points[-1][0]:
            self.points, self.starts = [], self.starts + 1
        if not self.points or (step > self.points[-1][1] and at_ns > self.points[-1][0]):
            self.points.append((at_ns, step))


class EventFiles:
    """Follows the event files under a folder, local or an fsspec URL."""

    def __init__(self, path: str) -> None:
        try:
            located: Any = import_module("fsspec.core").url_to_fs(path)
        except (ImportError, OSError, ValueError) as error:
            raise UnreadableInput(f"{path}: {error}") from error
        self.path = path
        self._fs: Any = located[0]
        self._root: str = located[1]
        self._offsets: dict[str, int] = {}
        self.damaged: dict[str, str] = {}
        """Files that are no longer read, and why."""
        self._progress = {"steps": Progress(), "epochs": Progress()}
        self._sent = ("", 0, 0)
        self._losses: list[tuple[int, float]] = []
        """(step, loss) as written, not yet in a window."""
        self._number = 0
        self._usual: deque[float] = deque(maxlen=USUAL_STEPS)

    @property
    def found(self) -> bool:
        """Whether there are event files; raises UnreadableInput."""
        return bool(self._files())

    def poll(self) -> Sequence[Recording]:
        """The run with its new windows, none before there are any events.

        A run gets a new id where the job started anew, and where steps become known beside epochs:
        its windows then start again from the first.
        """
        # In each file's order: where the clock was set back, times fall while steps rise.
        events = [list(self._events(file)) for file in self._files()]
        for at_ns, step, of_epoch, losses in heapq.merge(*events, key=lambda event: event[:3]):
            self._progress["epochs" if of_epoch else "steps"].add(at_ns, step)
            self._losses += [(step, loss) for loss in losses]
        by_step, by_epoch = self._progress["steps"].points, self._progress["epochs"].points
        unit: RunUnit = "steps" if len(by_step) > 1 or not by_epoch else "epochs"
        progress = self._progress[unit]
        if not progress.points:
            return ()
        if self._sent[:2] != (unit, progress.starts):
            self._sent, self._number = (unit, progress.starts, 0), 0
            self._usual.clear()
        windows = tuple(self._windows(progress, self._sent[2]))
        return [Recording(self._run(unit, progress), windows, self.path)]

    def _run(self, unit: RunUnit, progress: Progress) -> Run:
        id_ = hashlib.sha1(f"{self.path} {unit} {progress.starts}".encode()).hexdigest()[:12]
        return Run(
            id=id_, name=self.path, host="", pid=0, unit=unit,
            started_ns=progress.points[0][0], beat_ns=progress.points[-1][0],
        )  # fmt: skip

    def _windows(self, progress: Progress, sent: int) -> Iterator[Window]:
        """Windows of a second or more, from the point that ended the last one."""
        start = sent
        for index in range(sent + 1, len(progress.points)):
            (from_ns, from_step), (to_ns, to_step) = progress.points[start], progress.points[index]
            if to_ns - from_ns < NS:
                continue
            steps, took = to_step - from_step, to_ns - from_ns
            lost = stalled(took, steps, self._usual)
            if not lost:
                self._usual.append(took / steps)
            said = [loss for step, loss in self._losses if step <= to_step]
            self._losses = [one for one in self._losses if one[0] > to_step]
            yield Window(
                number=self._number,
                start_ns=from_ns,
                end_ns=to_ns,
                steps=steps,
                step_ms=((bucket(took / 1e6 / steps), steps),),
                stalled_ms=lost / 1e6,
                stalls=int(lost > 0),
                **losses_of(said),
            )
            self._number += 1
            start = index
        self._sent = (self._sent[0], self._sent[1], start)

    def _files(self) -> list[str]:
        """The training's event files; those of evaluations only where there are no others."""
        try:
            # fsspec caches a bucket's listings: a new file would never be seen.
            self._fs.invalidate_cache()
            names = [str(name) for name in self._fs.find(self._root) if MARK in name]
            files = [name for name in names if not name.endswith(OF_REPORTS)]
        except OSError as error:
            raise UnreadableInput(f"{self.path}: {error}") from error
        below = {name: name.removeprefix(self._root).lower().split("/")[:-1] for name in files}
        training = [n for n in files if not any(f.startswith(NOT_TRAINING) for f in below[n])]
        # A job that only evaluates writes steps as well.
        return sorted(training or files)

    def _events(self, file: str) -> Iterator[Event]:
        while file not in self.damaged:
            start = self._offsets.get(file, 0)
            try:
                data: bytes = self._fs.cat_file(file, start=start, end=start + CHUNK_BYTES)
                size = yield from _records(memoryview(data))
            except (OSError, ValueError):
                return  # it vanished, or has not grown: retry at the next poll
            except Damaged as error:
                self.damaged[file] = str(error)
                return
            self._offsets[file] = start + size
            if not size or len(data) < CHUNK_BYTES:
                return


def _records(data: memoryview) -> Generator[Event, None, int]:
    """The events of complete records; returns the start of the first incomplete one."""
    position = 0
    while position + 12 <= len(data):
        (length,) = struct.unpack_from("<Q", data, position)
        (sum_,) = struct.unpack_from("<I", data, position + 8)
        if sum_ != masked_crc32c(bytes(data[position : position + 8])) or length > LARGEST_RECORD:
            raise Damaged(f"corrupt at byte {position}: not a record of events")
        end = position + 12 + length
        if end + 4 > len(data):
            break
        event = _event(data[position + 12 : end])
        if event is not None:
            yield event
        position = end + 4
    return position


def _event(data: memoryview) -> Event | None:
    """Time, step and kind of an event with a summary; None for others."""
    # Graphs and the version come in other fields, and say nothing of progress.
    event = parsed("Event", data)
    tags = [bytes(value.tag).decode(errors="replace") for value in event.summary.value]
    tagged = [(tag, value) for tag, value in zip(tags, event.summary.value, strict=True) if tag]
    if not tagged or not 0 <= event.step < 2**62 or not 0 < event.wall_time < 1e11:
        return None
    said = [_number(value) for tag, value in tagged if LOSS in tag.lower()]
    losses = tuple(loss for loss in said if loss is not None)
    of_epoch = all(tag.startswith(BY_EPOCH) for tag, _ in tagged)
    return int(event.wall_time * NS), event.step, of_epoch, losses


def _number(value: Any) -> float | None:
    """The number of a summary's value, or in its tensor of one float, as TensorFlow 2 writes it."""
    if value.HasField("simple_value"):
        return float(value.simple_value)
    tensor = value.tensor
    if tensor.dtype != DT_FLOAT:
        return None
    if len(tensor.float_val) == 1:
        return float(tensor.float_val[0])
    packed = bytes(tensor.tensor_content)
    return float(struct.unpack("<f", packed)[0]) if len(packed) == 4 else None


def masked_crc32c(data: bytes) -> int:
    """TFRecord's checksum: CRC-32C, rotated and shifted."""
    crc: int = google_crc32c.value(data)
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF
