"""A published detector, rebuilt in JAX: SSD with a ResNet-34 at 300 x 300, as MLPerf trained it.

A function of one device's batch, as in published_steps.py. The weights are asked for in the order
of use, as in published_vision.py.
"""

# mypy: ignore-errors
# pyright: basic
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tests.benchmarks.published_steps import BF16, F32, I32, Shape, momentum
from tests.benchmarks.published_vision import Weights

CLASSES = 81
LEVELS = ((38, 4), (19, 6), (10, 6), (5, 6), (3, 4), (1, 4))
"""Side of the map, and boxes at each place of it."""
EXTRA = ((256, 512, 2), (256, 512, 2), (128, 256, 2), (128, 256, 1), (128, 256, 1))
"""Channels of the 1 x 1 and of the 3 x 3 convolution of a level, and its stride."""
NEGATIVES = 3


def _backbone(w: Weights, x: Any) -> Any:
    relu = jax.nn.relu
    x = relu(w.bn(w.conv(x, 64, 7, 2)))
    x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
    for out, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 1)):
        for block in range(blocks):
            first = block == 0 and out != 64
            short = w.bn(w.conv(x, out, 1, stride)) if first else x
            inner = relu(w.bn(w.conv(x, out, 3, stride if first else 1)))
            x = relu(w.bn(w.conv(inner, out, 3)) + short)
    return x


def _biased(w: Weights, x: Any, out: int, kernel: int, stride: int = 1, pad: str = "SAME") -> Any:
    taps = w(kernel, kernel, x.shape[-1], out).astype(x.dtype)
    made = lax.conv_general_dilated(
        x, taps, (stride, stride), pad, dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    return made + w(out).astype(x.dtype)


def _network(w: Weights, x: Any) -> tuple[list[Any], list[Any]]:
    """Scores of the classes and offsets of the boxes, for each level."""
    maps = [_backbone(w, x)]
    for number, (inner, out, stride) in enumerate(EXTRA):
        x = jax.nn.relu(_biased(w, maps[-1], inner, 1))
        pad = "SAME" if number < 3 else "VALID"
        maps.append(jax.nn.relu(_biased(w, x, out, 3, stride, pad)))
    counted = list(zip(maps, LEVELS, strict=True))
    scores = [_biased(w, m, CLASSES * n, 3).astype(F32) for m, (_, n) in counted]
    return scores, [_biased(w, m, 4 * n, 3).astype(F32) for m, (_, n) in counted]


def _largest(values: Any, count: Any) -> Any:
    """A mask of the `count` largest of each row: a search bit by bit, as it was published."""

    def larger(limit: Any) -> Any:
        limit = lax.bitcast_convert_type(limit, F32)
        return jnp.sum((values > limit).astype(I32), -1, keepdims=True)

    def body(number: Any, value: Any) -> Any:
        tried = value | (jnp.int32(1) << (30 - number))
        return jnp.where(larger(tried) >= count, tried, value)

    limit = lax.fori_loop(0, 31, body, jnp.zeros_like(count))
    return (values >= lax.bitcast_convert_type(limit, F32)).astype(F32)


def _mined(values: Any, count: Any) -> Any:
    """The mask without what is as large as its smallest, and too many."""
    mask = _largest(values, count)
    more = jnp.sum(mask, -1, keepdims=True).astype(I32) - count
    smallest = jnp.min(jnp.where(mask > 0, values, 2.0), -1, keepdims=True)
    places = jnp.where(values == smallest, jnp.arange(values.shape[-1], dtype=I32), 0)
    return jnp.where(_largest(places.astype(F32), more) > 0, 0.0, mask)


@jax.custom_vjp
def _cross_entropy(logits: Any, labels: Any) -> Any:
    return _forward(logits, labels)[0]


def _forward(logits: Any, labels: Any) -> Any:
    shifted = logits - jnp.max(logits, -1, keepdims=True)
    powers = jnp.exp(shifted)
    total = jnp.sum(powers, -1)
    chosen = jnp.sum(shifted * jax.nn.one_hot(labels, CLASSES), -1)
    return jnp.log(total) - chosen, (powers, total, labels)


def _backward(kept: Any, given: Any) -> Any:
    powers, total, labels = kept
    return (powers / total[..., None] - jax.nn.one_hot(labels, CLASSES)) * given[..., None], None


_cross_entropy.defvjp(_forward, _backward)


def _loss(scores: list[Any], offsets: list[Any], labels: Any, boxes: Any, matched: Any) -> Any:
    batch = matched.shape[0]
    entropy, of_boxes = [], 0.0
    for score, offset, label, box in zip(scores, offsets, labels, boxes, strict=True):
        each = score.reshape(*label.shape, CLASSES)
        entropy.append(_cross_entropy(each, label).reshape(batch, -1))
        error = jnp.abs(box - offset.reshape(box.shape))
        smooth = jnp.where(error < 1.0, 0.5 * error * error, error - 0.5)
        found = (label > 0).astype(F32)
        of_boxes += jnp.sum(jnp.sum(smooth, -1) * found, (1, 2, 3))
    entropy = jnp.concatenate(entropy, 1)
    found = jnp.concatenate([(each.reshape(batch, -1) > 0) for each in labels], 1).astype(F32)
    count = jnp.minimum(matched.astype(I32) * NEGATIVES, entropy.shape[1])[:, None]
    mined = lax.stop_gradient(_mined(entropy * (1 - found), count))
    of_classes = jnp.sum(entropy * (found + mined), 1)
    return jnp.mean((of_boxes + of_classes) / matched)


def ssd(batch: int) -> Any:
    """SSD-ResNet-34, hard negatives mined, momentum, L2 of all weights."""
    images = Shape((batch, 300, 300, 3), BF16)
    labels = tuple(Shape((batch, side, side, n), I32) for side, n in LEVELS)
    boxes = tuple(Shape((batch, side, side, n, 4), F32) for side, n in LEVELS)
    given = images, labels, boxes, Shape((batch,), F32)
    first = Weights()
    jax.eval_shape(lambda x: _network(first, x), images)

    def total(parameters: list[Any], given: Any) -> Any:
        weights = Weights(parameters)
        scores, offsets = _network(weights, given[0])
        decay = 5e-4 * sum(0.5 * jnp.sum(w * w) for w in parameters)
        return _loss(scores, offsets, *given[1:]) + decay, weights.seen

    def step(state: Any, given: Any) -> Any:
        p, moment = state
        (value, seen), gradients = jax.value_and_grad(total, has_aux=True)(p, given)
        return momentum(p, moment, lax.psum(gradients, "d")), value, seen

    return step, (first.shapes, first.shapes), given
