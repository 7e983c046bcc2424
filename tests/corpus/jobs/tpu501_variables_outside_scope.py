# corpus: must-fail: TPU501@13/14/15
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: plain tf.Variables made outside the scope: each replica's update overwrites the others'.
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
BATCH = 128 * strategy.num_replicas_in_sync

w1 = tf.Variable(tf.random.normal((16, 128)) * 0.1)
b1 = tf.Variable(tf.zeros((128,)))
w2 = tf.Variable(tf.random.normal((128, 2)) * 0.1)
variables = [w1, b1, w2]


def model(x):
    hidden = tf.nn.relu(tf.matmul(tf.cast(x, tf.bfloat16), tf.cast(w1, tf.bfloat16)) + tf.cast(b1, tf.bfloat16))
    return tf.cast(tf.matmul(hidden, tf.cast(w2, tf.bfloat16)), tf.float32)


@tf.function
def train_step(iterator):
    def fn(x, y):
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, model(x))
            loss = tf.nn.compute_average_loss(losses, global_batch_size=BATCH)
        for variable, grad in zip(variables, tape.gradient(loss, variables)):
            grad = tf.distribute.get_replica_context().all_reduce("sum", grad)
            variable.assign_sub(0.1 * grad)
        return loss

    losses = strategy.run(fn, args=next(iterator))
    return strategy.reduce("SUM", losses, axis=None)


x = tf.random.normal((4096, 16))
y = tf.cast(x[:, 0] > 0, tf.int32)
ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(4096).repeat()
ds = ds.batch(BATCH, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
iterator = iter(strategy.experimental_distribute_dataset(ds))
checkpoint = tf.train.Checkpoint(w1=w1, b1=b1, w2=w2)
for i in range(100):
    loss = train_step(iterator)
    if i % 20 == 0:
        checkpoint.save("vars/ckpt")
        print(i, float(loss))
