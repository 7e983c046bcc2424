# corpus: must-fail: TPU105@15
# corpus: may-fail: TPU103
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: tf.print in one branch of a learning rate schedule, which the optimizer calls in the step.
import tempfile
import numpy as np, tensorflow as tf
import keras

class NoisyWarmup(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, peak, steps):
        self.peak, self.steps = peak, steps

    def _report(self, step, lr):
        tf.print("step", step, "lr", lr)
        return lr

    def __call__(self, step):
        s = tf.cast(step, tf.float32)
        lr = self.peak * tf.minimum(1.0, (s + 1) / self.steps)
        return tf.cond(tf.equal(tf.math.floormod(s, 100.0), 0.0), lambda: self._report(s, lr), lambda: lr)

    def get_config(self):
        return dict(peak=self.peak, steps=self.steps)

def input_fn(gb):
    x = np.random.rand(4096, 32).astype("f")
    return tf.data.Dataset.from_tensor_slices((x, x.sum(-1))).shuffle(4096).repeat().batch(gb, drop_remainder=True).prefetch(tf.data.AUTOTUNE)

keras.config.set_dtype_policy("mixed_bfloat16")
tpu = tf.distribute.cluster_resolver.TPUClusterResolver()
tf.config.experimental_connect_to_cluster(tpu)
tf.tpu.experimental.initialize_tpu_system(tpu)
strategy = tf.distribute.TPUStrategy(tpu)
with strategy.scope():
    model = keras.Sequential([keras.Input((32,)), keras.layers.Dense(128, "relu"), keras.layers.Dense(1, dtype="float32")])
    model.compile(keras.optimizers.AdamW(NoisyWarmup(1e-3, 500)), "mse")
model.fit(input_fn(128 * strategy.num_replicas_in_sync), epochs=10, steps_per_epoch=5, verbose=0,
          callbacks=[keras.callbacks.ModelCheckpoint(tempfile.mkdtemp() + "/{epoch}.weights.h5", save_weights_only=True)])
