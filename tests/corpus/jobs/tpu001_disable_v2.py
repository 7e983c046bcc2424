# corpus: must-fail: TPU001@8
# corpus: may-fail: TPU605
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: v2 behaviour is switched off before the TF1 code begins.
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

x = tf.random_uniform([64, 20])
y = tf.reduce_sum(x, axis=1, keepdims=True)
w = tf.Variable(tf.zeros([20, 1]))
prediction = tf.matmul(x, w)
cost = tf.losses.mean_squared_error(y, prediction)
train = tf.train.AdamOptimizer(0.01).minimize(cost)

with tf.train.MonitoredTrainingSession() as session:
    for step in range(200):
        _, c = session.run([train, cost])
        if step % 50 == 0:
            print("step", step, "cost", c)
