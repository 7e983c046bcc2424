"""Writes a report beside its profile as a text summary, so that TensorBoard shows both.

An event file is a sequence of records: length, its checksum, data, its checksum. The first
Event holds the version, the second a Summary with one tensor of type string for the plugin
`text`.
"""

import contextlib
import re
import socket
import struct
import time
from pathlib import Path

from tpudiag.bounded_files import write_whole
from tpudiag.catalogue import renderer
from tpudiag.model import Report
from tpudiag.monitoring.event_files import OF_REPORTS, masked_crc32c
from tpudiag.sources.profile.schema import message

FOLDER = "tpudiag"
TAG = "tpudiag/report"
WRITABLE = 0o222
DT_STRING = 7
DATA_CLASS_TENSOR = 2


def write_beside(report: Report, path: str, run: str | None = None) -> Path | None:
    """Write the report into the log folder of a profile, in place of an earlier one on it.

    None where there is no local log folder that takes it: a bare file, a bucket, a read-only disk.
    """
    from tpudiag.errors import UnreadableInput
    from tpudiag.sources.profile import locate

    if locate.is_url(path):
        return None
    try:
        chosen = locate.choose(locate.runs(path), path, run)
    except UnreadableInput:
        return None
    if chosen.log_dir is None:
        return None
    logs = Path(chosen.log_dir)
    with contextlib.suppress(OSError):
        if logs.stat().st_mode & WRITABLE:  # what is read-only stays as it is, for root too
            folder = logs / FOLDER / Path(chosen.folder).name
            now = time.time()
            folder.mkdir(parents=True, exist_ok=True)
            name = f"events.out.tfevents.{time.time_ns()}.{socket.gethostname()}{OF_REPORTS}"
            earlier = list(folder.glob(f"events.out.tfevents.*{OF_REPORTS}"))
            # At once: TensorBoard would read half a record and give the file up.
            write_whole(folder / name, _record(_event(now)) + _record(_event(now, report)))
            # After the new one is there: TensorBoard never finds the folder empty.
            for file in earlier:
                file.unlink(missing_ok=True)
            return folder / name
    return None


def _event(now: float, report: Report | None = None) -> bytes:
    """An Event: the version of the file, or the report as a summary of step 0."""
    event = message("Event")(wall_time=now)
    if report is None:
        event.file_version = "brain.Event:2"
    else:
        # One value: the text as a scalar tensor for the text plugin.
        value = event.summary.value.add(tag=TAG.encode())
        value.metadata.plugin_data.plugin_name = "text"
        value.metadata.data_class = DATA_CLASS_TENSOR
        value.tensor.dtype = DT_STRING
        value.tensor.tensor_shape.SetInParent()
        value.tensor.string_val.append(markdown(report).encode())
    return bytes(event.SerializeToString())


def markdown(report: Report) -> str:
    """The report as TensorBoard's Markdown has it: nothing folds, and fewer signs are special."""
    text = renderer("markdown")(report)
    text = re.sub(r"<details>\n<summary>(.*)</summary>", r"### \1", text)
    return text.replace("</details>\n", "").replace(r"\~", "~").replace(r"\$", "$")


def _record(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    sums = (struct.pack("<I", masked_crc32c(part)) for part in (length, data))
    return length + next(sums) + data + next(sums)
