# corpus: must-fail: none
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: two models with an optimizer each in one step, both losses scaled by the global batch.
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import tensorflow as tf
from tensorflow import keras

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)

keras.mixed_precision.set_global_policy("mixed_bfloat16")

NOISE_DIM = 128
BATCH_SIZE = 128 * strategy.num_replicas_in_sync
EPOCHS = 30


def make_generator():
    return keras.Sequential(
        [
            keras.layers.Input((NOISE_DIM,)),
            keras.layers.Dense(128),
            keras.layers.BatchNormalization(),
            keras.layers.LeakyReLU(),
            keras.layers.Dense(256, activation="tanh", dtype="float32"),
        ],
        name="generator",
    )


def make_discriminator():
    return keras.Sequential(
        [
            keras.layers.Input((256,)),
            keras.layers.Dense(128),
            keras.layers.LeakyReLU(),
            keras.layers.Dropout(0.3),
            keras.layers.Dense(1, dtype="float32"),
        ],
        name="discriminator",
    )


with strategy.scope():
    generator = make_generator()
    discriminator = make_discriminator()
    generator_optimizer = keras.optimizers.Adam(1e-4, beta_1=0.5)
    discriminator_optimizer = keras.optimizers.Adam(1e-4, beta_1=0.5)
    cross_entropy = keras.losses.BinaryCrossentropy(from_logits=True, reduction="none")
    g_metric = keras.metrics.Mean()
    d_metric = keras.metrics.Mean()


def discriminator_loss(real_output, fake_output):
    real = cross_entropy(tf.ones_like(real_output), real_output)
    fake = cross_entropy(tf.zeros_like(fake_output), fake_output)
    return tf.nn.compute_average_loss(real + fake, global_batch_size=BATCH_SIZE)


def generator_loss(fake_output):
    losses = cross_entropy(tf.ones_like(fake_output), fake_output)
    return tf.nn.compute_average_loss(losses, global_batch_size=BATCH_SIZE)


def train_step(images):
    noise = tf.random.normal([128, NOISE_DIM])
    with tf.GradientTape() as gen_tape, tf.GradientTape() as disc_tape:
        generated = generator(noise, training=True)
        real_output = discriminator(images, training=True)
        fake_output = discriminator(generated, training=True)
        gen_loss = generator_loss(fake_output)
        disc_loss = discriminator_loss(real_output, fake_output)
    gen_grads = gen_tape.gradient(gen_loss, generator.trainable_variables)
    disc_grads = disc_tape.gradient(disc_loss, discriminator.trainable_variables)
    generator_optimizer.apply_gradients(zip(gen_grads, generator.trainable_variables))
    discriminator_optimizer.apply_gradients(zip(disc_grads, discriminator.trainable_variables))
    g_metric.update_state(gen_loss)
    d_metric.update_state(disc_loss)


@tf.function
def distributed_train_step(batch):
    strategy.run(train_step, args=(batch,))


data = tf.random.uniform((12288, 256), -1, 1)
dataset = tf.data.Dataset.from_tensor_slices(data).shuffle(4096)
dataset = dataset.batch(BATCH_SIZE, drop_remainder=True).prefetch(2)
dist_dataset = strategy.experimental_distribute_dataset(dataset)

checkpoint = tf.train.Checkpoint(
    generator=generator,
    discriminator=discriminator,
    generator_optimizer=generator_optimizer,
    discriminator_optimizer=discriminator_optimizer,
)
checkpoint_prefix = os.path.join("gan_checkpoints", "ckpt")
manager = tf.train.CheckpointManager(checkpoint, "gan_checkpoints", max_to_keep=5)

for epoch in range(EPOCHS):
    for image_batch in dist_dataset:
        distributed_train_step(image_batch)
    if (epoch + 1) % 5 == 0:
        manager.save()
    print("epoch", epoch, "g", g_metric.result().numpy(), "d", d_metric.result().numpy())
