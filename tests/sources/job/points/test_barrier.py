"""What fails in a hook is ours; what fails in the hooked function is the job's."""

import contextlib
import gc
import weakref
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from tpudiag.sources.job.points import barrier, hooks
from tpudiag.sources.job.points.point import point


@pytest.fixture(autouse=True)
def none_known() -> Iterator[None]:
    barrier.forget()
    yield
    barrier.forget()


def halved(number: int) -> float:
    """The job's function; it has errors of its own."""
    calls.append(number)
    if number < 0:
        raise ValueError("of the job")
    return number / 2


calls: list[int] = []
AT = point("", "halved", "", "all")


def hooked(call: Any) -> Any:
    calls.clear()
    owner = SimpleNamespace(__name__="owner", halved=halved)
    hooks.around(AT, call, owner)
    return owner.halved


def test_the_end_of_a_replicas_thread_is_no_failure_of_ours() -> None:
    stop = type("_RequestedStop", (Exception,), {})

    def stopped(*_: Any) -> Any:
        raise stop

    with pytest.raises(stop):
        hooked(stopped)(4)
    assert not barrier.defects()
    assert not calls


def before(*_: Any) -> Any:
    raise KeyError("ours, before")


def afterwards(original: Any, number: int) -> Any:
    original(number)
    raise KeyError("ours, after")


def both(original: Any, number: int) -> Any:
    try:
        return original(number)
    finally:
        raise KeyError("ours, meanwhile")


@pytest.mark.parametrize("call", [before, afterwards, both])
def test_a_hook_that_fails_costs_the_job_nothing(call: Any) -> None:
    function = hooked(call)
    assert [function(4), function(6)] == [2, 3]
    assert calls == [4, 6]
    (defect,) = barrier.defects()
    assert (defect.hook, defect.count) == ("owner.halved", 2)
    assert defect.error.startswith("KeyError: 'ours")
    assert f"in {call.__name__}" in defect.traceback


@pytest.mark.parametrize("call", [before, afterwards, both])
def test_the_error_of_the_job_stays_the_error_of_the_job(call: Any) -> None:
    with pytest.raises(ValueError, match="of the job") as raised:
        hooked(call)(-1)
    assert calls == [-1]
    assert barrier.is_after_ours(raised.value) is (call is before)


def test_what_is_no_exception_passes() -> None:
    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hooked(interrupted)(1)
    assert barrier.defects() == ()


def test_an_exception_meant_for_the_job_reaches_it() -> None:
    def ended(*_: Any) -> Any:
        raise barrier.for_job(StopIteration())

    with pytest.raises(StopIteration):
        hooked(ended)(1)
    assert barrier.defects() == ()


def test_a_hook_that_runs_while_a_defect_is_noted_gives_way(monkeypatch: Any) -> None:
    """Reading the lines of a traceback opens files, and `open` may be hooked."""
    function = hooked(before)

    def reads_files(*_: Any, **__: Any) -> list[str]:
        return [str(function(8))]

    monkeypatch.setattr("traceback.format_exception", reads_files)
    assert function(4) == 2
    assert [defect.traceback for defect in barrier.defects()] == ["4.0"]


def test_an_exception_of_the_job_keeps_nothing_alive_behind_it() -> None:
    class Held: ...

    def fails() -> None:
        raise OSError("no such file")

    def asked(original: Callable[[], None]) -> None:
        original()

    def job() -> weakref.ref[Held]:
        held = Held()
        with contextlib.suppress(OSError):
            barrier.guarded("open", asked, fails, (), {})
        return weakref.ref(held)

    gc.disable()
    try:
        assert job()() is None, "a file that nobody holds is closed at once"
    finally:
        gc.enable()


def test_what_sends_is_not_done_where_a_hook_fails() -> None:
    calls.clear()
    owner = SimpleNamespace(__name__="owner", halved=halved)
    hooks.around(AT, before, owner, lambda args, _: args[0] > 4)
    assert owner.halved(4) == 2
    with pytest.raises(barrier.Withheld, match=r"owner\.halved.*no error of this script"):
        owner.halved(6)
    assert calls == [4]
    (defect,) = barrier.defects()
    assert (defect.hook, defect.count) == ("owner.halved", 2)


def test_what_a_hook_fails_to_tell_of_may_send() -> None:
    owner = SimpleNamespace(__name__="owner", halved=halved)
    calls.clear()
    hooks.around(AT, before, owner, lambda args, _: args[7])
    with pytest.raises(barrier.Withheld):
        owner.halved(4)
    assert calls == []
    assert barrier.judged("ours", lambda: 3, True) == 3
    assert barrier.judged("ours", before, False) is None
    with pytest.raises(barrier.Withheld):
        barrier.judged("ours", before, True)


def test_a_fact_that_cannot_be_had_keeps_back_no_other() -> None:
    told: dict[str, object] = {}
    barrier.send_each(told.update, a=lambda: 1, b=lambda: 1 // 0, c=lambda: None, d=lambda: (2,))
    assert told == {"a": 1, "d": (2,)}
    assert [defect.hook for defect in barrier.defects()] == ["b"]
