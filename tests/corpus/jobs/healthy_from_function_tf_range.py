# corpus: must-fail: none
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: distribute_datasets_from_function with the context's per-replica batch, many steps in one tf.function.
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import tensorflow as tf

tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")


def connect():
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    return tf.distribute.experimental.TPUStrategy(resolver)


strategy = connect()
BATCH = 128 * strategy.num_replicas_in_sync
STEPS_PER_LOOP = 5


def dataset_fn(context):
    batch = context.get_per_replica_batch_size(BATCH)
    ds = tf.data.Dataset.range(10_000)
    ds = ds.shard(context.num_input_pipelines, context.input_pipeline_id)
    ds = ds.shuffle(10_000).repeat()
    ds = ds.map(
        lambda i: (tf.random.stateless_uniform((32,), seed=[i, 0]), tf.cast(i % 4, tf.int32)),
        num_parallel_calls=tf.data.AUTOTUNE,
    )
    return ds.batch(batch, drop_remainder=True).prefetch(tf.data.AUTOTUNE)


iterator = iter(strategy.distribute_datasets_from_function(dataset_fn))

with strategy.scope():
    net = tf.keras.Sequential(
        [
            tf.keras.layers.InputLayer((32,)),
            tf.keras.layers.Dense(256, "relu"),
            tf.keras.layers.Dense(256, "relu"),
            tf.keras.layers.Dense(4, dtype=tf.float32),
        ]
    )
    opt = tf.keras.optimizers.Adam(1e-3)
    xent = tf.keras.losses.SparseCategoricalCrossentropy(
        from_logits=True, reduction=tf.keras.losses.Reduction.SUM
    )
    mean_loss = tf.keras.metrics.Mean()


@tf.function
def train_loop(iterator, steps):
    def replica_step(x, y):
        with tf.GradientTape() as tape:
            logits = net(x, training=True)
            loss = xent(y, logits) / BATCH
        opt.minimize(loss, net.trainable_variables, tape=tape)
        mean_loss.update_state(loss)

    for _ in tf.range(steps):
        x, y = next(iterator)
        strategy.run(replica_step, args=(x, y))


ckpt = tf.train.Checkpoint(net=net, opt=opt)
manager = tf.train.CheckpointManager(ckpt, "loops", max_to_keep=1)
for loop in range(40):
    train_loop(iterator, tf.constant(STEPS_PER_LOOP))
    print(opt.iterations.numpy(), float(mean_loss.result()) * strategy.num_replicas_in_sync)
    mean_loss.reset_state()
    manager.save()
