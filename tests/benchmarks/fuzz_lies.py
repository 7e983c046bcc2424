"""Inputs that lie, for `fuzz_readers`: each changes some bytes into others of the same format."""

import contextlib
import json
import random
import re
import tempfile
from pathlib import Path
from typing import Any

from tests.wire_bytes import varint

NUMBERS = (
    0, 1, 2, 7, 127, 128, 255, 65_535, 2**20, 2**31 - 1, 2**31, 99_999_999_999, 2**53 + 1, 2**62,
    2**63 - 1, 2**63, 2**64 - 1,
)  # fmt: skip
TEXTS = (
    "", "0", "-1", "7", "²", "9" * 5000, "99999999999", "1e308", "nan", "inf", "-inf", "null",
    "/device:TPU:99999999999", "/device:TPU:" + "9" * 5000, "/host:CPU", "/host:metadata",
    "Task Environment", "Steps", "XLA Ops", "XLA Modules", "train", "a\0b", "\x1b[2J",
    "f32[99999999999,99999999999]{1,0:T(8,128)}", f"f32[{'9' * 5000}]{{0}}", "../../etc/passwd",
    "x" * 100_000, "a:" * 20_000, "(" * 20_000, "[" * 20_000, "{" * 20_000, "%a" * 5_000,
)  # fmt: skip


def parsed(data: bytes) -> list[tuple[int, int, bytes]] | None:
    """Fields as (number, wire type, content), None where the bytes are no message."""
    from tpudiag.sources.profile import wire

    view = memoryview(data)
    try:
        return [(f.number, f.wire_type, bytes(view[f.start : f.end])) for f in wire.fields(view)]
    except wire.Damaged:
        return None


def joined(fields: list[tuple[int, int, bytes]]) -> bytes:
    return b"".join(
        varint(number << 3 | kind) + (varint(len(content)) if kind == 2 else b"") + content
        for number, kind, content in fields
    )


def lie_in_message(data: bytes, rng: random.Random, depth: int = 0) -> bytes:
    """One field of a message, or of one inside it, is another; all lengths are right."""
    fields = parsed(data)
    if not fields:
        return rng.choice(TEXTS).encode("utf-8", "replace")
    at = rng.randrange(len(fields))
    number, kind, content = fields[at]
    choice = rng.random()
    if kind == 2 and content and depth < 8 and choice < 0.8 and parsed(content):
        fields[at] = (number, kind, lie_in_message(content, rng, depth + 1))
    elif choice < 0.85 and kind == 0:
        fields[at] = (number, kind, varint(rng.choice(NUMBERS)))
    elif choice < 0.85 and kind == 1:
        fields[at] = (number, kind, rng.choice(NUMBERS).to_bytes(8, "little"))
    elif choice < 0.85:
        fields[at] = (number, kind, rng.choice(TEXTS).encode("utf-8", "replace"))
    elif choice < 0.9:
        del fields[at]
    elif choice < 0.95:
        fields[at:at] = [fields[at]] * rng.choice((1, 10, 500))
    else:
        fields[at] = (rng.randrange(1, 60), kind, content)
    return joined(fields)


def inside(holder: Any) -> list[Any]:
    """What a list, a tuple or a dict holds."""
    return [holder[key] for key in _keys(holder)]


def _keys(holder: Any) -> list[Any]:
    """By what that is reached."""
    keys: Any = holder.keys() if hasattr(holder, "keys") else range(len(holder))
    return list(keys)


def lie_in_json(data: bytes, rng: random.Random) -> bytes:
    """One value of a document is another, is gone, or is there a thousand times."""
    document: Any = json.loads(data)
    holders: list[Any] = []

    def walk(value: Any) -> None:
        if isinstance(value, dict | list) and value:
            holders.append(value)
            for inner in inside(value):
                walk(inner)

    walk(document)
    for _ in range(rng.choice((1, 1, 2, 4))):
        holder = rng.choice(holders)
        keys = _keys(holder)
        if not keys:
            continue
        key = rng.choice(keys)
        odds: list[Any] = [*TEXTS, *NUMBERS, *(-n for n in NUMBERS), None, True]
        odds += [1e308, 5e-324, [], {}, 10**4000]
        odd = rng.choice(odds)
        choice = rng.random()
        if choice < 0.7:
            holder[key] = odd
        elif choice < 0.8:
            del holder[key]
        elif choice < 0.9 and isinstance(holder, list):
            holder[key:key] = [holder[key]] * rng.choice((1, 10, 2000))
        else:
            holder[key] = rng.choice(holders) if rng.random() < 0.5 else [[[odd]]]
    with contextlib.suppress(ValueError, RecursionError):
        return json.dumps(document).encode("utf-8", "replace")
    return data


def lie_in_text(data: bytes, rng: random.Random) -> bytes:
    """A number, a word or a line of a text is another."""
    text = data.decode("utf-8", "replace")
    for _ in range(rng.choice((1, 1, 2, 5))):
        spots = list(re.finditer(r"\d+", text)) if rng.random() < 0.6 else []
        if spots:
            spot = rng.choice(spots)
            odd = str(rng.choice((*NUMBERS, "9" * 5000, -1, "", "1e308")))
            text = text[: spot.start()] + odd + text[spot.end() :]
            continue
        lines = text.splitlines(keepends=True) or [""]
        at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
        choice = rng.random()
        if choice < 0.3:
            lines[at:at] = [lines[other]] * rng.choice((1, 3, 300))
        elif choice < 0.5:
            del lines[at]
        elif choice < 0.7:
            words = lines[at].split(" ")
            words[rng.randrange(len(words))] = rng.choice((*TEXTS, *lines[other].split(" ")))
            lines[at] = " ".join(words)
        else:
            place = rng.randrange(len(lines[at]) + 1)
            lines[at] = lines[at][:place] + rng.choice("(){}[],=%\"'<>:\n") + lines[at][place:]
        text = "".join(lines)
    return text.encode("utf-8", "replace")


def lie_in_bytes(data: bytes, rng: random.Random) -> bytes:
    """Bits are flipped, pieces are cut out, doubled or moved."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 3, 10))):
        at = rng.randrange(len(out) + 1)
        size = rng.choice((1, 2, 4, 8, 64))
        choice = rng.random()
        if choice < 0.5 and at < len(out):
            out[at] ^= 1 << rng.randrange(8)
        elif choice < 0.7:
            del out[at : at + size]
        elif choice < 0.85:
            out[at:at] = out[at : at + size] * rng.choice((1, 2, 100))
        else:
            out[at : at + size] = rng.choice(NUMBERS).to_bytes(8, "little")[:size]
    return bytes(out)


def lie_in_events(data: bytes, rng: random.Random) -> bytes:
    """A record's event lies; its length and checksums are right."""
    import struct

    from tests.monitoring.event_files import record

    records: list[bytes] = []
    at = 0
    while at + 12 <= len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        records.append(data[at + 12 : at + 12 + length])
        at += 16 + length
    place = rng.randrange(len(records))
    records[place] = lie_in_message(records[place], rng)
    return b"".join(map(record, records))


def lie_in_rows(data: bytes, rng: random.Random) -> bytes:
    """Cells of a database are others, its rows or tables are gone, views stand for them."""
    import sqlite3

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "a.sqlite"
        file.write_bytes(data)
        with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(file)) as base:
            base.execute("PRAGMA journal_mode = delete")
            tables = [
                row[0] for row in base.execute("SELECT name FROM sqlite_master WHERE sql > ''")
            ]
            for _ in range(rng.choice((1, 1, 2, 5))):
                table = rng.choice(tables)
                columns = [row[1] for row in base.execute(f'PRAGMA table_info("{table}")')]
                odd: Any = rng.choice((*TEXTS, *(n for n in NUMBERS if n < 2**63), None, -1, 1e308))
                odd = rng.choice((odd, odd, float("inf"), b"\xff\0", -(2**63)))
                some = rng.choice(("", " WHERE rowid % 7 = 0", " WHERE rowid = 1"))
                choice = rng.random()
                with contextlib.suppress(sqlite3.Error):
                    if choice < 0.85:
                        column = rng.choice(columns)
                        base.execute(f'UPDATE "{table}" SET "{column}" = ?{some}', (odd,))
                    elif choice < 0.9:
                        base.execute(f'DELETE FROM "{table}"{some}')
                    elif choice < 0.95:
                        base.execute(f"PRAGMA user_version = {rng.randrange(100)}")
                    else:
                        base.execute(f'ALTER TABLE "{table}" RENAME TO gone')
            base.commit()
        return file.read_bytes()
