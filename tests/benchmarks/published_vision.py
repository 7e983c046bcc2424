"""Published steps of convolutional networks other than ResNet-50, rebuilt in JAX.

Each is a function of one device's batch, as in published_steps.py. Weights are asked for in the
order of use, so that a network says its shapes once.
"""

# mypy: ignore-errors
# pyright: basic
from collections.abc import Callable
from math import ceil
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tests.benchmarks.published_steps import (
    BF16,
    F32,
    I32,
    Shape,
    batch_norm,
    convolution,
    cross_entropy,
    momentum,
)


class Weights:
    """The weights of a network in the order of use: collected at first, given afterwards."""

    def __init__(self, given: list[Any] | None = None) -> None:
        self.given, self.shapes, self.seen = given, [], []

    def __call__(self, *shape: int) -> Any:
        self.shapes.append(Shape(shape, F32))
        return jnp.zeros(shape, F32) if self.given is None else self.given[len(self.shapes) - 1]

    def conv(self, x: Any, out: int, kernel: int, stride: int = 1) -> Any:
        return convolution(x, self(kernel, kernel, x.shape[-1], out), stride)

    def bn(self, x: Any) -> Any:
        width = x.shape[-1]
        x, seen = batch_norm(x, {"scale": self(width), "bias": self(width)})
        self.seen.append(seen)
        return x

    def depthwise(self, x: Any, kernel: int, stride: int) -> Any:
        taps = self(kernel, kernel, 1, x.shape[-1]).astype(x.dtype)
        return lax.conv_general_dilated(
            x, taps, (stride, stride), "SAME", feature_group_count=x.shape[-1],
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
        )  # fmt: skip

    def squeezed(self, x: Any, inner: int, act: Callable[[Any], Any]) -> Any:
        """Squeeze and excitation."""
        means = jnp.mean(x, (1, 2), keepdims=True, dtype=F32).astype(x.dtype)
        made = act(self.conv(means, inner, 1) + self(inner).astype(x.dtype))
        gates = self.conv(made, x.shape[-1], 1) + self(x.shape[-1]).astype(x.dtype)
        return x * jax.nn.sigmoid(gates)

    def classes(self, x: Any) -> Any:
        x = jnp.mean(x, (1, 2)).astype(BF16)
        return (x @ self(x.shape[-1], 1000).astype(BF16)).astype(F32) + self(1000)


def _trained(network: Callable[[Weights, Any], Any], loss: Callable[..., Any], given: Any) -> Any:
    """Momentum, L2 of all weights and a moving average of them, as these networks are trained."""
    first = Weights()
    jax.eval_shape(lambda x: network(first, x), given[0])

    def total(parameters: list[Any], given: Any) -> Any:
        weights = Weights(parameters)
        value = loss(network(weights, given[0].astype(BF16)), *given[1:])
        return value + 4e-5 * sum(jnp.sum(w * w) for w in parameters), weights.seen

    def step(state: Any, given: Any) -> Any:
        p, moment, mean = state
        (value, seen), gradients = jax.value_and_grad(total, has_aux=True)(p, given)
        p, moment = momentum(p, moment, lax.psum(gradients, "d"))
        mean = jax.tree.map(lambda m, now: 0.9999 * m + 0.0001 * now, mean, p)
        return (p, moment, mean), value, seen

    return step, (first.shapes, first.shapes, first.shapes), given


def _images(batch: int, size: int) -> tuple[Any, Any]:
    return Shape((batch, size, size, 3), BF16), Shape((batch,), I32)


def _resnet_rs(depths: tuple[int, ...], w: Weights, x: Any) -> Any:
    relu = jax.nn.relu
    for out, stride in ((32, 2), (32, 1), (64, 1), (64, 2)):
        x = relu(w.bn(w.conv(x, out, 3, stride)))
    for stage, depth in enumerate(depths):
        width = 64 * 2**stage
        for block in range(depth):
            stride = 2 if stage and not block else 1
            short = x
            if stride == 2:
                short = lax.reduce_window(
                    x, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "SAME"
                ) * jnp.asarray(0.25, x.dtype)
            if not block:
                short = w.bn(w.conv(short, 4 * width, 1))
            inner = relu(w.bn(w.conv(x, width, 1)))
            inner = relu(w.bn(w.conv(inner, width, 3, stride)))
            inner = w.squeezed(w.bn(w.conv(inner, 4 * width, 1)), width, relu)
            x = relu(inner + short)
    return w.classes(x)


def resnet_rs50(batch: int) -> Any:
    """ResNet-RS-50 at 160 x 160."""
    return _trained(lambda w, x: _resnet_rs((3, 4, 6, 3), w, x), cross_entropy, _images(batch, 160))


BLOCKS = (  # repeats, kernel, stride, expansion, channels
    (1, 3, 1, 1, 16), (2, 3, 2, 6, 24), (2, 5, 2, 6, 40), (3, 3, 2, 6, 80), (3, 5, 1, 6, 112),
    (4, 5, 2, 6, 192), (1, 3, 1, 6, 320),
)  # fmt: skip


def _efficientnet(wider: float, deeper: float, w: Weights, x: Any) -> Any:
    def rounded(channels: float) -> int:
        near = max(8, int(channels + 4) // 8 * 8)
        return near + 8 if near < 0.9 * channels else near

    act = jax.nn.silu
    x = act(w.bn(w.conv(x, rounded(32 * wider), 3, 2)))
    for repeats, kernel, stage_stride, expansion, channels in BLOCKS:
        out = rounded(channels * wider)
        for block in range(ceil(repeats * deeper)):
            stride, came = (1 if block else stage_stride), x
            wide = x.shape[-1] * expansion
            x = act(w.bn(w.conv(x, wide, 1))) if expansion > 1 else x
            x = act(w.bn(w.depthwise(x, kernel, stride)))
            x = w.bn(w.conv(w.squeezed(x, max(1, came.shape[-1] // 4), act), out, 1))
            if stride == 1 and came.shape[-1] == out:
                x = x + came
    return w.classes(act(w.bn(w.conv(x, rounded(1280 * wider), 1))))


def efficientnet_b4(batch: int) -> Any:
    """EfficientNet-B4 at 380 x 380."""
    return _trained(lambda w, x: _efficientnet(1.4, 1.8, w, x), cross_entropy, _images(batch, 380))
