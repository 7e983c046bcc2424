# corpus: must-fail: none
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: a subclassed Keras 3 model with its own train_step, EMA of the weights in the optimizer, fit.
import keras
import tensorflow as tf
from keras import layers, ops

tpu = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(tpu)
tf.tpu.experimental.initialize_tpu_system(tpu)
strategy = tf.distribute.TPUStrategy(tpu)

keras.mixed_precision.set_global_policy("mixed_bfloat16")
BATCH_SIZE = 128 * strategy.num_replicas_in_sync
LATENT = 128


class Autoencoder(keras.Model):
    """A denoising autoencoder."""

    def __init__(self, width, **kwargs):
        super().__init__(**kwargs)
        self.encoder = keras.Sequential([layers.Dense(256, activation="relu"), layers.Dense(LATENT)])
        self.decoder = keras.Sequential(
            [layers.Dense(256, activation="relu"), layers.Dense(width, dtype="float32")]
        )
        self.noise = layers.GaussianNoise(0.1)
        self.loss_tracker = keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.loss_tracker]

    def call(self, x, training=False):
        return self.decoder(self.encoder(self.noise(x, training=training)))

    def train_step(self, data):
        x = data
        with tf.GradientTape() as tape:
            reconstruction = self(x, training=True)
            per_example = ops.mean(ops.square(x - reconstruction), axis=-1)
            loss = tf.nn.compute_average_loss(per_example, global_batch_size=BATCH_SIZE)
        trainable_vars = self.trainable_variables
        gradients = tape.gradient(loss, trainable_vars)
        self.optimizer.apply_gradients(zip(gradients, trainable_vars))
        self.loss_tracker.update_state(ops.mean(per_example))
        return {m.name: m.result() for m in self.metrics}


x = tf.random.uniform((12288, 64))
dataset = tf.data.Dataset.from_tensor_slices(x).cache().shuffle(12288)
dataset = dataset.batch(BATCH_SIZE, drop_remainder=True).prefetch(tf.data.AUTOTUNE)

with strategy.scope():
    model = Autoencoder(64)
    model.compile(optimizer=keras.optimizers.Adam(1e-3, use_ema=True, ema_momentum=0.99))
    model(tf.zeros((1, 64)))

model.fit(
    dataset,
    epochs=20,
    callbacks=[keras.callbacks.ModelCheckpoint("ae/{epoch:04d}.weights.h5", save_weights_only=True)],
)
