"""The hooks on the Keras that a job imports."""

# pyright: reportPrivateUsage=false, reportUnknownLambdaType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
import contextlib
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from tpudiag.sources.job.tensorflow.watches.keras import KerasWatch, LayerBuilder


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


class Symbol:
    def __init__(self, shape: tuple[int, ...], dtype: str) -> None:
        self.shape, self.dtype = shape, dtype


class Tensor:
    def __init__(self, *shape: int) -> None:
        self.shape, self.dtype = shape, SimpleNamespace(name="float32")


class Layer:
    def __init__(self) -> None:
        self.built = False
        self.called_with: list[Any] = []

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        self.built = True
        self.called_with.append((args, kwargs))


def a_tensorflow(in_replica: bool) -> Any:
    strategy = SimpleNamespace(scope=contextlib.nullcontext)

    def merge_call(call: Callable[[Any], None]) -> None:
        call(strategy)

    def mapped(function: Callable[[Any], Any], structure: Any) -> Any:
        args, kwargs = structure
        return tuple(map(function, args)), {name: function(v) for name, v in kwargs.items()}

    return SimpleNamespace(
        executing_eagerly=lambda: False,
        init_scope=contextlib.nullcontext,
        is_tensor=lambda value: isinstance(value, Tensor),
        distribute=SimpleNamespace(
            get_replica_context=lambda: SimpleNamespace(merge_call=merge_call),
            has_strategy=lambda: in_replica,
        ),
        nest=SimpleNamespace(flatten=list, map_structure=mapped),
    )


def test_a_layer_is_built_once_on_symbols() -> None:
    keras: Any = SimpleNamespace(KerasTensor=Symbol)
    layer = Layer()
    builder = LayerBuilder(a_tensorflow(in_replica=True), keras)
    builder.before_call(layer, Tensor(4, 3), training=True)
    builder.before_call(layer, Tensor(4, 3), training=True)
    (((symbol,), named),) = layer.called_with
    assert (symbol.shape, symbol.dtype, named) == ((4, 3), "float32", {"training": True})


def test_elsewhere_layers_are_left_alone() -> None:
    keras: Any = SimpleNamespace(KerasTensor=Symbol)
    outside, symbolic = Layer(), Layer()
    LayerBuilder(a_tensorflow(in_replica=False), keras).before_call(outside, Tensor(4, 3))
    LayerBuilder(a_tensorflow(in_replica=True), keras).before_call(
        symbolic, Symbol((4,), "float32")
    )
    assert not outside.called_with and not symbolic.called_with
