"""Of each batch only the examples are made that are used."""

import pytest

from tests.sources.job.programs import InTensorFlow

pytestmark = pytest.mark.slow

PROGRAM = """
from tpudiag.sources.job.tensorflow.shortening import thin_batches

def thin(dataset):
    return thin_batches.thinned(tf, dataset, lambda size: size // 4)

def filled(dataset):
    return thin_batches.thinned(tf, dataset, lambda size: size, lambda size: 3)

def rows(dataset, most=99):
    return [[int(x) for x in tf.reshape(batch, [-1])] for batch in dataset.take(most)]

offset = tf.Variable(100, dtype=tf.int64)
generator = tf.random.Generator.from_seed(3)
made = tf.Variable(0, dtype=tf.int64)

def costly(x):
    made.assign_add(1)
    return x + offset

numbers = tf.data.Dataset.range(42).map(costly)
seen = {}
plain = thin(numbers.batch(8, drop_remainder=True).prefetch(2))
seen["plain"] = rows(plain), int(made), plain.element_spec.shape.as_list()
seen["last"] = rows(thin(numbers.batch(8)))
mixed = numbers.map(lambda x: x, num_parallel_calls=2).cache().repeat().shuffle(64, seed=5)
small = tf.data.Dataset.range(5).map(costly).repeat().batch(8, drop_remainder=True)
seen["small"] = len(rows(thin(small), 4))
seen["taken"] = len(rows(thin(numbers.take(15).batch(8, drop_remainder=True))))
seen["endless"] = rows(thin(mixed.batch(8).prefetch(-1)), 9)
seen["parted"] = rows(thin(numbers.skip(8).take(16).batch(8)))
whole = numbers.batch(8, drop_remainder=True).map(lambda b: b + tf.reduce_sum(b[7] * 0) + len(b))
seen["above"] = rows(thin(whole)), thin(whole).element_spec.shape.as_list()
pairs = tf.data.Dataset.zip((numbers, {"y": tf.data.Dataset.range(42).map(lambda x: x * 2)}))
seen["pairs"] = [[x.numpy().tolist(), y["y"].numpy().tolist()] for x, y in thin(pairs.batch(16))]
odd = numbers.filter(lambda x: x % 2 == 1).concatenate(numbers)
seen["odd"] = rows(thin(odd.batch(8)))
drawn = numbers.map(lambda x: generator.uniform([], 0, 9, tf.int64)).batch(8)
seen["drawn"] = [len(each) for each in rows(thin(drawn))]
options = tf.data.Options()
options.deterministic = False
kept = thin(numbers.batch(8).with_options(options))
seen["options"] = kept.options().deterministic
full = filled(numbers.batch(8, drop_remainder=True))
seen["filled"] = rows(full, 2), full.element_spec.shape.as_list()
seen["filled last"] = [len(row) for row in rows(filled(numbers.batch(8)))]
seen["whole"] = [
    thin(dataset) is None
    for dataset in (
        tf.data.Dataset.range(42).batch(8),
        numbers.batch(3),
        numbers.take(5).batch(8),
        numbers.map(lambda x: tf.range(x)).padded_batch(8),
        numbers.batch(8).unbatch(),
        numbers.ragged_batch(8),
    )
]
print(json.dumps(seen))
"""


def test_the_examples_that_are_used_are_those_that_are_made(in_tensorflow: InTensorFlow) -> None:
    seen = in_tensorflow(PROGRAM)
    five = [[at, at + 1] for at in (100, 108, 116, 124, 132)]
    assert seen["plain"] == [five, 10, [2]], "no batch that is not there"
    assert seen["last"] == [*five, [140, 141]]
    assert [len(batch) for batch in seen["endless"]] == [2] * 9
    numbers = {number for two in [*five, [140, 141]] for number in two}
    assert {number for batch in seen["endless"] for number in batch} <= numbers
    assert (seen["small"], seen["taken"]) == (4, 1)
    assert seen["parted"] == [[108, 109], [116, 117]]
    assert seen["above"] == [[[x + 8 for x in row] for row in five], [2]]
    assert seen["pairs"][1] == [[116, 117, 118, 119], [32, 34, 36, 38]]
    assert [len(x) for x, _ in seen["pairs"]] == [4, 4, 4]
    assert seen["odd"][:2] == [[101, 109], [117, 125]], "a filter sees those that are used"
    assert seen["drawn"] == [2] * 6
    assert seen["options"] is False
    three = [[100, 101, 102] * 2 + [100, 101], [108, 109, 110] * 2 + [108, 109]]
    assert seen["filled"] == [three, [8]]
    assert seen["filled last"] == [8, 8, 8, 8, 8, 2]
    assert seen["whole"] == [True] * 6, "nothing to spare, or not to be parted"
