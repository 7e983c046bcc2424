"""Which variables a step trains."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from tpudiag.sources.job.tensorflow.watches.variables import VariableWatch


class TensorFlow:
    """What the watch asks of TensorFlow; makes variables through its scope."""

    distribute = SimpleNamespace(has_strategy=lambda: False)

    def variable_creator_scope(self, creator: Callable[..., Any]) -> Any:
        self.creator = creator
        return self

    def __enter__(self) -> None: ...

    def variable(self, name: str) -> "Made":
        dtype = SimpleNamespace(name="float32", size=4, is_integer=False)
        dtype.base_dtype = dtype
        shape: Any = Shape((8,))
        made = Made(name=name, dtype=dtype, shape=shape, trainable=True)
        self.creator(lambda: made)
        return made


class Made(SimpleNamespace):
    """A variable; may be referred to weakly."""


class Shape(tuple[int, ...]):
    """A shape as TensorFlow's."""

    def num_elements(self) -> int:
        return 8


def test_a_model_for_serving_is_not_trained() -> None:
    tf: Any = TensorFlow()
    watch = VariableWatch(tf)
    tf.variable("dense/kernel:0")
    tf.variable("dense_1/kernel:0")
    assert [each.trained for each in watch.facts()] == [None, None]
    watch.trains([SimpleNamespace(name="dense/kernel/replica_1:0")])
    assert [each.trained for each in watch.facts()] == [True, False]
    tf.variable("dense/kernel:0")
    assert [each.trained for each in watch.facts()] == [False, False, True], "built once more"
    watch.closed = True
    tf.variable("dense_2/kernel:0")
    assert len(watch.facts()) == 3


def test_of_two_models_with_the_same_names_the_one_that_is_trained_is_told() -> None:
    tf: Any = TensorFlow()
    watch = VariableWatch(tf)
    kernel, other = tf.variable("stem_conv/kernel:0"), tf.variable("stem_conv/kernel:0")
    mirrored = SimpleNamespace(name="stem_conv/kernel:0", values=(kernel,))
    watch.trains([mirrored])
    assert [each.trained for each in watch.facts()] == [True, False]
    watch.trains([SimpleNamespace(name="stem_conv/kernel:0", _value=other)])
    assert [each.trained for each in watch.facts()] == [True, True]
