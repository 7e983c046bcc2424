# corpus: must-fail: none
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: an epoch counter outside the scope, evaluation with a larger batch between epochs.
import math, os, tempfile
import numpy as np, tensorflow as tf
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
r = tf.distribute.cluster_resolver.TPUClusterResolver(tpu=os.getenv("TPU_NAME", ""))
tf.config.experimental_connect_to_cluster(r); tf.tpu.experimental.initialize_tpu_system(r)
strategy = tf.distribute.TPUStrategy(r)
BATCH_SIZE = 128 * strategy.num_replicas_in_sync
EVAL_BATCH = 2 * BATCH_SIZE
x = np.random.rand(6000, 128).astype("f"); y = (x.sum(1) > 64).astype("i4")
def ds(a, b, n, train):
    d = tf.data.Dataset.from_tensor_slices((a, b)).cache()
    if train: d = d.shuffle(4096, reshuffle_each_iteration=True)
    return strategy.experimental_distribute_dataset(d.batch(n, drop_remainder=True).prefetch(tf.data.AUTOTUNE))
train, val = ds(x[:4500], y[:4500], BATCH_SIZE, True), ds(x[:3000], y[:3000], EVAL_BATCH, False)
with strategy.scope():
    net = tf.keras.Sequential([tf.keras.Input((128,)), tf.keras.layers.Dense(256, "relu"), tf.keras.layers.Dropout(.1), tf.keras.layers.Dense(2, dtype="float32")])
    opt = tf.keras.optimizers.Adam(learning_rate=1e-3)
    tl, va = tf.keras.metrics.Mean(), tf.keras.metrics.SparseCategoricalAccuracy()
    ce = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")
@tf.function
def train_one(batch):
    def fn(bx, by):
        with tf.GradientTape() as tape:
            loss = tf.nn.compute_average_loss(ce(by, net(bx, training=True)), global_batch_size=BATCH_SIZE)
        opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
        tl.update_state(loss)
    strategy.run(fn, args=batch)
@tf.function
def test_one(batch):
    strategy.run(lambda bx, by: va.update_state(by, net(bx, training=False)), args=batch)
ckpt = tf.train.Checkpoint(net=net, opt=opt, epoch=tf.Variable(0))
mgr = tf.train.CheckpointManager(ckpt, tempfile.mkdtemp(), max_to_keep=3, keep_checkpoint_every_n_hours=1)
ckpt.restore(mgr.latest_checkpoint)
for epoch in range(int(ckpt.epoch), 40):
    opt.learning_rate = 1e-3 * 0.5 * (1 + math.cos(math.pi * epoch / 40))
    for b in train: train_one(b)
    for b in val: test_one(b)
    print(epoch, tl.result().numpy(), va.result().numpy()); tl.reset_state(); va.reset_state()
    ckpt.epoch.assign_add(1); mgr.save()
