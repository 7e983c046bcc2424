"""A small custom loop on the TPU, as scripts of TensorFlow have it: what several tests run."""

STRATEGY = """\
strategy = tf.distribute.TPUStrategy(tf.distribute.cluster_resolver.TPUClusterResolver("local"))
"""
VARIABLE = """\
with strategy.scope():
    weight = tf.Variable(1.0)
"""
TRAINING = """\
data = tf.data.Dataset.range(64).map(lambda x: tf.cast(x, tf.float32)).batch(8)

def replica_step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(weight * x) / 8
    weight.assign_sub(0.01 * tape.gradient(loss, weight))

@tf.function
def step(x):
    strategy.run(replica_step, (x,))

for batch in strategy.experimental_distribute_dataset(data.repeat(8)):
    step(batch)
"""
LOOP = """

@tf.function
def train(batch):
    strategy.run(step, args=(batch,))


for batch in strategy.experimental_distribute_dataset(data):
    train(batch)
"""
"""Of a script that has made `step` and `data`."""
SCRIPT = f"import tensorflow as tf\n\n{STRATEGY}{VARIABLE}{TRAINING}"
