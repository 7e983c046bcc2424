"""What healthy_argparse_helper.py and others share."""

import keras
import tensorflow as tf


def get_strategy(address="local"):
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu=address)
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    return tf.distribute.TPUStrategy(resolver)


def build_mlp(features, width, classes):
    inputs = keras.Input((features,))
    x = keras.layers.Dense(width, activation="relu")(inputs)
    x = keras.layers.Dense(width, activation="relu")(x)
    return keras.Model(inputs, keras.layers.Dense(classes, dtype="float32")(x))
