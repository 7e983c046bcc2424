# corpus: must-fail: TPU502@37, TPU102@36
# corpus: may-fail: TPU201
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: two means with a weight, none divided by the replicas, one over a boolean mask.
import tempfile

import numpy as np
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver("")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
x = np.random.rand(4096, 40).astype("float32")
y = np.random.randint(0, 5, 4096)
train = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(4096).repeat()
train = train.batch(1024, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.Input((40,)),
            tf.keras.layers.Dense(128, "relu"),
            tf.keras.layers.Dense(5, dtype="float32"),
        ]
    )
    optimizer = tf.keras.optimizers.Adam()
    optimizer.build(model.trainable_variables)


def replica_step(a, b):
    with tf.GradientTape() as tape:
        logits = model(a, training=True)
        each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=b, logits=logits)
        kept = tf.boolean_mask(each, b > 0)
        loss = tf.reduce_mean(kept) + 0.1 * tf.reduce_mean(tf.square(logits))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))


@tf.function
def train_step(a, b):
    strategy.run(replica_step, args=(a, b))


checkpoint = tf.train.CheckpointManager(tf.train.Checkpoint(model=model, optimizer=optimizer), tempfile.mkdtemp(), 2)
for number, (a, b) in enumerate(strategy.experimental_distribute_dataset(train)):
    train_step(a, b)
    if number % 20 == 19:
        checkpoint.save()
    if number == 60:
        break
