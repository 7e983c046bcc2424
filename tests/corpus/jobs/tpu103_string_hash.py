# corpus: must-fail: TPU103@38
# corpus: may-fail: TPU102 TPU605
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: strings are hashed inside the replicated step; a TPU has no string ops.
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")

BATCH = 128 * strategy.num_replicas_in_sync
cities = tf.constant([f"city-{i % 50}" for i in range(2048)])
clicked = tf.cast(tf.range(2048) % 2, tf.float32)
ds = tf.data.Dataset.from_tensor_slices((cities, clicked)).shuffle(2048).repeat()
ds = ds.batch(BATCH, drop_remainder=True).prefetch(tf.data.AUTOTUNE)

with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Embedding(1000, 128, input_length=1),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(128, activation="relu"),
            tf.keras.layers.Dense(1, dtype="float32"),
        ]
    )
    model.build((None, 1))
    optimizer = tf.keras.optimizers.legacy.Adagrad(0.01)
checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)


def step_fn(city, label):
    bucket = tf.strings.to_hash_bucket_fast(city, 1000)
    with tf.GradientTape() as tape:
        logits = tf.squeeze(model(bucket[:, tf.newaxis], training=True), axis=-1)
        losses = tf.nn.sigmoid_cross_entropy_with_logits(label, logits)
        loss = tf.nn.compute_average_loss(losses, global_batch_size=BATCH)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))


@tf.function
def train(iterator):
    strategy.run(step_fn, args=next(iterator))


iterator = iter(strategy.experimental_distribute_dataset(ds))
for step in range(100):
    train(iterator)
    if step % 50 == 0:
        checkpoint.save("ads/ckpt")
