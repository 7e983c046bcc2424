# corpus: must-fail: none
# corpus: must-not-fail: *
# corpus: for: v4-8
# corpus: why: no Keras at all: a tf.Module in bfloat16 by hand, SGD written out, gradients summed by all_reduce.
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)

BATCH = 128 * strategy.num_replicas_in_sync
LEARNING_RATE = 0.05


class Dense(tf.Module):
    def __init__(self, n_in, n_out, name=None):
        super().__init__(name=name)
        init = tf.random.stateless_normal((n_in, n_out), seed=(n_in, n_out)) / n_in**0.5
        self.w = tf.Variable(init, name="w", aggregation=tf.VariableAggregation.MEAN)
        self.b = tf.Variable(tf.zeros((n_out,)), name="b", aggregation=tf.VariableAggregation.MEAN)

    def __call__(self, x):
        y = tf.matmul(tf.cast(x, tf.bfloat16), tf.cast(self.w, tf.bfloat16))
        return y + tf.cast(self.b, tf.bfloat16)


class Network(tf.Module):
    def __init__(self):
        super().__init__()
        self.one = Dense(40, 128)
        self.two = Dense(128, 128)
        self.three = Dense(128, 6)

    def __call__(self, x):
        x = tf.nn.relu(self.one(x))
        x = tf.nn.relu(self.two(x))
        return tf.cast(self.three(x), tf.float32)


with strategy.scope():
    network = Network()


def replica_fn(x, y):
    with tf.GradientTape() as tape:
        logits = network(x)
        per_example = tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=logits)
        loss = tf.reduce_sum(per_example) / BATCH
    grads = tape.gradient(loss, network.trainable_variables)
    context = tf.distribute.get_replica_context()
    grads = context.all_reduce(tf.distribute.ReduceOp.SUM, grads)
    for variable, grad in zip(network.trainable_variables, grads):
        variable.assign_sub(LEARNING_RATE * grad)
    return loss


@tf.function
def train(iterator):
    x, y = next(iterator)
    per_replica = strategy.run(replica_fn, args=(x, y))
    return strategy.reduce(tf.distribute.ReduceOp.SUM, per_replica, axis=None)


features = tf.random.normal((4096, 40))
labels = tf.one_hot(tf.argmax(features[:, :6], axis=1), 6)
data = tf.data.Dataset.from_tensor_slices((features, labels))
data = data.shuffle(4096).repeat().batch(BATCH, drop_remainder=True).prefetch(4)
iterator = iter(strategy.experimental_distribute_dataset(data))

ckpt = tf.train.Checkpoint(network=network)
for i in range(200):
    loss = train(iterator)
    if i % 20 == 0:
        print(i, loss.numpy())
        ckpt.save("plain/ckpt")
