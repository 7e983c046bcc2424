import pytest

from tpudiag.fixes.edits import NoChange

from .changes import TF, changed


def test_a_number_that_does_not_divide_becomes_a_multiple() -> None:
    text = TF + "BATCH = 1020\nds = ds.batch(BATCH, True)\n"
    message = "a global batch of 1020 does not divide by 8 replicas."
    assert "BATCH = 1016\n" in changed(
        "TPU205", text, "batch(", message, figures={"batch": 1020, "replicas": 8}
    )
    figures = {"batch": 1, "replicas": 8}
    text = TF + "a = a.batch(1)\nb = b.batch(1)\nds = tf.data.Dataset.zip((a, b))\n"
    after = changed("TPU205", text, "batch(1)", message, figures=figures)
    assert after.count("batch(8)") == 2, "both parts of a pair"
    text = TF + "N = 1\na = a.batch(N)\nb = b.batch(N)\nds = tf.data.Dataset.zip((a, b))\n"
    assert "N = 8\n" in changed("TPU205", text, "a.batch(N)", message, figures=figures)
    with pytest.raises(NoChange, match="plain assignment"):
        changed(
            "TPU205",
            TF + "ds = ds.batch(args.n)\n",
            "batch(",
            message,
            figures={"batch": 1020, "replicas": 8},
        )


def test_a_replica_gets_its_part_of_the_global_batch() -> None:
    text = TF + "def make(ctx):\n    return ds.batch(GLOBAL, drop_remainder=True)\n"
    assert "ds.batch(ctx.get_per_replica_batch_size(GLOBAL), drop_remainder" in changed(
        "TPU205", text, "batch(", "each of 8 replicas gets the global batch of 1024"
    )


DIVIDED = "the per-replica batch of 128 is divided by 8 replicas once more"


def test_a_per_replica_batch_becomes_the_global_one() -> None:
    named = "GLOBAL = EACH * strategy.num_replicas_in_sync\n"
    text = TF + named + "ds = ds.batch(EACH)\n"
    assert "ds.batch(GLOBAL)" in changed("TPU205", text, "batch(EACH", DIVIDED)
    text = TF + "print(strategy.num_replicas_in_sync)\nds = ds.batch(a + b)\n"
    assert "ds.batch((a + b) * strategy.num_replicas_in_sync)" in changed(
        "TPU205", text, "batch(", DIVIDED
    )


def test_sharding_becomes_data() -> None:
    text = TF + "o.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF\n"
    assert "AutoShardPolicy.DATA" in changed("TPU206", text, "o.auto", "nothing shards the data")
    plain = TF + "ds = tf.data.TFRecordDataset(files)\n"
    assert changed("TPU206", plain, "TFRecord", "2 files for 4 hosts") == TF + (
        "options = tf.data.Options()\n"
        "options.experimental_distribute.auto_shard_policy = "
        "tf.data.experimental.AutoShardPolicy.DATA\n"
        "ds = tf.data.TFRecordDataset(files).with_options(options)\n"
    )


def test_hosts_take_their_part_where_a_function_makes_the_data() -> None:
    text = TF + "def make(ctx):\n  ds = tf.data.Dataset.range(9)\n  return ds.shuffle(9, seed=1)\n"
    fix = "dataset = dataset.shard(context.num_input_pipelines, context.input_pipeline_id)"
    assert "range(9).shard(ctx.num_input_pipelines, ctx.input_pipeline_id)" in changed(
        "TPU214", text, "shuffle", "each of 4 hosts", fix
    )


def test_a_plain_dataset_is_distributed() -> None:
    text = TF + (
        "@tf.function\ndef train(batch):\n    strategy.run(step, args=(batch,))\n\n"
        "it = iter(ds)\nfor n in range(9):\n    train(next(it))\n"
    )
    assert "it = iter(strategy.experimental_distribute_dataset(ds))" in changed(
        "TPU505", text, "strategy.run"
    )


def test_a_dataset_is_distributed_before_the_loop_over_epochs() -> None:
    text = TF + (
        "@tf.function\ndef train(batch):\n    strategy.run(step, args=(batch,))\n\n"
        "ds = make()\nfor epoch in range(9):\n    for n, batch in enumerate(ds):\n"
        "        train(batch)\n"
    )
    assert changed("TPU505", text, "strategy.run").endswith(
        "distributed = strategy.experimental_distribute_dataset(ds)\n"
        "for epoch in range(9):\n    for n, batch in enumerate(distributed):\n"
        "        train(batch)\n"
    )


def test_the_batch_fills_the_tiles() -> None:
    figures = {"global batch": 800, "replicas": 8}
    fix = "global_batch = 1024  # 128 x 8 replicas"
    text = TF + "B = 100 * strategy.num_replicas_in_sync\nds = ds.batch(B)\n"
    assert "B = 128 * strategy" in changed("TPU401", text, "batch(", "", fix, figures=figures)
    assert "ds.batch(1024)" in changed(
        "TPU401", TF + "ds = ds.batch(800)\n", "batch(", "", fix, figures=figures
    )


def test_the_width_fills_the_mxu() -> None:
    text = TF + "x = Dense(200, activation='relu', name='d200')(x)\n"
    assert "Dense(256, activation='relu', name='d200')" in changed(
        "TPU402", text, "Dense", "", "use a multiple of 128 for the layer's width: 200 -> 256"
    )
