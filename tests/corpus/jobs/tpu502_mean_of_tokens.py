# corpus: must-fail: TPU502@18/24/25
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: the mean over the replica's own tokens that are not padding.
import tempfile
import numpy as np, tensorflow as tf
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
r = tf.distribute.cluster_resolver.TPUClusterResolver("")
tf.config.experimental_connect_to_cluster(r); tf.tpu.experimental.initialize_tpu_system(r)
strategy = tf.distribute.TPUStrategy(r)
GB = 128 * strategy.num_replicas_in_sync
with strategy.scope():
    lm = tf.keras.Sequential([tf.keras.Input((15,), dtype="int32"), tf.keras.layers.Embedding(256, 128), tf.keras.layers.Dense(128, "relu"), tf.keras.layers.Dense(256, dtype="float32")])
    opt = tf.keras.optimizers.Adam()
def masked_loss(y, logits):
    ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
    mask = tf.cast(tf.not_equal(y, 0), ce.dtype)
    return tf.reduce_sum(ce * mask) / tf.reduce_sum(mask)
@tf.function
def step(it):
    def f(t):
        x, y = t[:, :-1], t[:, 1:]
        with tf.GradientTape() as tape:
            l = masked_loss(y, lm(x, training=True))
        opt.apply_gradients(zip(tape.gradient(l, lm.trainable_variables), lm.trainable_variables))
        return l
    return strategy.reduce(tf.distribute.ReduceOp.MEAN, strategy.run(f, args=(next(it),)), axis=None)
it = iter(strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices(np.random.randint(0, 256, (4096, 16), "int32")).shuffle(4096).repeat().batch(GB, drop_remainder=True).prefetch(tf.data.AUTOTUNE)))
mg = tf.train.CheckpointManager(tf.train.Checkpoint(lm=lm, opt=opt), tempfile.mkdtemp(), 1)
for i in range(60):
    step(it)
    if i % 10 == 0: mg.save()
