"""The four models, with random weights; their layers are the same in Keras 3 and tf-keras."""

from collections.abc import Callable
from typing import Any

from tpudiag.reference.data import DataSpec


def mlp(keras: Any, _full_size: bool) -> tuple[Any, DataSpec]:
    """784-128-10."""
    # Logits in float32 under any policy: in bfloat16 the loss would lose most of its digits.
    model = keras.Sequential(
        [
            keras.layers.Input((784,)),
            keras.layers.Dense(128, activation="relu"),
            keras.layers.Dense(10, dtype="float32"),
        ]
    )
    return model, DataSpec((784,), 10)


def resnet50(keras: Any, full_size: bool) -> tuple[Any, DataSpec]:
    """ResNet50 of keras.applications: 224 x 224 and 1,000 classes, or 32 x 32 and 10."""
    size, classes = (224, 1000) if full_size else (32, 10)
    model = keras.applications.ResNet50(
        weights=None, input_shape=(size, size, 3), classes=classes, classifier_activation=None
    )
    return model, DataSpec((size, size, 3), classes, examples=1024)


def bert(keras: Any, full_size: bool) -> tuple[Any, DataSpec]:
    """A BERT encoder with a classifier: 12 layers of 768 on 128 tokens, or 2 of 128 on 32."""
    layers, width, heads, length, vocabulary = (
        (12, 768, 12, 128, 30522) if full_size else (2, 128, 2, 32, 1024)
    )
    tokens = keras.layers.Input((length,), dtype="int32")
    x = keras.layers.Embedding(vocabulary, width)(tokens)
    x = _positions(keras)(x)
    x = keras.layers.LayerNormalization()(x)
    for _ in range(layers):
        x = _encoder(keras, x, width, heads, norm_first=False)
    logits = keras.layers.Dense(2, dtype="float32")(keras.layers.GlobalAveragePooling1D()(x))
    return keras.Model(tokens, logits), DataSpec((length,), 2, vocabulary)


def vit(keras: Any, full_size: bool) -> tuple[Any, DataSpec]:
    """A vision transformer: ViT-B/16 on 224 x 224, or 2 layers of 128 on 32 x 32."""
    size, patch, layers, width, heads, classes = (
        (224, 16, 12, 768, 12, 1000) if full_size else (32, 8, 2, 128, 2, 10)
    )
    image = keras.layers.Input((size, size, 3))
    x = keras.layers.Conv2D(width, patch, strides=patch)(image)
    x = keras.layers.Reshape(((size // patch) ** 2, width))(x)
    x = _positions(keras)(x)
    for _ in range(layers):
        x = _encoder(keras, x, width, heads, norm_first=True)
    x = keras.layers.GlobalAveragePooling1D()(keras.layers.LayerNormalization()(x))
    logits = keras.layers.Dense(classes, dtype="float32")(x)
    return keras.Model(image, logits), DataSpec((size, size, 3), classes, examples=2048)


BUILDERS: dict[str, Callable[[Any, bool], tuple[Any, DataSpec]]] = {
    "mlp": mlp,
    "resnet50": resnet50,
    "bert": bert,
    "vit": vit,
}


def _encoder(keras: Any, x: Any, width: int, heads: int, norm_first: bool) -> Any:
    """One transformer encoder block on [batch, length, width]."""
    attention = keras.layers.MultiHeadAttention(heads, width // heads)
    first, second = keras.layers.LayerNormalization(), keras.layers.LayerNormalization()

    def feed_forward(y: Any) -> Any:
        y = keras.layers.Dense(4 * width, activation="gelu")(y)
        return keras.layers.Dense(width)(y)

    add = keras.layers.add
    if norm_first:
        normed = first(x)
        x = add([x, attention(normed, normed)])
        return add([x, feed_forward(second(x))])
    x = first(add([x, attention(x, x)]))
    return second(add([x, feed_forward(x)]))


def _positions(keras: Any) -> Any:
    """A layer that adds a learned vector to each position of [batch, length, width]."""

    # Made here: its base is the Layer of the Keras that trains, which is known only now.
    layer: Any = keras.layers.Layer

    class Positions(layer):  # type: ignore[misc]
        def build(self, input_shape: Any) -> None:
            self.table = self.add_weight(
                name="positions",
                shape=(input_shape[1], input_shape[2]),
                initializer="random_normal",
            )
            layer.build(self, input_shape)

        def call(self, x: Any) -> Any:
            return x + self.table

    return Positions()
