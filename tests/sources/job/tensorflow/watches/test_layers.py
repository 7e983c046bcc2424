"""Which line is behind the policies of a job's layers."""

from functools import partial
from types import SimpleNamespace
from typing import Any, cast

from tpudiag.sources.job.tensorflow.watches.layers import LayerWatch


class Layer:
    def __init__(self, policy: str, name: str = "layer") -> None:
        self.name = name
        self.dtype_policy = SimpleNamespace(name=policy)


class InputLayer(Layer):
    pass


def test_the_line_of_an_operation_is_that_of_the_innermost_layer_by_its_whole_name() -> None:
    names = ("conv1/conv", "conv2_block1/1/conv", "head")
    made = type("Conv2D", (Layer,), {"__init__": Layer.__init__, "__module__": "keras.layers"})
    watch = LayerWatch()
    watch.watch(cast("Any", SimpleNamespace(Model=int, layers=SimpleNamespace(Layer=made))))
    lines = [made("float32", name) and watch.line_of(f"model/{name}/Conv2D") for name in names]
    assert all(lines) and watch.line_of("model/conv/Conv2D") is None
    made("float32", "head")
    assert watch.line_of("model/head/Conv2D") is None, "of two models, which is not known"


def test_an_input_has_no_policy_that_tells() -> None:
    layers = SimpleNamespace(Layer=Layer)
    keras: Any = SimpleNamespace(Model=type("Model", (), {}), layers=layers)
    watch = LayerWatch()
    watch.watch(keras)
    InputLayer("int32")
    assert watch.policies == {}
    Layer("mixed_bfloat16")
    assert list(watch.policies) == ["mixed_bfloat16"]


def test_of_two_packages_each_layer_is_under_the_policy_of_its_own() -> None:
    watch = LayerWatch()
    made: list[Any] = []
    for name in ("mixed_bfloat16", "float32"):
        config = SimpleNamespace(dtype_policy=partial(SimpleNamespace, name=name))
        layers = SimpleNamespace(Layer=type("Layer", (Layer,), {"__init__": Layer.__init__}))
        keras = SimpleNamespace(Model=type("Model", (), {}), layers=layers, config=config)
        watch.watch(cast("Any", keras))
        made.append(layers.Layer)
    made[0]("mixed_bfloat16")
    assert (watch.global_policy, watch.made_before) == ("mixed_bfloat16", None)


def test_a_policy_that_is_made_and_neither_set_nor_given_is_unused() -> None:
    class Policy:
        def __init__(self, name: str) -> None:
            self.name = name

    def set_global_policy(_: Policy) -> None: ...

    mixed = SimpleNamespace(Policy=Policy, set_global_policy=set_global_policy)
    layers = SimpleNamespace(Layer=type("Layer", (Layer,), {}))
    keras: Any = SimpleNamespace(Model=type("Model", (), {}), layers=layers, mixed_precision=mixed)
    watch = LayerWatch()
    watch.watch(keras)
    Policy("float32")
    assert watch.unused_policy() is None
    policy = Policy("mixed_bfloat16")
    layers.Layer("float32")
    line = watch.unused_policy()
    assert line is not None and line.file.endswith("test_layers.py")
    within: dict[str, Any] = {"__name__": "keras.src.dtype_policies", "set": set_global_policy}
    exec(compile("def default(policy): set(policy)", "dtype_policy.py", "exec"), within)
    within["default"](SimpleNamespace(name="float32"))  # at the first layer, by Keras itself
    assert watch.policy_line() is None
    set_global_policy(policy)  # as tf.keras has it, which is another module
    assert watch.unused_policy() is None and watch.policy_line() is not None


def test_a_layer_of_its_own_float32_is_kept_with_its_line_and_dtype() -> None:
    layers = SimpleNamespace(Layer=type("Layer", (Layer,), {}))
    policy = SimpleNamespace(name="mixed_bfloat16")
    config = SimpleNamespace(dtype_policy=lambda: policy)
    keras: Any = SimpleNamespace(Model=type("Model", (), {}), layers=layers, config=config)
    watch = LayerWatch()
    watch.watch(keras)
    layers.Layer("mixed_bfloat16")
    assert watch.made_before is None
    dtype = "float32"
    layers.Layer(dtype)  # dtype=self.dtype
    policy.name = "float32"
    layers.Layer("float32")
    assert watch.made_before is not None, "under a policy of float32: a later one comes too late"
    (wide,) = watch.wide
    assert (wide.name, wide.dtype_given) == ("layer", "self.dtype")
    assert wide.location.file.endswith("test_layers.py")
