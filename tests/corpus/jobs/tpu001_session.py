# corpus: must-fail: TPU001@14/23
# corpus: may-fail: TPU605
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: graph mode with placeholders and a session, as scripts of 2017 were written.
import numpy as np
import tensorflow as tf

learning_rate = 0.01
batch_size = 128

graph = tf.Graph()
with graph.as_default():
    X = tf.compat.v1.placeholder(tf.float32, [None, 784], name="X")
    Y = tf.compat.v1.placeholder(tf.float32, [None, 10], name="Y")
    W = tf.compat.v1.get_variable("W", [784, 10])
    b = tf.compat.v1.get_variable("b", [10], initializer=tf.zeros_initializer())
    logits = tf.matmul(X, W) + b
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=Y, logits=logits))
    train_op = tf.compat.v1.train.GradientDescentOptimizer(learning_rate).minimize(loss)
    init = tf.compat.v1.global_variables_initializer()

with tf.compat.v1.Session(graph=graph) as sess:
    sess.run(init)
    for step in range(100):
        batch_x = np.random.rand(batch_size, 784)
        batch_y = np.eye(10)[np.random.randint(0, 10, batch_size)]
        _, value = sess.run([train_op, loss], feed_dict={X: batch_x, Y: batch_y})
        if step % 20 == 0:
            print(step, value)
