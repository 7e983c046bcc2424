from .changes import TF, changed


def test_operations_leave_the_gpu() -> None:
    text = TF + "with tf.device('/gpu:0'):\n    # here\n    x = '''a\n    b'''\ny = x\n"
    assert changed("TPU007", text, "device", figures={"device": "tf.device"}) == TF + (
        "# here\nx = '''a\n    b'''\ny = x\n"
    )


def test_the_strategy_is_the_tpu_s() -> None:
    text = "import tensorflow as tf\nstrategy = tf.distribute.MirroredStrategy()\n"
    assert changed("TPU007", text, "Mirrored", "MirroredStrategy is made").endswith(
        "tf.tpu.experimental.initialize_tpu_system(resolver)\n"
        "strategy = tf.distribute.TPUStrategy(resolver)\n"
    )
