"""The hooks on the Keras that a job imports."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tpudiag.sources.job.tensorflow.keras import KerasWatch


def package(**more: Any) -> Any:
    """As much of a Keras as is hooked."""

    class Model:
        def compile(self) -> None: ...

    class Layer:
        def __call__(self) -> None: ...

    return SimpleNamespace(
        Model=Model,
        layers=SimpleNamespace(Layer=Layer),
        optimizers=SimpleNamespace(Optimizer=object),
        **more,
    )


@pytest.mark.parametrize(("more", "hooked"), [({}, False), ({"KerasTensor": object}, True)])
def test_layers_are_built_before_replicas_in_keras_3_alone(
    more: dict[str, Any], hooked: bool
) -> None:
    keras = package(**more)
    before = keras.layers.Layer.__call__
    KerasWatch(None).adapt_to_cpu_replicas(keras)
    assert (keras.layers.Layer.__call__ is not before) is hooked
