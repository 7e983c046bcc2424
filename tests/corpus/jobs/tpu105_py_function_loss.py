# corpus: must-fail: TPU105@38
# corpus: may-fail: TPU103 TPU605
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: class weights are looked up in a Python dict by tf.py_function inside the replicated step.
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
BATCH = 128 * strategy.num_replicas_in_sync
WEIGHTS = {0: 1.0, 1: 2.0, 2: 0.5}


def lookup(labels):
    return tf.constant([WEIGHTS[int(label)] for label in labels.numpy()], dtype=tf.float32)


with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Input((12,)),
            tf.keras.layers.Dense(128, activation="relu"),
            tf.keras.layers.Dense(3, dtype="float32"),
        ]
    )
    optimizer = tf.keras.optimizers.legacy.Adam(1e-3)


def compute_loss(x, y):
    logits = model(x, training=True)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits)
    weights = tf.py_function(lookup, [y], tf.float32)
    weights.set_shape(y.shape)
    return tf.nn.compute_average_loss(losses, sample_weight=weights, global_batch_size=BATCH)


def step_fn(x, y):
    with tf.GradientTape() as tape:
        loss = compute_loss(x, y)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


@tf.function
def train_step(iterator):
    losses = strategy.run(step_fn, args=next(iterator))
    return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)


x = tf.random.normal((2048, 12))
y = tf.random.uniform((2048,), maxval=3, dtype=tf.int32)
ds = tf.data.Dataset.from_tensor_slices((x, y)).repeat()
ds = ds.batch(BATCH, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
iterator = iter(strategy.experimental_distribute_dataset(ds))
manager = tf.train.CheckpointManager(tf.train.Checkpoint(model=model, optimizer=optimizer), "weights_ckpt", max_to_keep=1)
for step in range(80):
    loss = train_step(iterator)
    if step % 20 == 0:
        manager.save()
        print(step, float(loss))
