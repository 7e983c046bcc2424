"""The protobuf wire format, as far as needed to take an XSpace apart without parsing it."""

from collections.abc import Iterator
from typing import NamedTuple

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
"""Wire types; groups (3, 4) are no part of an XSpace."""


class Damaged(Exception):
    """The bytes are no whole XSpace; the text, which the user sees, says how and where."""


class Field(NamedTuple):
    """One field: its number, its wire type, where its tag starts and where its content lies."""

    number: int
    wire_type: int
    tag: int
    start: int
    end: int


def fields(data: memoryview) -> Iterator[Field]:
    """The fields of one message, in order.

    Raises Damaged where the last field is cut off or the bytes are no fields at all.
    """
    position, size = 0, len(data)
    while position < size:
        tag = position
        key, position = varint(data, position)
        number, wire_type = key >> 3, key & 7
        if number == 0:
            raise Damaged(f"corrupt at byte {tag}: field number 0")
        if wire_type == BYTES and position < size and (length := data[position]) < 0x80:
            start = position + 1  # as `content` has it; most fields are short
            end = start + length
        else:
            start, end = content(data, wire_type, position, tag)
        if end > size:
            raise Damaged(f"truncated: the field at byte {tag} ends {end - size:,} bytes too late")
        yield Field(number, wire_type, tag, start, end)
        position = end


def parts(data: memoryview, number: int) -> Iterator[memoryview]:
    """The content of the texts and messages of one number; raises Damaged."""
    for field in fields(data):
        if field.number == number and field.wire_type == BYTES:
            yield data[field.start : field.end]


def content(data: memoryview, wire_type: int, position: int, tag: int) -> tuple[int, int]:
    """Where the content of a field lies."""
    if wire_type == BYTES:
        length, start = varint(data, position)
        return start, start + length
    if wire_type == VARINT:
        return position, varint(data, position)[1]
    if wire_type in (FIXED64, FIXED32):
        return position, position + (8 if wire_type == FIXED64 else 4)
    raise Damaged(f"corrupt at byte {tag}: wire type {wire_type}")


def varint(data: memoryview, position: int) -> tuple[int, int]:
    """The number at `position` and the position behind it."""
    if position < len(data) and (first := data[position]) < 0x80:
        return first, position + 1
    value = 0
    for index in range(10):
        if position + index >= len(data):
            raise Damaged(f"truncated: cut off in a number at byte {position}")
        byte = data[position + index]
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return value, position + index + 1
    raise Damaged(f"corrupt at byte {position}: a number of more than 10 bytes")
