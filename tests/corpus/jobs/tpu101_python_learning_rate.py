# corpus: must-fail: TPU101@50
# corpus: may-fail: TPU605
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: a learning rate computed in Python is an argument of the tf.function; it changes every few steps.
import math
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import tensorflow as tf
from tensorflow import keras

cluster = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(cluster)
tf.tpu.experimental.initialize_tpu_system(cluster)
strategy = tf.distribute.TPUStrategy(cluster)
keras.mixed_precision.set_global_policy("mixed_bfloat16")

BATCH = 128 * strategy.num_replicas_in_sync

with strategy.scope():
    model = keras.Sequential([keras.layers.Input((24,)), keras.layers.Dense(4)])
    optimizer = keras.optimizers.legacy.SGD(1.0)


def cosine(step, total=120):
    return 0.1 * 0.5 * (1 + math.cos(math.pi * (step // 3) * 3 / total))


class Loop:
    def __init__(self):
        self.checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
        self.manager = tf.train.CheckpointManager(self.checkpoint, "lr_ckpt", max_to_keep=1)

    @tf.function
    def step(self, iterator, lr):
        def fn(features, labels):
            with tf.GradientTape() as tape:
                logits = tf.cast(model(features, training=True), tf.float32)
                ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
                loss = tf.nn.compute_average_loss(ce, global_batch_size=BATCH)
            variables = model.trainable_variables
            grads = [lr * grad for grad in tape.gradient(loss, variables)]
            optimizer.apply_gradients(zip(grads, variables))

        strategy.run(fn, args=next(iterator))

    def run(self, iterator):
        for step in range(120):
            self.step(iterator, cosine(step))
            if step % 40 == 0:
                self.manager.save()


source = tf.data.Dataset.from_tensor_slices(
    (tf.random.normal((3000, 24)), tf.random.uniform((3000,), maxval=4, dtype=tf.int32))
)
source = source.shuffle(3000).repeat().batch(BATCH, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
Loop().run(iter(strategy.experimental_distribute_dataset(source)))
