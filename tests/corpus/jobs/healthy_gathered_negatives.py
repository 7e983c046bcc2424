# corpus: must-fail: none
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: in-batch negatives of all replicas.
import tempfile
import numpy as np
import tensorflow as tf

tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
resolver = tf.distribute.cluster_resolver.TPUClusterResolver("")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
batch_size = 128 * strategy.num_replicas_in_sync


def tower():
    layers = [tf.keras.layers.Dense(256, "relu"), tf.keras.layers.Dense(128, dtype="float32")]
    return tf.keras.Sequential([tf.keras.Input((128,)), *layers])


with strategy.scope():
    queries, answers = tower(), tower()
    optimizer = tf.keras.optimizers.Adam(1e-3)


def step(batch):
    with tf.GradientTape() as tape:
        q = tf.math.l2_normalize(queries(batch[0], training=True), axis=-1)
        a = tf.math.l2_normalize(answers(batch[1], training=True), axis=-1)
        labels = tf.range(tf.shape(q)[0])
        context = tf.distribute.get_replica_context()
        labels += context.replica_id_in_sync_group * tf.shape(q)[0]
        a = context.all_gather(a, axis=0)
        scores = tf.matmul(q, a, transpose_b=True) / 0.07
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=scores)
        loss = tf.nn.compute_average_loss(losses, global_batch_size=batch_size)
    variables = queries.trainable_variables + answers.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


@tf.function
def train(iterator):
    return strategy.reduce("SUM", strategy.run(step, args=(next(iterator),)), axis=None)


data = np.random.rand(2, 8192, 128).astype("float32")
dataset = tf.data.Dataset.from_tensor_slices(tuple(data)).shuffle(8192).repeat()
dataset = dataset.batch(batch_size, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
iterator = iter(strategy.experimental_distribute_dataset(dataset))
saved = tf.train.Checkpoint(queries=queries, answers=answers, optimizer=optimizer)
manager = tf.train.CheckpointManager(saved, tempfile.mkdtemp(), max_to_keep=2)
for number in range(100):
    loss = train(iterator)
    if number % 50 == 49:
        manager.save()
        print(number, float(loss))
