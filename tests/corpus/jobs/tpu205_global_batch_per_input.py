# corpus: must-fail: TPU205@24
# corpus: may-fail: TPU502
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: distribute_datasets_from_function wants the per-replica batch; the global one is given to every replica.
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
GLOBAL_BATCH_SIZE = 128 * strategy.num_replicas_in_sync


def dataset_fn(ctx):
    x = tf.random.normal((4096, 16))
    y = tf.random.uniform((4096,), maxval=2, dtype=tf.int32)
    ds = tf.data.Dataset.from_tensor_slices((x, y)).shard(ctx.num_input_pipelines, ctx.input_pipeline_id)
    ds = ds.shuffle(4096).repeat()
    ds = ds.batch(GLOBAL_BATCH_SIZE, drop_remainder=True)
    return ds.prefetch(tf.data.AUTOTUNE)


dist = strategy.distribute_datasets_from_function(dataset_fn)

with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Dense(128, activation="relu", input_shape=(16,)),
            tf.keras.layers.Dense(2, dtype="float32"),
        ]
    )
    optimizer = tf.keras.optimizers.legacy.Adam()


@tf.function
def step(x, y):
    def fn(x, y):
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, model(x, training=True))
            loss = tf.nn.compute_average_loss(losses, global_batch_size=GLOBAL_BATCH_SIZE)
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))

    strategy.run(fn, args=(x, y))


manager = tf.train.CheckpointManager(tf.train.Checkpoint(model=model, optimizer=optimizer), "per_input", max_to_keep=1)
for number, (x, y) in zip(range(60), dist):
    step(x, y)
    if number % 30 == 0:
        manager.save()
