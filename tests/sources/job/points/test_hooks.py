"""Places that are hooked once, heard in order, and left as they were found."""

import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tpudiag.sources.job.points import barrier, hooks
from tpudiag.sources.job.points.point import Holder, Undone, Way, point


class Trainer:
    """What a model inherits from."""

    def compile(self, times: int = 1) -> str:
        return "compiled" * times

    @staticmethod
    def load(path: str) -> str:
        return f"loaded {path}"

    @classmethod
    def made(cls) -> str:
        return cls.__name__

    @property
    def number(self) -> int:
        return 7


class Model(Trainer):
    """A model of a library."""


def load_data(path: str = "mnist", *, times: int = 1) -> str:
    """What a library has under several names."""
    return f"downloaded {path}" * times


@pytest.fixture(autouse=True)
def library() -> Iterator[types.ModuleType]:
    module = types.ModuleType("library")
    vars(module).update(Model=Model, Trainer=Trainer, load_data=load_data)
    sys.modules["library"] = module
    barrier.forget()
    before = {class_: dict(vars(class_)) for class_ in (Trainer, Model)}
    yield module
    hooks.undo()
    del sys.modules["library"]
    assert before == {class_: dict(vars(class_)) for class_ in (Trainer, Model)}, "undone"


def test_an_inherited_method_is_left_inherited() -> None:
    calls: list[object] = []
    hooks.after(point("library.Model", "compile", "", holder=Holder.DEFINER), calls.append)
    assert Model.compile is Trainer.compile
    assert Model().compile() == "compiled"
    assert len(calls) == 1


def test_what_a_call_gave_is_heard_and_stays_what_it_gave() -> None:
    heard: list[tuple[object, ...]] = []

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("ours")

    at = point("library.Trainer", "compile", "")
    hooks.after(at, lambda *all_: heard.append(all_), gives=True)
    hooks.after(at, broken, gives=True)
    trainer = Trainer()
    assert trainer.compile(2) == "compiledcompiled"
    assert heard == [("compiledcompiled", trainer, 2)], "once, though another failed"
    assert [each.count for each in barrier.defects()] == [1]


def test_a_place_is_hooked_once_and_who_hears_twice_hears_once() -> None:
    at = point("library.Trainer", "compile", "")
    heard: list[str] = []

    def first(original: Any, *args: Any, **kwargs: Any) -> Any:
        heard.append("first")
        return original(*args, **kwargs) + "!"

    def second(original: Any, *args: Any, **kwargs: Any) -> Any:
        heard.append("second")
        return original(*args, **kwargs)

    hooks.around(at, first)
    hook = Trainer.compile
    for _ in range(2):
        hooks.around(at, second)
    assert Trainer.compile is hook
    assert Trainer().compile(times=2) == "compiledcompiled!"
    assert heard == ["second", "first"], "without a stated order the later is the outer"
    hooks.leave(second)
    assert Trainer().compile() == "compiled!" and heard[2:] == ["first"]
    hooks.leave(first)
    assert Trainer.compile is not hook and Trainer().compile() == "compiled"


def test_the_stated_order_holds_whoever_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[str] = []

    def watch(original: Any, *args: Any) -> Any:
        heard.append("watch")
        return original(*args)

    def held_back(original: Any, *args: Any) -> Any:
        heard.append("held back")
        return original(*args)

    monkeypatch.setattr(watch, "__module__", "tpudiag.sources.job.tensorflow.watches.pauses")
    monkeypatch.setattr(held_back, "__module__", "tpudiag.sources.job.held_back.renames")
    for each in (watch, held_back):
        hooks.around(point("library.Trainer", "compile", ""), each)
    Trainer().compile()
    assert heard == ["watch", "held back"], "what is held back lies on the library"


def test_static_and_class_methods_and_properties_stay_what_they_are() -> None:
    heard: list[tuple[Any, ...]] = []

    def hear(*args: Any) -> None:
        heard.append(args)

    for name in ("load", "made", "number"):
        hooks.before(point("library.Trainer", name, ""), hear)
    model = Model()
    assert (Trainer.load("a"), model.load("b")) == ("loaded a", "loaded b")
    assert Model.made() == "Model" and model.number == 7
    assert heard == [("a",), ("b",), (Model,), (model,)]


def test_a_function_with_other_code_is_heard_of_under_all_its_names() -> None:
    imported_before = load_data

    def stand_in(original: Any, *args: Any, **kwargs: Any) -> Any:
        return original(*args, **kwargs) if "really" in args else "stood in"

    hooks.around(point("library", "load_data", "", way=Way.CODE), stand_in)
    assert load_data() == imported_before("x", times=2) == "stood in"
    assert load_data("really", times=2) == "downloaded really" * 2
    hooks.undo()
    assert imported_before(times=2) == "downloaded mnist" * 2


def test_what_has_closures_is_not_given_other_code(library: types.ModuleType) -> None:
    text = "closed over"
    vars(library).update(closure=lambda: text, c_code=len)

    def answer(*_: Any) -> str:
        return "stood in"

    hooks.around(point("library", "closure c_code", "", way=Way.CODE), answer)
    assert library.closure() == "closed over" and library.c_code("ab") == 2


def test_what_is_lacking_is_our_defect_unless_its_row_says_so(
    library: types.ModuleType, tmp_path: Path
) -> None:
    (tmp_path / "half.py").write_text("raise TypeError('Descriptors cannot be created')")
    library.__path__ = [str(tmp_path)]
    hooks.before(point("library.half.Builder", "load", ""), print)
    hooks.before(point("library.Model", "gone", "", "up to 2.15"), print)
    assert barrier.defects() == ()
    hooks.before(point("library.Model", "gone", ""), print)
    assert [defect.hook for defect in barrier.defects()] == ["library.Model.gone"]
    hooks.before(point("not_imported.Model", "fit", "", "some"), print)


def test_in_the_users_process_a_span_is_told_of_and_changes_nothing() -> None:
    told: list[str] = []
    at = point("library.Trainer", "compile", "", undone=Undone.WITH_LISTENERS)
    compiled = Trainer.compile

    def begun(_: Any, times: int = 1) -> Any:
        told.append(f"begun {times}")
        return lambda: told.append("ended")

    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("ours")

    for each in (broken, begun):
        hooks.span(at, each)
    assert Trainer.compile.__code__.co_filename == compiled.__code__.co_filename
    assert Model().compile(2) == "compiled" * 2
    with pytest.raises(TypeError):
        Model().compile(times="x")  # type: ignore[arg-type]
    assert told == ["begun 2", "ended", "begun x", "ended"]
    for each in (broken, begun):
        hooks.leave(each)
    assert Trainer.compile is compiled
