"""The hooks on the Keras that a job imports."""

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from tpudiag.sources.job.tensorflow.watches.keras import KerasWatch


def package(**more: Any) -> Any:
    """As much of a Keras as is hooked."""

    class Model:
        def compile(self) -> None: ...

        def fit(self, *_: Any, **__: Any) -> None: ...

    class Layer:
        def __call__(self) -> None: ...

    class Optimizer: ...

    return SimpleNamespace(
        Model=Model,
        layers=SimpleNamespace(Layer=Layer),
        optimizers=SimpleNamespace(Optimizer=Optimizer),
        mixed_precision=SimpleNamespace(),
        **more,
    )


@pytest.mark.parametrize(("more", "hooked"), [({}, False), ({"KerasTensor": object}, True)])
def test_layers_are_built_before_replicas_in_keras_3_alone(
    more: dict[str, Any], hooked: bool
) -> None:
    keras = package(**more)
    before = keras.layers.Layer.__call__
    KerasWatch(sys).adapt_to_cpu_replicas(keras)
    assert (keras.layers.Layer.__call__ is not before) is hooked


@pytest.mark.parametrize(("replicas", "left"), [(8, False), (1, True)])
def test_a_distributed_step_is_not_compiled_a_second_time(replicas: int, left: bool) -> None:
    keras = package(__version__="3.8.0")
    KerasWatch(sys).adapt_to_cpu_replicas(keras)
    model = keras.Model()
    model.distribute_strategy = SimpleNamespace(num_replicas_in_sync=replicas)
    model.jit_compile = True
    model.compile()
    assert model.jit_compile is left


@pytest.mark.parametrize(
    ("given", "named", "epochs"),
    [
        (("x", "y", 32, 5), {}, 5),
        (("x",), {"epochs": 5}, 5),
        (("x",), {"epochs": 5, "steps_per_epoch": 10}, 1),
        (("x", "y", 32, 5, "auto", None, 0.0, None, True, {0: 1.0}), {}, 5),
        (("x", "y", 32, 5, "auto", None, 0.0, None, True, None, None, 0, 10), {}, 1),
    ],
)
def test_passes_over_the_data_are_known_however_fit_is_told(
    given: tuple[Any, ...], named: dict[str, Any], epochs: int
) -> None:
    keras = package(__version__="3.8.0")
    watch = KerasWatch(sys)
    watch.watch(keras, "keras")
    watch.layers.policies["float32"] = None
    keras.Model().fit(*given, **named)
    use = watch.facts()
    assert use is not None and use.epochs == epochs


def test_what_was_asked_is_that_of_the_last_compile() -> None:
    keras = package(__version__="3.8.0")
    watch = KerasWatch(sys)
    watch.watch(keras, "keras")
    watch.adapt_to_cpu_replicas(keras)
    watch.layers.policies["float32"] = None
    model = keras.Model()
    model.distribute_strategy = SimpleNamespace(num_replicas_in_sync=8)
    for asked in (True, False):
        model.jit_compile = asked
        model.compile()
        model.fit("x")
        use = watch.facts()
        assert use is not None and use.jit_compile is asked and model.jit_compile is False


@pytest.mark.parametrize(("asked", "read_anew"), [(8, 1), (1, 0)])
def test_validation_data_are_read_anew_where_several_steps_met_their_end(
    asked: int, read_anew: int
) -> None:
    keras, resets = package(), list[int]()

    def evaluate(_: Any) -> None: ...

    keras.Model.evaluate = evaluate
    keras.Model.steps_per_execution = asked
    KerasWatch(sys).adapt_to_cpu_replicas(keras)
    model = keras.Model()
    model._eval_epoch_iterator = SimpleNamespace(reset=lambda: resets.append(1))
    model.compile()
    model.evaluate()
    assert len(resets) == read_anew
