# corpus: must-fail: TPU502@33/34
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: tf.reduce_mean over the replica's own batch, while gradients are summed over 8 replicas.
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
batch_size = 128 * strategy.num_replicas_in_sync

with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Input((40,)),
            tf.keras.layers.Dense(128, activation="relu"),
            tf.keras.layers.Dense(5, dtype="float32"),
        ]
    )
    optimizer = tf.keras.optimizers.legacy.SGD(0.05, momentum=0.9)


def train_step(inputs):
    features, labels = inputs
    with tf.GradientTape() as tape:
        logits = model(features, training=True)
        per_example = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        loss = tf.reduce_mean(per_example)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


@tf.function
def distributed_train_step(inputs):
    losses = strategy.run(train_step, args=(inputs,))
    return strategy.reduce(tf.distribute.ReduceOp.MEAN, losses, axis=None)


x = tf.random.normal((24576, 40))
y = tf.random.uniform((24576,), maxval=5, dtype=tf.int32)
ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(24576)
ds = ds.batch(batch_size, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
dist_ds = strategy.experimental_distribute_dataset(ds)
manager = tf.train.CheckpointManager(
    tf.train.Checkpoint(model=model, optimizer=optimizer), "mean_ckpt", max_to_keep=1
)
for epoch in range(10):
    for inputs in dist_ds:
        loss = distributed_train_step(inputs)
    manager.save()
    print(epoch, float(loss))
