"""What a job sets up before it trains."""

from __future__ import annotations

from types import SimpleNamespace

from tpudiag.sources.job.tensorflow.setup_calls import trained_names


class Unbuilt:
    @property
    def trainable_variables(self) -> list[object]:
        raise ValueError("Weights for model 'sequential' have not yet been created.")


def test_a_model_that_is_not_built_has_no_variables_yet() -> None:
    assert trained_names(Unbuilt()) == ()
    assert trained_names(object()) == ()
    model = SimpleNamespace(trainable_variables=[SimpleNamespace(name="kernel:0")])
    assert trained_names(model) == ("kernel:0",)
