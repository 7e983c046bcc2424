# corpus: must-fail: none
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: args: --train_steps=80 --model_dir=absl_model --hidden=256
# corpus: why: absl app.run with flags, tf-keras in a custom loop, next(iterator) inside the tf.function.
"""Trains a tagger; run with --help for the flags."""
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

from absl import app, flags, logging
import tensorflow as tf

FLAGS = flags.FLAGS
flags.DEFINE_string("tpu", "local", "TPU address.")
flags.DEFINE_string("model_dir", None, "Where checkpoints go.", required=True)
flags.DEFINE_integer("train_steps", 1000, "Steps to train for.")
flags.DEFINE_integer("hidden", 128, "Width of the hidden layers.")
flags.DEFINE_integer("per_core_batch_size", 128, "Batch on one TPU core.")
flags.DEFINE_float("base_learning_rate", 0.05, "Learning rate after warm-up.")


class WarmUp(tf.keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, rate, steps):
        super().__init__()
        self.rate = rate
        self.steps = steps

    def __call__(self, step):
        step = tf.cast(step, tf.float32)
        return self.rate * tf.minimum(1.0, (step + 1.0) / self.steps)

    def get_config(self):
        return {"rate": self.rate, "steps": self.steps}


def input_fn(global_batch):
    def parse(seed):
        x = tf.random.stateless_normal((50,), seed=tf.stack([seed, seed + 1]))
        return {"inputs": x, "targets": tf.cast(x[0] > 0.0, tf.int32)}

    dataset = tf.data.Dataset.range(4096).cache().shuffle(4096).repeat()
    dataset = dataset.map(parse, num_parallel_calls=tf.data.AUTOTUNE)
    dataset = dataset.batch(global_batch, drop_remainder=True)
    return dataset.prefetch(tf.data.AUTOTUNE)


def build_model():
    inputs = tf.keras.Input((50,), name="inputs")
    x = tf.keras.layers.Dense(FLAGS.hidden, activation="relu")(inputs)
    x = tf.keras.layers.Dropout(0.1)(x)
    x = tf.keras.layers.Dense(FLAGS.hidden, activation="relu")(x)
    return tf.keras.Model(inputs, tf.keras.layers.Dense(2, dtype="float32")(x))


def main(argv):
    del argv
    logging.set_verbosity(logging.INFO)
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu=FLAGS.tpu)
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    strategy = tf.distribute.TPUStrategy(resolver)
    global_batch = FLAGS.per_core_batch_size * strategy.num_replicas_in_sync
    logging.info("global batch %d", global_batch)

    tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
    with strategy.scope():
        model = build_model()
        optimizer = tf.keras.optimizers.legacy.SGD(WarmUp(FLAGS.base_learning_rate, 20), momentum=0.9)
        loss_metric = tf.keras.metrics.Mean("loss")

    @tf.function
    def train_step(iterator):
        def step_fn(features):
            with tf.GradientTape() as tape:
                logits = model(features["inputs"], training=True)
                xent = tf.nn.sparse_softmax_cross_entropy_with_logits(features["targets"], logits)
                loss = tf.reduce_mean(xent)
                scaled_loss = loss / strategy.num_replicas_in_sync
            grads = tape.gradient(scaled_loss, model.trainable_variables)
            optimizer.apply_gradients(zip(grads, model.trainable_variables))
            loss_metric.update_state(loss)

        strategy.run(step_fn, args=(next(iterator),))

    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
    latest = tf.train.latest_checkpoint(FLAGS.model_dir)
    if latest:
        checkpoint.restore(latest)
        logging.info("restored %s", latest)

    iterator = iter(strategy.experimental_distribute_dataset(input_fn(global_batch)))
    for step in range(FLAGS.train_steps):
        train_step(iterator)
        if step % 20 == 0:
            logging.info("step %d loss %f", step, loss_metric.result())
            loss_metric.reset_states()
            checkpoint.save(os.path.join(FLAGS.model_dir, "ckpt"))


if __name__ == "__main__":
    app.run(main)
