import pytest

from tpudiag.fixes.edits import NoChange

from .changes import changed

TF = "import tensorflow as tf\n"
OPEN = "its batch has no drop_remainder=True"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("ds = ds.batch(8)\n", "ds = ds.batch(8, drop_remainder=True)\n"),
        ("if m is 1: ds = ds.batch(8, False)\n", "if m is 1: ds = ds.batch(8, True)\n"),
        (
            "ds = ds.batch(8, drop_remainder = False)  # all\n",
            "ds = ds.batch(8, drop_remainder = True)  # all\n",
        ),
        (
            "ds = ds.padded_batch(\n    8,\n    padded_shapes=[16],\n)\n",
            "ds = ds.padded_batch(\n    8,\n    padded_shapes=[16],\n    drop_remainder=True,\n)\n",
        ),
        (
            "ds = (a\n\t.map(f)\n\t.batch( 8 ) # é\n\t.prefetch(2))\n",
            "ds = (a\n\t.map(f)\n\t.batch( 8, drop_remainder=True ) # é\n\t.prefetch(2))\n",
        ),
    ],
)
def test_drops_the_remainder(before: str, after: str, recwarn: pytest.WarningsRecorder) -> None:
    assert changed("TPU102", TF + before, "batch(", OPEN) == TF + after
    assert not recwarn.list, "Python's remarks on the script were said when it ran"


def test_windows_line_ends_stay() -> None:
    text = "import tensorflow as tf\r\nds = ds.map(f)\r\nds = ds.batch(8)\r\n"
    ends = "the pipeline ends in Batch, not in prefetch"
    assert changed("TPU202", text, "batch(", ends) == (
        text + "ds = ds.prefetch(tf.data.AUTOTUNE)\r\n"
    )


def test_arguments_behind_stars_are_not_guessed() -> None:
    with pytest.raises(NoChange, match=r"\*"):
        changed("TPU102", TF + "ds = ds.batch(8, **options)\n", "batch", OPEN)


def test_a_serial_map_and_interleave_run_in_parallel() -> None:
    text = TF + "ds = files.interleave(read, 4).map(\n    lambda x: (x, 1)\n)\n"
    assert changed("TPU203", text, "interleave", "") == TF + (
        "ds = files.interleave(read, 4, num_parallel_calls=tf.data.AUTOTUNE).map(\n"
        "    lambda x: (x, 1),\n    num_parallel_calls=tf.data.AUTOTUNE\n)\n"
    )


def test_the_script_s_own_name_for_autotune_is_used() -> None:
    text = TF + "AUTO = tf.data.AUTOTUNE\ndef make(ds):\n  return ds.map(f)\n"
    assert "ds.map(f, num_parallel_calls=AUTO)" in changed("TPU203", text, ".map", "")


def test_files_are_read_at_once() -> None:
    text = TF + "ds = tf.data.TFRecordDataset(files, 'GZIP')\n"
    assert "(files, 'GZIP', num_parallel_reads=tf.data.AUTOTUNE)" in changed(
        "TPU209", text, "TFRecord"
    )
    flat = TF + "ds = files.flat_map(tf.data.TFRecordDataset)\n"
    assert (
        "files.interleave(tf.data.TFRecordDataset, num_parallel_calls=tf.data.AUTOTUNE)"
        in changed("TPU209", flat, "flat_map")
    )


def test_readers_of_one_file_each_stay() -> None:
    text = TF + "parts = [tf.data.TextLineDataset(n) for n in files]\n"
    with pytest.raises(NoChange, match="joins"):
        changed("TPU209", text, "TextLine")


def test_prefetch_stands_at_the_end_of_a_tall_chain() -> None:
    text = TF + "ds = (\n    a\n    .map(f)\n    .batch(8)  # all of it\n)\nprint(ds)\n"
    assert changed("TPU202", text, ".batch", "the pipeline ends in Batch") == TF + (
        "ds = (\n    a\n    .map(f)\n    .batch(8)  # all of it\n"
        "    .prefetch(tf.data.AUTOTUNE)\n)\nprint(ds)\n"
    )


def test_a_chain_of_backslashes_stays_one() -> None:
    text = TF + "def f():\n    return a \\\n        .map(g) \\\n        .batch(8)\n"
    assert changed("TPU202", text, ".batch", "the pipeline ends in Batch") == TF + (
        "def f():\n    return a \\\n        .map(g) \\\n        .batch(8) \\\n"
        "        .prefetch(tf.data.AUTOTUNE)\n"
    )


def test_a_small_buffer_is_left_to_autotune() -> None:
    text = TF + "return_ = ds.prefetch(buffer_size=1)\n"
    assert "prefetch(buffer_size=tf.data.AUTOTUNE)" in changed(
        "TPU202", text, "prefetch", figures={"buffer": 1}
    )


def test_costly_work_is_cached_where_the_host_has_the_memory() -> None:
    text = TF + "ds = ds.map(decode).shuffle(9).batch(8)\n"
    figures = {"size of its result": 1000}
    assert "ds.map(decode).cache().shuffle(9)" in changed(
        "TPU204", text, "map", ram=10_000, figures=figures
    )
    with pytest.raises(NoChange, match="GiB"):
        changed("TPU204", text, "map", ram=1500, figures=figures)


def test_nothing_is_cached_behind_a_repeat() -> None:
    text = TF + "ds = ds.shuffle(9).repeat()\nds = ds.map(decode)\n"
    with pytest.raises(NoChange, match="repeat"):
        changed("TPU204", text, "map", figures={"size of its result": 9})


def test_a_late_cache_moves_before_what_is_random() -> None:
    text = TF + (
        "def augment(x):\n    return tf.image.random_flip_up_down(x)\n"
        "ds = source.map(decode)\n"
        "ds = ds.map(augment)\nds = ds.cache()\nds = ds.batch(8)\n"
    )
    assert changed("TPU204", text, "cache", figures={"random before the cache": "Map"}).endswith(
        "ds = source.map(decode)\nds = ds.cache()\nds = ds.map(augment)\nds = ds.batch(8)\n"
    )
    chain = TF + "ds = source.map(decode).repeat().cache().batch(8)\n"
    assert changed("TPU204", chain, "cache", figures={"before the cache": "Repeat"}) == (
        TF + "ds = source.map(decode).cache().repeat().batch(8)\n"
    )


def test_examples_are_shuffled_before_they_are_batched() -> None:
    text = TF + "ds = a.batch(n, True)\nds = ds.shuffle(10, seed=1)\nds = ds.prefetch(2)\n"
    assert changed("TPU214", text, "shuffle", "shuffle stands after batch") == TF + (
        "ds = a.shuffle(10 * n, seed=1).batch(n, True)\nds = ds.prefetch(2)\n"
    )


def test_a_small_shuffle_buffer_grows() -> None:
    text = TF + "ds = ds.shuffle(100)\n"
    assert "shuffle(10_240)" in changed(
        "TPU214", text, "shuffle", fix="dataset.shuffle(10_240)", figures={"shuffle buffer": 100}
    )


def test_data_repeat_before_the_batch() -> None:
    text = TF + ("ds = (\n    a\n    .batch(8)\n)\nmodel.fit(ds, steps_per_epoch=5, epochs=4)\n")
    assert changed("TPU212", text, "fit(").startswith(
        TF + "ds = (\n    a\n    .repeat()\n    .batch(8)\n)\n"
    )
    call = TF + "model.fit(make(), epochs=4, steps_per_epoch=5)\n"
    assert "model.fit(make().repeat(), epochs" in changed("TPU212", call, "fit(")


def test_the_debug_mode_is_left() -> None:
    text = TF + "tf.data.experimental.enable_debug_mode()\nds = make()\n"
    assert changed("TPU207", text, "debug", figures={"debug mode": "on"}) == TF + "ds = make()\n"
