"""Events of TensorFlow's calls: once each, the outermost only, and without side effects."""

import sys
import types
from typing import Any

import pytest

from tpudiag.monitoring import tensorflow_events
from tpudiag.monitoring.recorder import Recorder
from tpudiag.sources.job.points import privates, table


class Heard(Recorder):
    """A listener of our own."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def traced(self, function: str, start: int, end: int) -> None:
        assert start <= end
        self.told.append(f"traced {function}")

    def begin_pause(self, kind: str) -> int:
        self.told.append(f"begin {kind}")
        return 7

    def end_pause(self, kind: str, start: int) -> None:
        assert start == 7
        self.told.append(f"end {kind}")


class Broken(Heard):
    def traced(self, function: str, start: int, end: int) -> None:
        raise RuntimeError(f"ours: {function} {start} {end}")


class Model:
    """Stands for a Keras model."""

    def save(self, path: str) -> str:
        self.save_weights(path)
        return path

    def save_weights(self, path: str) -> None:
        if path == "full":
            raise OSError(28, "No space left on device")

    def load_weights(self, path: str) -> str:
        return path


Model.__module__ = "keras.src.models.model"


def test_a_model_that_is_kept_is_told_once_and_its_errors_stand() -> None:
    heard, methods = Heard(), (Model.save, Model.load_weights)
    tensorflow_events.follow(heard)

    class Mine(Model):
        """A user's."""

    model = Mine()
    tensorflow_events.follow_model(model)
    tensorflow_events.follow_model(model)
    assert model.save("a") == "a"
    assert heard.told == ["begin checkpoint", "end checkpoint"], "the outermost alone"
    with pytest.raises(OSError, match="No space"):
        model.save("full")
    assert model.load_weights("b") == "b"
    assert heard.told[2:] == [
        "begin checkpoint",
        "end checkpoint",
        "begin restore",
        "end restore",
    ]
    tensorflow_events.forget(heard)
    assert (Model.save, Model.load_weights) == methods, "nobody listens: as it was found"
    model.save("a")
    assert len(heard.told) == 6


def test_a_trace_names_its_function_and_what_fails_in_telling_is_ours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Options:
        @staticmethod
        def python_function() -> None:
            pass

    def create(*arguments: Any) -> str:
        return f"{len(arguments)} arguments"

    # As the job's own import has them, whose release may be another.
    tracing: Any = types.ModuleType(table.TRACED.owners[0])
    setattr(tracing, table.TRACED.names[0], create)
    monkeypatch.setitem(sys.modules, "tensorflow", types.ModuleType("tensorflow"))
    monkeypatch.setitem(sys.modules, tracing.__name__, tracing)
    for depth in (1, 2, 3):
        package = ".".join(tracing.__name__.split(".")[: depth + 1])
        monkeypatch.setitem(sys.modules, package, types.ModuleType(package))
    heard, broken = Heard(), Broken()
    tensorflow_events.follow(broken)
    call = next(getattr(owner, name) for owner, name in table.TRACED.places())
    assert call is not create and call(1, Options()) == "2 arguments"
    tensorflow_events.follow(heard)
    tensorflow_events.forget(broken)
    assert call(1, Options()) == "2 arguments"
    assert heard.told == ["traced python_function"]
    assert call.__code__.co_filename == create.__code__.co_filename
    tensorflow_events.forget(heard)
    assert getattr(tracing, table.TRACED.names[0]) is create, "nobody listens: as it was found"


def test_a_program_that_jax_compiles_is_told_and_nothing_else_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    listeners: list[Any] = []
    jax: Any = types.ModuleType("jax")
    jax.monitoring = types.SimpleNamespace(register_event_duration_secs_listener=listeners.append)
    monkeypatch.setitem(sys.modules, "jax", jax)
    heard, broken = Heard(), Broken()
    tensorflow_events.follow(heard)
    tensorflow_events.follow(broken)
    (told,) = listeners
    told("/jax/core/compile/jaxpr_trace_duration", 0.5, fun_name="train_step")
    told(privates.JAX_COMPILED, 0.5, fun_name="train_step")
    assert heard.told == ["traced train_step"]
    tensorflow_events.forget(broken)
    tensorflow_events.forget(heard)
    told(privates.JAX_COMPILED, 0.5, fun_name="train_step")
    assert heard.told == ["traced train_step"], "nobody listens"
