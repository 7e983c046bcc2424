# corpus: must-fail: TPU001@13/15/26/27
# corpus: may-fail: TPU605
# corpus: must-not-fail: *
# corpus: for: v3-8
# corpus: ends: error
# corpus: why: a TPUEstimator from tf.contrib; neither is part of TensorFlow 2.
import tensorflow as tf


def model_fn(features, labels, mode, params):
    logits = tf.layers.dense(features, 10)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    optimizer = tf.contrib.tpu.CrossShardOptimizer(tf.train.AdamOptimizer(params["lr"]))
    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return tf.contrib.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn(params):
    features = tf.random.uniform((params["batch_size"], 784))
    labels = tf.random.uniform((params["batch_size"],), maxval=10, dtype=tf.int32)
    return tf.data.Dataset.from_tensors((features, labels)).repeat()


def main():
    cluster = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
    run_config = tf.contrib.tpu.RunConfig(cluster=cluster, model_dir="estimator_out")
    estimator = tf.contrib.tpu.TPUEstimator(
        model_fn=model_fn, config=run_config, train_batch_size=1024, params={"lr": 1e-3}
    )
    estimator.train(input_fn, max_steps=100)


if __name__ == "__main__":
    main()
