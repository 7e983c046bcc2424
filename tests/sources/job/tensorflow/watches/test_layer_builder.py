"""Layers that are called in a replica before they are built."""

# pyright: reportPrivateUsage=false, reportUnknownLambdaType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
import contextlib
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from tpudiag.sources.job.tensorflow.watches.keras import LayerBuilder


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


def tensorflow(in_replica: bool) -> Any:
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
    builder = LayerBuilder(tensorflow(in_replica=True), keras)
    builder.before_call(layer, Tensor(4, 3), training=True)
    builder.before_call(layer, Tensor(4, 3), training=True)
    (((symbol,), named),) = layer.called_with
    assert (symbol.shape, symbol.dtype, named) == ((4, 3), "float32", {"training": True})


def test_elsewhere_layers_are_left_alone() -> None:
    keras: Any = SimpleNamespace(KerasTensor=Symbol)
    outside, symbolic = Layer(), Layer()
    LayerBuilder(tensorflow(in_replica=False), keras).before_call(outside, Tensor(4, 3))
    LayerBuilder(tensorflow(in_replica=True), keras).before_call(symbolic, Symbol((4,), "float32"))
    assert not outside.called_with and not symbolic.called_with
