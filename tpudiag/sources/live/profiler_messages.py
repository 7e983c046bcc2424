"""The messages of TensorFlow's profiler service and of libtpu's metrics service, on the wire.

Field numbers: openxla/xla, xla/tsl/profiler/protobuf (profiler_service.proto,
profiler_options.proto). The messages are small but for the XSpace in an answer, which is extracted
without parsing.
"""

from collections.abc import Iterable

from tpudiag.sources.profile import wire

PROFILE = "/tensorflow.ProfilerService/Profile"
TERMINATE = "/tensorflow.ProfilerService/Terminate"
MONITOR = "/tensorflow.ProfilerService/Monitor"
SNAPSHOT = "/tensorflow.ProfilerService/GetSnapshot"
_VERSION_OF_OPTIONS = 1
_HOST_LEVEL = 2
"""The host tracer's level, as tf.profiler.experimental.start's default."""
_XSPACE = 8
"""A field of ProfileResponse."""
_PLANES, _LINES, _EVENTS = 1, 3, 4
"""Fields of XSpace, XPlane and XLine."""


def encoded(fields: Iterable[tuple[int, int | str | bytes]]) -> bytes:
    """A message of varints (numbers) and strings, bytes or messages (the rest)."""
    return b"".join(_field(number, value) for number, value in fields)


def profile_request(session: str, host: str, duration_ms: int, repository: str) -> bytes:
    """A ProfileRequest for the XSpace itself.

    Trainers before TensorFlow 2.21 do not know that field: they write the file into `repository`.
    """
    options = encoded(
        [(5, _VERSION_OF_OPTIONS), (1, 1), (2, _HOST_LEVEL), (3, 1), (7, 1), (9, duration_ms)]
    )
    return encoded(
        [(1, duration_ms), (4, options), (5, repository), (6, session), (7, host), (9, 1)]
    )


def terminate_request(session: str) -> bytes:
    """A TerminateRequest: ends the capture of this session, and does nothing to others."""
    return encoded([(1, session)])


def xspace(response: bytes) -> memoryview | None:
    """The XSpace in a ProfileResponse, None where there is none; raises wire.Damaged."""
    spaces = list(wire.parts(memoryview(response), _XSPACE))
    # The last one counts, as for every repeated scalar message field.
    return spaces[-1] if spaces else None


def has_events(space: memoryview) -> bool:
    """Whether anything was traced: an idle trainer's XSpace has planes without events."""
    return any(
        True
        for plane in wire.parts(space, _PLANES)
        for line in wire.parts(plane, _LINES)
        for _ in wire.parts(line, _EVENTS)
    )


def _field(number: int, value: int | str | bytes) -> bytes:
    """One field."""
    if isinstance(value, int):
        return _varint(number << 3 | wire.VARINT) + _varint(value)
    content = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | wire.BYTES) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    """A number, seven bits a byte, the lowest first."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])
