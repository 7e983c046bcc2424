from .changes import changed


def test_the_strategy_is_the_tpu_s() -> None:
    text = "import tensorflow as tf\nstrategy = tf.distribute.MirroredStrategy()\n"
    assert changed("TPU007", text, "Mirrored", "MirroredStrategy is made").endswith(
        "tf.tpu.experimental.initialize_tpu_system(resolver)\n"
        "strategy = tf.distribute.TPUStrategy(resolver)\n"
    )
