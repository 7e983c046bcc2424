"""Keras 3 on another framework."""

import os
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tpudiag.sources.job.process.protocol import Recorder
from tpudiag.sources.job.tensorflow.watches import keras_backend
from tpudiag.sources.job.tensorflow.watches.keras_backend import drawn


def test_a_fit_on_pytorch_ends_the_job_and_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def ended(code: int) -> None:
        raise SystemExit(code)

    monkeypatch.setattr(os, "_exit", ended)
    told: dict[str, object] = {}
    recorder: Any = SimpleNamespace(put=told.update)
    keras = [
        SimpleNamespace(
            backend=SimpleNamespace(backend=lambda name=name: name),
            Model=SimpleNamespace(fit=lambda: "trained"),
        )
        for name in ("tensorflow", "torch")
    ]
    keras_backend.watch(cast("Any", keras[0]), recorder)
    keras_backend.watch(cast("Any", SimpleNamespace()), recorder)
    assert keras[0].Model.fit() == "trained" and not told
    keras_backend.watch(cast("Any", keras[1]), recorder)
    with pytest.raises(SystemExit) as exit_:
        keras[1].Model.fit()
    assert (exit_.value.code, told) == (0, {"keras_backend": "torch"})


def test_a_model_that_cannot_be_drawn_here_ends_no_rehearsal_and_is_told() -> None:
    def plotted(model: str) -> str:
        if not model:
            raise ImportError("You must install pydot")
        if model == "other release":
            raise AttributeError("module 'pydot' has no attribute 'InvocationException'")
        return model

    reader, writer = os.pipe()
    recorder = Recorder(writer)
    assert drawn(recorder, plotted, "model") == "model"
    assert drawn(recorder, plotted, "") is None
    assert drawn(recorder, plotted, "other release") is None
    os.close(writer)
    with os.fdopen(reader) as told:
        assert [("not_drawn" in line, "pydot" in line) for line in told] == [(True, True)] * 2


def test_layers_that_keep_a_step_from_being_compiled_are_found_in_models_within() -> None:
    crop, dense = type("RandomCrop", (), {"supports_jit": False})(), object()
    augment = SimpleNamespace(layers=[crop, crop], supports_jit=True)
    model = SimpleNamespace(layers=[augment, dense, crop])
    assert keras_backend.not_compiled(model) == ("RandomCrop",)
