# corpus: must-fail: TPU202@22
# corpus: may-fail: TPU201
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: prefetch with a fixed buffer of one batch, in a custom loop.
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
batch = 128 * strategy.num_replicas_in_sync

ds = tf.data.Dataset.from_tensor_slices(
    {"x": tf.random.normal((4096, 22)), "y": tf.random.uniform((4096,), maxval=5, dtype=tf.int32)}
)
ds = ds.shuffle(1024).repeat().batch(batch, drop_remainder=True)
ds = ds.prefetch(1)
dist_ds = strategy.experimental_distribute_dataset(ds)

with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Dense(128, activation="relu", input_shape=(22,)),
            tf.keras.layers.Dense(5, dtype="float32"),
        ]
    )
    optimizer = tf.keras.optimizers.SGD(0.05)
    optimizer.build(model.trainable_variables)


@tf.function
def step(features):
    def fn(features):
        with tf.GradientTape() as tape:
            logits = model(features["x"], training=True)
            loss = tf.nn.compute_average_loss(
                tf.nn.sparse_softmax_cross_entropy_with_logits(features["y"], logits), global_batch_size=batch
            )
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))

    strategy.run(fn, args=(features,))


manager = tf.train.CheckpointManager(tf.train.Checkpoint(m=model, o=optimizer), "ck", max_to_keep=2)
for i, features in enumerate(dist_ds):
    step(features)
    if i % 50 == 0:
        manager.save()
    if i == 150:
        break
