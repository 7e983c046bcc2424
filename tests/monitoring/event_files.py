"""Writes TensorBoard event files as TensorFlow does."""

import struct
from collections.abc import Iterable
from pathlib import Path

from tests.wire_bytes import field, varint
from tpudiag.monitoring.event_files import masked_crc32c


def record(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    sums = (struct.pack("<I", masked_crc32c(part)) for part in (length, data))
    return length + next(sums) + data + next(sums)


def event(
    at_s: float, step: int, tag: str = "loss", number: float | None = None, tensor: bool = False
) -> bytes:
    """With a number of its own at each step; as TensorFlow 1 wrote it, or as a tensor."""
    packed = struct.pack("<f", 1 / (1 + step) if number is None else number)
    said = field(8, b"\x08\x01" + field(4, packed)) if tensor else b"\x15" + packed
    value = field(1, tag.encode()) + said
    summary = field(5, field(1, value))
    return record(b"\x09" + struct.pack("<d", at_s) + b"\x10" + varint(step) + summary)


def version(at_s: float) -> bytes:
    return record(b"\x09" + struct.pack("<d", at_s) + field(3, b"brain.Event:2"))


def write(folder: Path, events: Iterable[bytes], name: str = "events.out.tfevents.1.h") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    with file.open("ab") as stream:
        stream.writelines(events)
    return file
