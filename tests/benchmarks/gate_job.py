"""A small training script, of which bench_gate.py makes worse ones by changing a line or two."""

# mypy: ignore-errors
# pyright: basic
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
WORDS, LENGTH = 4096, 32
BATCH = 64 * strategy.num_replicas_in_sync
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")


class Model(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.table = tf.keras.layers.Embedding(WORDS, 256)
        self.encode = tf.keras.layers.Dense(256, use_bias=False)
        self.normal = tf.keras.layers.BatchNormalization()
        self.mix = tf.keras.layers.Dense(512, activation="relu")
        self.decode = tf.keras.layers.Dense(WORDS)

    def call(self, ids, training=False):
        x = self.table(ids)
        x = self.encode(x)
        x = tf.nn.relu(self.normal(x, training=training))
        x = self.mix(x)
        return self.decode(x)


with strategy.scope():
    model = Model()
    model(tf.zeros((1, LENGTH), tf.int32))
    optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.9)
    optimizer.build(model.trainable_variables)


def taken(ids, labels):
    with tf.GradientTape() as tape:
        logits = tf.cast(model(ids, training=True), tf.float32)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
        loss = tf.nn.compute_average_loss(losses, global_batch_size=BATCH * LENGTH)
    return loss, tape.gradient(loss, model.trainable_variables), logits


def step(batch):
    ids, labels = batch
    loss, gradients, logits = taken(ids, labels)  # noqa: RUF059
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    return loss


@tf.function
def train(batch):
    return strategy.reduce("SUM", strategy.run(step, args=(batch,)), axis=None)


ids = tf.random.uniform((20 * BATCH + 7, LENGTH), maxval=WORDS, dtype=tf.int32)
data = tf.data.Dataset.from_tensor_slices((ids, ids))
data = data.batch(BATCH, drop_remainder=True).prefetch(2)
for batch in strategy.experimental_distribute_dataset(data):
    train(batch)
