"""The change for a finding, in the least script that has it."""

from collections.abc import Mapping
from typing import NamedTuple

import pytest

from tpudiag.fixes.edits import NoChange
from tpudiag.report_figures import Value

from .changes import TF, changed

MULTIPLES = "use a multiple of 128 for the layer's width: 200 -> 256"
TILES, BATCHES = "global_batch = 1024  # 128 x 8 replicas", {"global batch": 800, "replicas": 8}
BACKUP = 'tf.keras.callbacks.BackupAndRestore("checkpoints")'
TRAIN = "@tf.function\ndef train(batch):\n    strategy.run(step, args=(batch,))\n\n"
BY_HOST = "dataset = dataset.shard(context.num_input_pipelines, context.input_pipeline_id)"
WIDE, POLICY = "0% of the step's", "tf.keras.mixed_precision.set_global_policy("
INIT = "tf.tpu.experimental.initialize_tpu_system(r)\n"
LATE = "keras.mixed_precision.set_global_policy('mixed_bfloat16')\n"
DIVIDED = "the per-replica batch of 128 is divided by 8 replicas once more"

LAYERS, NONE, PRINTED = "tf.keras.layers", {"checkpoints set up": 0}, {"operation": "PrintV2 print"}


class Row(NamedTuple):
    """A finding at a line of a script, and what the line then says."""

    id_: str
    text: str
    line: str | None
    after: str
    message: str = ""
    fix: str = ""
    figures: Mapping[str, Value] | None = None


ROWS = (
    Row("TPU005", "model.compile('sgd', jit_compile=True, loss='mse')\n", "",
        "compile('sgd', loss='mse')", figures={"jit_compile": True}),
    Row("TPU104", "tf.config.run_functions_eagerly(True)  # debug\nx = 1\n", "eagerly",
        TF + "x = 1\n"),
    Row("TPU104", "def train(batch):\n    return strategy.run(step, args=(batch,))\n",
        "strategy.run", "@tf.function\ndef train(batch)"),
    Row("TPU106", "model.compile('sgd')\n", None, "compile('sgd', steps_per_execution=50)"),
    Row("TPU108", "for b in data:\n    total += float(train(b))\nprint(total)\n", "total +=",
        "    total += train(b)\n"),
    Row("TPU108", "for b in data:\n    losses.append(train(b).numpy())\n", "append",
        "    losses.append(train(b))\n"),
    Row("TPU202", "return_ = ds.prefetch(buffer_size=1)\n", "prefetch",
        "prefetch(buffer_size=tf.data.AUTOTUNE)", figures={"buffer": 1}),
    # The script's own name is used.
    Row("TPU203", "AUTO = tf.data.AUTOTUNE\ndef make(ds):\n  return ds.map(f)\n", ".map",
        "ds.map(f, num_parallel_calls=AUTO)"),
    Row("TPU205", "def make(ctx):\n    return ds.batch(GLOBAL, drop_remainder=True)\n", "batch(",
        "ds.batch(ctx.get_per_replica_batch_size(GLOBAL), drop_remainder",
        "each of 8 replicas gets the global batch of 1024"),
    Row("TPU206", "o.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF\n", "o.auto",
        "AutoShardPolicy.DATA", "nothing shards the data"),
    Row("TPU207", "tf.data.experimental.enable_debug_mode()\nds = make()\n", "debug",
        TF + "ds = make()\n", figures={"debug mode": "on"}),
    Row("TPU209", "ds = tf.data.TFRecordDataset(files, 'GZIP')\n", "TFRecord",
        "(files, 'GZIP', num_parallel_reads=tf.data.AUTOTUNE)"),
    Row("TPU209", "ds = files.flat_map(tf.data.TFRecordDataset)\n", "flat_map",
        "files.interleave(tf.data.TFRecordDataset, num_parallel_calls=tf.data.AUTOTUNE)"),
    Row("TPU212", "model.fit(make(), epochs=4, steps_per_epoch=5)\n", "fit(",
        "model.fit(make().repeat(), epochs"),
    Row("TPU214", "ds = ds.shuffle(100)\n", "shuffle", "shuffle(10_240)", "",
        "dataset.shuffle(10_240)", {"shuffle buffer": 100}),
    Row("TPU214", "def make(ctx):\n  d = tf.data.Dataset.range(9)\n  return d.shuffle(9, seed=1)\n",
        "shuffle", "range(9).shard(ctx.num_input_pipelines, ctx.input_pipeline_id)",
        "each of 4 hosts", BY_HOST),
    Row("TPU401", "B = 100 * strategy.num_replicas_in_sync\nds = ds.batch(B)\n", "batch(",
        "B = 128 * strategy", "", TILES, BATCHES),
    Row("TPU401", "ds = ds.batch(800)\n", "batch(", "ds.batch(1024)", "", TILES, BATCHES),
    Row("TPU402", "x = Dense(200, activation='relu', name='d200')(x)\n", "Dense",
        "Dense(256, activation='relu', name='d200')", "", MULTIPLES),
    Row("TPU403", "from tensorflow.keras.models import Sequential\nmodel = Sequential([])\n",
        "Sequential([])", f"\n{POLICY}", WIDE),
    Row("TPU404", f"{POLICY}'mixed_float16')\n", "policy", f"{POLICY}'mixed_bfloat16')"),
    Row("TPU407", "m = Sequential([Dense(4), Dense(2, activation='softmax')])\n", "Dense",
        "Dense(2, activation='softmax', dtype=\"float32\")"),
    Row("TPU501", "def build():\n    return Model(1)\n\nmodel = build()\nstrategy.run(f)\n",
        "Model(1)", "with strategy.scope():\n    model = build()\n"),
    Row("TPU501", "with strategy.scope():\n    model = make()\n    opt = Adam()\ndef step():\n"
        "    opt.apply_gradients(zip(g, model.trainable_variables))\n", "apply",
        "    opt = Adam()\n    opt.build(model.trainable_variables)\n"),
    Row("TPU505", TRAIN + "it = iter(ds)\nfor n in range(9):\n    train(next(it))\n",
        "strategy.run", "it = iter(strategy.experimental_distribute_dataset(ds))"),
    Row("TPU507", "print(float(strategy.experimental_local_results(loss)[0]))\n", "print",
        "float(strategy.reduce(tf.distribute.ReduceOp.MEAN, loss, axis=None))",
        "the result of replica 0"),
    Row("TPU507", "x = strategy.reduce('MEAN', loss, axis=None)\n", "reduce", "reduce('SUM'",
        figures={"reduced by": "MEAN"}),
    Row("TPU508", "a = BatchNormalization()\nb = BatchNormalization(axis=-1)\n", "a =",
        "a = BatchNormalization(synchronized=True)\n"
        "b = BatchNormalization(axis=-1, synchronized=True)\n"),
    Row("TPU510", "def step(x, y):\n    loss = entropy(y, self.net(x))\n"
        "    tape.gradient(loss, self.net.trainable_variables)\n", "entropy",
        "entropy(y, self.net(x, training=True))"),
    Row("TPU601", "model.fit(ds, epochs=3)\n", "fit(", f"epochs=3, callbacks=[{BACKUP}])"),
    Row("TPU601", "model.fit(ds, callbacks=[a])\n", "fit(", f"callbacks=[a, {BACKUP}])"),
    Row("TPU602", "c = ModelCheckpoint('out/m.weights.h5', save_weights_only=True)\n",
        "ModelCheckpoint", "ModelCheckpoint('out/m-{epoch:04d}.weights.h5',",
        figures={"written": 2}),
    Row("TPU007", "with tf.device('/gpu:0'):\n    # here\n    x = '''a\n    b'''\ny = x\n",
        "device", TF + "# here\nx = '''a\n    b'''\ny = x\n", figures={"device": "tf.device"}),
    Row("TPU104", "model.compile(\n    optimizer='sgd',\n    run_eagerly=True,\n)\n", "compile",
        "model.compile(\n    optimizer='sgd',\n)\n"),
    Row("TPU108", "for n in range(9):\n    loss = train()\n    if loss < 3:\n        print(n)\n",
        "if loss", "    if n % 100 == 0:\n        if loss < 3:\n            print(n)\n"),
    Row("TPU108", "for x, y in data:\n    loss = train(x, y)\n    print(float(loss))\n", "print",
        "for step, (x, y) in enumerate(data):\n    loss = train(x, y)\n"
        "    if step % 100 == 0:\n        print(float(loss))\n"),
    Row("TPU108", "for x in data:\n    a, b = train(x)\n    kept.append((float(a), b.numpy()))\n",
        "kept", "    kept.append((a, b))\n"),
    Row("TPU109", "for epoch in range(6):\n    with strategy.scope():\n        model.compile(\n"
        "            Adam(1e-3 / (epoch + 1)),\n            'mse',\n        )\n    model.fit(ds)\n",
        "model.compile",
        "with strategy.scope():\n    model.compile(\n        Adam(),\n        'mse',\n    )\n"
        "for epoch in range(6):\n    model.optimizer.learning_rate = 1e-3 / (epoch + 1)\n"
        "    model.fit(ds)\n", figures={"compiles of one line": 6}),
    Row("TPU109", "for epoch in range(6):\n    model.compile('sgd', 'mse')\n    model.fit(ds)\n",
        "compile", "model.compile('sgd', 'mse')\nfor epoch in range(6):\n    model.fit(ds)\n",
        figures={"compiles of one line": 6}),
    Row("TPU202", "ds = (\n    a\n    .map(f)\n    .batch(8)  # all of it\n)\nprint(ds)\n",
        ".batch", "    .batch(8)  # all of it\n    .prefetch(tf.data.AUTOTUNE)\n)\nprint(ds)\n",
        "the pipeline ends in Batch"),
    Row("TPU202", "def f():\n    return a \\\n        .map(g) \\\n        .batch(8)\n", ".batch",
        "        .batch(8) \\\n        .prefetch(tf.data.AUTOTUNE)\n", "pipeline ends in Batch"),
    Row("TPU203", "ds = files.interleave(read, 4).map(\n    lambda x: (x, 1)\n)\n", "interleave",
        "ds = files.interleave(read, 4, num_parallel_calls=tf.data.AUTOTUNE).map(\n"
        "    lambda x: (x, 1),\n    num_parallel_calls=tf.data.AUTOTUNE\n)\n"),
    Row("TPU204", "def augment(x):\n    return tf.image.random_flip_up_down(x)\n"
        "ds = source.map(decode)\nds = ds.map(augment)\nds = ds.cache()\nds = ds.batch(8)\n",
        "cache", "decode)\nds = ds.cache()\nds = ds.map(augment)\nds = ds.batch(8)\n",
        figures={"random before the cache": "Map"}),
    Row("TPU204", "ds = source.map(decode).repeat().cache().batch(8)\n", "cache",
        "ds = source.map(decode).cache().repeat().batch(8)\n",
        figures={"before the cache": "Repeat"}),
    Row("TPU206", "ds = tf.data.TFRecordDataset(files)\n", "TFRecord",
        "options = tf.data.Options()\noptions.experimental_distribute.auto_shard_policy = "
        "tf.data.experimental.AutoShardPolicy.DATA\n"
        "ds = tf.data.TFRecordDataset(files).with_options(options)\n", "2 files for 4 hosts"),
    Row("TPU212", "ds = (\n    a\n    .batch(8)\n)\nmodel.fit(ds, steps_per_epoch=5, epochs=4)\n",
        "fit(", "ds = (\n    a\n    .repeat()\n    .batch(8)\n)\n"),
    Row("TPU214", "ds = a.batch(n, True)\nds = ds.shuffle(10, seed=1)\nds = ds.prefetch(2)\n",
        "shuffle", "ds = a.shuffle(10 * n, seed=1).batch(n, True)\nds = ds.prefetch(2)\n",
        "shuffle stands after batch"),
    Row("TPU403", "with strategy.scope():\n    model = tf.keras.Sequential([\n"
        "        tf.keras.layers.Dense(8),\n        tf.keras.layers.Dense(2),\n    ])\n",
        "Dense(8)", f'{POLICY}"mixed_bfloat16")\n'
        "with strategy.scope():\n    model = tf.keras.Sequential([\n"
        '        tf.keras.layers.Dense(8),\n        tf.keras.layers.Dense(2, dtype="float32"),\n',
        WIDE),
    Row("TPU404", "opt = tf.keras.optimizers.Adam()\n"
        "opt = tf.keras.mixed_precision.LossScaleOptimizer(opt)\n"
        "def step(x):\n    scaled = opt.get_scaled_loss(loss)\n"
        "    g = opt.get_unscaled_gradients(tape.gradient(scaled, v))\n", "LossScale",
        "Adam()\ndef step(x):\n    scaled = loss\n    g = tape.gradient(scaled, v)\n"),
    Row("TPU501", "mean = keras.metrics.Mean()\nwith strategy.scope():\n    model = build()\n",
        "mean =", "with strategy.scope():\n    mean = keras.metrics.Mean()\n    model = build()\n"),
    Row("TPU501", "a = tf.Variable(1.0)\nb = tf.Variable(2.0)\nc = [a, b]\nprint(strategy.run)\n",
        "a =", "with strategy.scope():\n    a = tf.Variable(1.0)\n    b = tf.Variable(2.0)\n"
        "c = [a, b]\nprint(strategy.run)\n"),
    Row("TPU505", TRAIN + "ds = make()\nfor epoch in range(9):\n    for n, b in enumerate(ds):\n"
        "        train(b)\n", "strategy.run",
        "distributed = strategy.experimental_distribute_dataset(ds)\n"
        "for epoch in range(9):\n    for n, b in enumerate(distributed):\n        train(b)\n"),
    Row("TPU601", "m = make()\ndef step(b):\n    g = tape.gradient(loss, m.trainable_variables)\n"
        "\ni = 0\nwhile i < 9000:\n    step(next(it))\n    i += 1\n", None,
        "while i < 9000:\n    if i % 1000 == 999:\n        manager.save()\n", "", "", NONE),
    Row("TPU105", "def f(x):\n    if x:\n        tf.print(\n            x)\n    return x\n",
        "tf.print", "def f(x):\n    if x:\n        pass\n    return x\n", "", "", PRINTED),
    Row("TPU109", f"{INIT}def again():\n    {INIT}    return r\n", "    tf.tpu",
        f"{INIT}def again():\n    return r\n", "", "", {"initialisations": 2}),
    Row("TPU205", "GLOBAL = EACH * strategy.num_replicas_in_sync\nds = ds.batch(EACH)\n",
        "batch(EACH", "ds.batch(GLOBAL)", DIVIDED),
    Row("TPU205", "print(strategy.num_replicas_in_sync)\nds = ds.batch(a + b)\n", "batch(",
        "ds.batch((a + b) * strategy.num_replicas_in_sync)", DIVIDED),
    Row("TPU403", f"import keras\nwith s.scope():\n    m = build()\n    {LATE}    m.compile()\n",
        "build", f"import keras\n{LATE}with s.scope():\n    m = build()\n    m.compile()\n", WIDE),
    Row("TPU403", f"m = tf.keras.Model(i, [{LAYERS}.Dense(1)(x), {LAYERS}.Dense(2)(x)])\n", "Dense",
        f'Dense(1, dtype="float32")(x), {LAYERS}.Dense(2, dtype="float32")(x)', WIDE),
    # Before the first call of what builds a model.
    Row("TPU403", f"def block(x):\n    return {LAYERS}.Dense(8)(x)\ndef build():\n"
        "    return block(tf.keras.Input((4,)))\nfirst = build()\nlast = tf.keras.Sequential([])\n",
        "Dense", f'{POLICY}"mixed_bfloat16")\nfirst = build()\n', WIDE),
    Row("TPU601", "model, opt = make()\n"
        "def step(b):\n    g = tape.gradient(loss, model.trainable_variables)\n"
        "    opt.apply_gradients(g)\n\n"
        "for epoch in range(3):\n    for b in ds:\n        step(b)\n    print(epoch)\n", None,
        "checkpoint = tf.train.Checkpoint(model=model, optimizer=opt)\n"
        'manager = tf.train.CheckpointManager(checkpoint, "checkpoints", max_to_keep=3)\n'
        "for epoch in range(3):\n    for b in ds:\n        step(b)\n    print(epoch)\n"
        "    manager.save()\n", "", "", NONE),
)  # fmt: skip

REFUSED = (
    Row("TPU105", "def f(x):\n    op = tf.print(x)\n", "tf.print", "used", "", "", PRINTED),
    Row("TPU102", "ds = ds.batch(8, **options)\n", "batch", r"\*", "it has no drop_remainder"),
    Row("TPU107", "import random\ndef f(x):\n    return random.choice(x)\n", "return",
        "TensorFlow has no", "random.choice is called while f is", "", {"frozen": "random.choice"}),
    Row("TPU108", "for n in range(9):\n    value = float(loss)\n    seen(value)\n", "value =",
        "value is used"),
    Row("TPU204", "ds = ds.shuffle(9).repeat()\nds = ds.map(decode)\n", "map", "repeat", "", "",
        {"size of its result": 9}),
    Row("TPU209", "parts = [tf.data.TextLineDataset(n) for n in files]\n", "TextLine", "joins"),
    Row("TPU510", "loss = model(x, training=flag)\ngrads(model.trainable_weights)\n", "loss",
        "names do not tell"),
    Row("TPU601", "class Fitter:\n    def fit(self, data):\n        for b in d:\n            go()\n"
        "\nFitter().fit(data)\n", None, "loop over the steps", "", "", NONE),
)  # fmt: skip
"""Findings with the reason for which nothing is changed."""


@pytest.mark.parametrize("row", REFUSED, ids=lambda row: row.id_)
def test_what_is_not_known_to_be_right_is_not_changed(row: Row) -> None:
    with pytest.raises(NoChange, match=row.after):
        changed(row.id_, TF + row.text, row.line, row.message, row.fix, figures=row.figures)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id_)
def test_the_line_is_changed(row: Row) -> None:
    text = TF + row.text
    made = changed(row.id_, text, row.line, row.message, row.fix, figures=row.figures)
    assert row.after in made and row.after not in text
