# corpus: must-fail: none
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: epochs over a distributed dataset, a second dataset for evaluation, training=True/False as a Python bool.
import tensorflow as tf

AUTOTUNE = tf.data.AUTOTUNE


class Classifier(tf.keras.Model):
    def __init__(self, classes):
        super().__init__()
        self.stem = tf.keras.layers.Dense(128)
        self.norm = tf.keras.layers.BatchNormalization()
        self.hidden = tf.keras.layers.Dense(128, activation="relu")
        self.drop = tf.keras.layers.Dropout(0.1)
        self.head = tf.keras.layers.Dense(classes, dtype="float32")

    def call(self, x, training=False):
        x = tf.nn.relu(self.norm(self.stem(x), training=training))
        x = self.drop(self.hidden(x), training=training)
        return self.head(x)


def make_dataset(examples, batch, training):
    x = tf.random.normal((examples, 96))
    y = tf.cast(tf.argmax(x[:, :8], axis=-1), tf.int32)
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    if training:
        ds = ds.shuffle(examples, reshuffle_each_iteration=True)
    return ds.batch(batch, drop_remainder=True).prefetch(AUTOTUNE)


def main():
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    strategy = tf.distribute.TPUStrategy(resolver)
    tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
    batch = 128 * strategy.num_replicas_in_sync

    train_ds = strategy.experimental_distribute_dataset(make_dataset(12 * batch, batch, True))
    eval_ds = strategy.experimental_distribute_dataset(make_dataset(2 * batch, batch, False))

    with strategy.scope():
        model = Classifier(8)
        model(tf.zeros((1, 96)))
        optimizer = tf.keras.optimizers.SGD(
            tf.keras.optimizers.schedules.PiecewiseConstantDecay([20, 40], [0.1, 0.01, 0.001]), momentum=0.9
        )
        optimizer.build(model.trainable_variables)
        train_loss = tf.keras.metrics.Mean("train_loss")
        eval_acc = tf.keras.metrics.SparseCategoricalAccuracy("eval_acc")

    @tf.function
    def run_step(batch_data, training):
        def step_fn(x, y):
            if training:
                with tf.GradientTape() as tape:
                    logits = model(x, training=True)
                    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
                    loss = tf.reduce_sum(losses) / batch
                grads = tape.gradient(loss, model.trainable_variables)
                optimizer.apply_gradients(zip(grads, model.trainable_variables))
                train_loss.update_state(tf.reduce_mean(losses))
            else:
                eval_acc.update_state(y, model(x, training=False))

        strategy.run(step_fn, args=batch_data)

    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
    manager = tf.train.CheckpointManager(checkpoint, directory="./ckpts", max_to_keep=3)
    checkpoint.restore(manager.latest_checkpoint)

    for epoch in range(12):
        train_loss.reset_state()
        eval_acc.reset_state()
        for batch_data in train_ds:
            run_step(batch_data, True)
        for batch_data in eval_ds:
            run_step(batch_data, False)
        manager.save()
        print(f"epoch {epoch}: loss {train_loss.result():.4f} accuracy {eval_acc.result():.3f}")


if __name__ == "__main__":
    main()
