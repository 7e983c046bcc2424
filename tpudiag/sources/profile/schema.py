"""The messages of an XSpace (openxla/xla, tsl/profiler/protobuf/xplane.proto), built at run time.

They live in a descriptor pool of their own: TensorFlow and JAX register the same names in the
default pool, and importing TensorFlow's classes takes five seconds. The pool gets the schema as
bytes (google/protobuf/descriptor.proto), because the classes that write such bytes take longer to
import than these few lines to run.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Protocol, cast

from google.protobuf import descriptor_pool, message_factory

from tpudiag.sources.profile.wire import bytes_field, number_field

_PACKAGE = "tensorflow.profiler"
_KINDS = {"double": 1, "int64": 3, "uint64": 4, "string": 9, "bytes": 12}
"""FieldDescriptorProto.Type."""
_MESSAGE_KIND, _OPTIONAL, _REPEATED = 11, 1, 3
"""FieldDescriptorProto's type of messages, and its labels."""
_MESSAGES = {
    "XSpace": "*XPlane planes 1, *string errors 2, *string warnings 3, *string hostnames 4",
    "XPlane": "int64 id 1, string name 2, *XLine lines 3, %XEventMetadata event_metadata 4,"
    " %XStatMetadata stat_metadata 5, *XStat stats 6",
    "XLine": "int64 id 1, int64 display_id 10, string name 2, string display_name 11,"
    " int64 timestamp_ns 3, int64 duration_ps 9, *XEvent events 4",
    "XEvent": "int64 metadata_id 1, ?int64 offset_ps 2, ?int64 num_occurrences 5,"
    " int64 duration_ps 3, *XStat stats 4",
    "XStat": "int64 metadata_id 1, ?double double_value 2, ?uint64 uint64_value 3,"
    " ?int64 int64_value 4, ?string str_value 5, ?bytes bytes_value 6, ?uint64 ref_value 7,"
    " ?bytes compressed_str_value 8",
    "XEventMetadata": "int64 id 1, string name 2, string display_name 4, bytes metadata 3,"
    " *XStat stats 5, *int64 child_id 6",
    "XStatMetadata": "int64 id 1, string name 2, string description 3",
}
"""Fields as `type name number`: * repeated, ? in the message's one oneof, % map from int64."""
_Field = tuple[str, str, str, int]
"""Mark, type, name, number."""
ONEOFS = {"XEvent": "data", "XStat": "value"}


class XStat(Protocol):
    """A named value; `WhichOneof("value")` names the member that is set."""

    metadata_id: int
    bytes_value: bytes
    ref_value: int

    def WhichOneof(self, name: str) -> str | None:
        """The member of the oneof that is set."""
        ...


class XEventMetadata(Protocol):
    """The metadata that all events of one id share."""

    name: str
    display_name: str

    @property
    def stats(self) -> Sequence[XStat]:
        """The stats that are the same for every event of the id."""
        ...


class XStatMetadata(Protocol):
    """The name of a stat."""

    name: str


class XPlane(Protocol):
    """A device, a host, or the capture itself."""

    name: str

    def ParseFromString(self, data: bytes) -> int:
        """Fill the message; raises DecodeError."""
        ...

    def ByteSize(self) -> int:
        """The length of the message's bytes."""
        ...

    def DiscardUnknownFields(self) -> None:
        """Drop what the schema does not know."""
        ...

    @property
    def event_metadata(self) -> Mapping[int, XEventMetadata]:
        """By the id that events carry."""
        ...

    @property
    def stat_metadata(self) -> Mapping[int, XStatMetadata]:
        """By the id that stats carry."""
        ...

    @property
    def stats(self) -> Sequence[XStat]:
        """The plane's own stats."""
        ...


def new_plane() -> XPlane:
    """An empty XPlane."""
    return cast(XPlane, message("XPlane")())


@cache
def message(name: str) -> type[object]:
    """The class of the message with this name, e.g. `XSpace`."""
    descriptor = _pool().FindMessageTypeByName(f"{_PACKAGE}.{name}")
    return cast("type[object]", message_factory.GetMessageClass(descriptor))


@cache
def _pool() -> descriptor_pool.DescriptorPool:
    """The schema."""
    pool = descriptor_pool.DescriptorPool()
    head = _text(1, "tpudiag/xplane.proto") + _text(2, _PACKAGE) + _text(12, "proto3")
    pool.AddSerializedFile(
        head + b"".join(bytes_field(4, _descriptor(name, text)) for name, text in _MESSAGES.items())
    )
    return pool


def _descriptor(name: str, text: str) -> bytes:
    """A DescriptorProto: its name 1, fields 2, entries of maps 3, oneofs 8."""
    oneof = bytes_field(8, _text(1, ONEOFS[name])) if name in ONEOFS else b""
    return _text(1, name) + b"".join(_field(name, each) for each in _fields(text)) + oneof


def _fields(text: str) -> Iterator[_Field]:
    """Mark, type, name and number of each field."""
    for part in text.split(","):
        kind, name, number = part.split()
        mark = kind[0] if kind[0] in "*?%" else ""
        yield mark, kind.removeprefix(mark), name, int(number)


def _field(owner: str, field: _Field) -> bytes:
    """The part of a DescriptorProto that is one field, with the entry message that a map needs."""
    mark, kind, name, number = field
    entry = "".join(word.title() for word in name.split("_")) + "Entry"
    is_map = mark == "%"
    label = _REPEATED if mark in ("*", "%") else _OPTIONAL
    descriptor = _text(1, name) + number_field(3, number) + number_field(4, label)
    descriptor += number_field(5, _KINDS.get(kind, _MESSAGE_KIND))
    if kind not in _KINDS:
        descriptor += _text(6, f".{_PACKAGE}.{f'{owner}.{entry}' if is_map else kind}")
    if mark == "?":
        descriptor += number_field(9, 0)
    if not is_map:
        return bytes_field(2, descriptor)
    pair = _field(entry, ("", "int64", "key", 1)) + _field(entry, ("", kind, "value", 2))
    is_entry = bytes_field(7, number_field(7, 1))  # MessageOptions.map_entry
    return bytes_field(2, descriptor) + bytes_field(3, _text(1, entry) + pair + is_entry)


def _text(number: int, text: str) -> bytes:
    """A field that is text."""
    return bytes_field(number, text.encode())
