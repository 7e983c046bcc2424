"""A model that cannot be drawn."""

import os

from tpudiag.sources.job.process.protocol import Recorder
from tpudiag.sources.job.tensorflow.watches.keras_backend import drawn


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
