"""Records behave as frozen dataclasses of the standard library do."""

import dataclasses
import inspect
import pickle
from typing import Any, cast

import msgspec
import pytest

from tpudiag import records


@records.dataclass(frozen=True)
class Point:
    """A record, here and below with its twin of the standard library."""

    x: float
    y: float = 2.0
    label: str = dataclasses.field(default="p", compare=False)
    tags: tuple[str, ...] = dataclasses.field(default_factory=tuple[str, ...], repr=False)


@dataclasses.dataclass(frozen=True)
class Twin:
    """The same by the standard library."""

    x: float
    y: float = 2.0
    label: str = dataclasses.field(default="p", compare=False)
    tags: tuple[str, ...] = dataclasses.field(default_factory=tuple[str, ...], repr=False)


@records.dataclass(frozen=True, kw_only=True)
class One:
    """A record of one field."""

    value: float


@records.dataclass(frozen=True)
class Quiet:
    """A record with a method of its own."""

    value: int

    def __repr__(self) -> str:
        return "quiet"


NAN = float("nan")


@pytest.mark.parametrize("fields", [(1.0,), (1.0, 3.0, "q", ("a",)), (NAN, 2.0)])
def test_a_record_is_what_a_frozen_dataclass_is(fields: tuple[Any, ...]) -> None:
    record, twin = Point(*fields), Twin(*fields)
    assert repr(record) == repr(twin).replace("Twin", "Point")
    assert hash(record) == hash(twin)
    assert record == Point(*fields)
    assert record != cast(object, twin)
    assert record != dataclasses.replace(record, y=9.0)
    assert dataclasses.replace(record, label="other") == record, "a field that is not compared"
    assert dataclasses.asdict(record) == dataclasses.asdict(twin)
    assert Point.__match_args__ == Twin.__match_args__
    with pytest.raises(dataclasses.FrozenInstanceError):
        record.x = 3.0  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]


def test_the_first_record_of_a_class_and_the_next_are_made_alike() -> None:
    """The `__init__` is compiled when the first is made."""

    @records.dataclass(frozen=True)
    class Late:
        """One of its fields has a default of its own making."""

        x: int
        tags: list[str] = dataclasses.field(default_factory=list[str])
        seen: int = dataclasses.field(default=7, init=False)
        note: str = dataclasses.field(default="", kw_only=True)

        def __post_init__(self) -> None:
            """Told of each."""
            self.tags.append("made")

    assert str(inspect.signature(Late)).startswith("(x: int, tags: ")
    first, second = Late(1), Late(2, note="n")
    assert (first.x, first.tags, first.seen, first.note) == (1, ["made"], 7, "")
    assert (second.x, second.tags, second.seen, second.note) == (2, ["made"], 7, "n")
    assert first.tags is not second.tags
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        Late()  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    with pytest.raises(dataclasses.FrozenInstanceError):
        del first.x  # pyright: ignore[reportAttributeAccessIssue]


def test_what_reads_and_writes_dataclasses_does_so_with_records() -> None:
    point = Point(1.0, tags=("a", "b"))
    assert pickle.loads(pickle.dumps(point)) == point
    assert msgspec.convert(msgspec.to_builtins(point), Point) == point


def test_a_record_of_one_field_and_one_with_a_method_of_its_own() -> None:
    assert One(value=NAN) == One(value=NAN), "the same object, as in a tuple"
    assert {One(value=1.0): 3}[One(value=1.0)] == 3
    assert repr(Quiet(1)) == "quiet"
    with pytest.raises(TypeError):
        One(1.0)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError):
        records.dataclass(frozen=False)
