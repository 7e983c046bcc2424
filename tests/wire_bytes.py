"""Protobuf's bytes, written by hand."""


def varint(value: int) -> bytes:
    """Of 64 bits; a negative number as protobuf writes it."""
    data = bytearray()
    value &= 2**64 - 1
    while value > 0x7F:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*data, value])


def field(number: int, content: bytes | int) -> bytes:
    """A number, or what has a length."""
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    return varint(number << 3 | 2) + varint(len(content)) + content
