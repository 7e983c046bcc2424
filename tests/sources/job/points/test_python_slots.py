"""The numbers that a function reads and writes outside itself, without TensorFlow."""

import dis
import math
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from tpudiag.sources.job.points.python_slots import unique_slots, written_slots

steps = 3
rate = 0.5


class State:
    """What a script keeps for all its functions."""

    limit = 9

    def __init__(self) -> None:
        self.step, self.rate, self.names = 4, 0.25, ["a"]


state = State()


def global_step() -> float:
    state.step += 1
    state.limit -= 0
    return state.rate * len(state.names) * math.pi


class Trainer:
    def __init__(self) -> None:
        self.seen = 0

    def step(self) -> float:
        self.seen += 1
        return helper() * rate

    def set(self, seen: int) -> None:
        self.seen = seen


trainer = Trainer()


def run() -> object:
    return helped(trainer.step)


def helped(function: Callable[[], float]) -> float:
    return function()


def helper() -> int:
    return steps


def counter() -> Callable[[], int]:
    count = 7

    def step() -> int:
        nonlocal count
        count += 1
        return count

    return step


@pytest.mark.parametrize("root", [Trainer().step, run])
def test_globals_are_followed_into_the_functions_that_are_called(root: object) -> None:
    slots = {slot.name: slot for slot in unique_slots((root,))}
    assert {name: slot.get() for name, slot in slots.items()} == {
        "self.seen": 0,
        "rate": 0.5,
        "steps": 3,
    }
    assert [name for name, slot in slots.items() if slot.written] == ["self.seen"]


def test_attributes_of_what_a_function_finds_outside_are_its_slots() -> None:
    slots = {slot.name: slot for slot in unique_slots((global_step,))}
    assert {name: slot.get() for name, slot in slots.items()} == {
        "state.step": 4,
        "state.rate": 0.25,
    }
    assert [name for name, slot in slots.items() if slot.written] == ["state.step"]
    mine = State()

    def step() -> int:
        mine.step += 1
        return mine.step

    (slot,) = written_slots(step)
    assert slot.name == "mine.step"
    step()
    slot.put(4)
    assert step() == 5


seen_by_host = 0


def logs(_: int) -> None:
    global seen_by_host  # noqa: PLW0603
    seen_by_host += 1


class Logger:
    """Its step gives the host functions to call: a global, a method, a lambda, one of its own."""

    def __init__(self) -> None:
        self.best = self.used = self.kept = 1

    def report(self, loss: int) -> None:
        self.best = min(self.best, loss)

    def step(self, debug: Any) -> int:
        def keeps(loss: int) -> None:
            self.kept = loss

        debug.callback(logs, self.used)
        debug.io_callback(self.report, 1)
        debug.pure_callback(lambda: self.best + rate)
        debug.callback(keeps, 1)
        return self.used


def test_what_the_host_is_given_to_call_is_not_traced() -> None:
    assert [slot.name for slot in unique_slots((Logger().step,))] == ["self.used"]


def test_a_written_slot_can_be_put_back() -> None:
    trainer, step = Trainer(), counter()
    for function, before in ((trainer.step, 0), (step, 7)):
        (slot,) = written_slots(function)
        function()
        assert slot.get() == before + 1
        slot.put(before)
        assert slot.get() == before
    assert step() == 8


@pytest.mark.parametrize("joined", ["LOAD_FAST_LOAD_FAST", "STORE_FAST_LOAD_FAST"])
def test_loads_that_python_3_13_joins_are_told_apart(
    joined: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    instructions = [
        SimpleNamespace(opname=joined, argval=("seen", "self"), offset=2),
        SimpleNamespace(opname="STORE_ATTR", argval="seen", offset=4),
    ]

    def joined_instructions(_: object) -> Iterator[SimpleNamespace]:
        return iter(instructions)

    monkeypatch.setattr(dis, "get_instructions", joined_instructions)
    (slot,) = written_slots(Trainer().set)
    assert (slot.name, slot.written) == ("self.seen", True)
