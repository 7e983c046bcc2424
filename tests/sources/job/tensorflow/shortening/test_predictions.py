"""A prediction of the first batches stands for that of all."""

import inspect
from typing import Any

import pytest

from tpudiag.sources.job.tensorflow.shortening import predictions


def outputs(short: tuple[Any, int, int]) -> Any:
    return short[0]["out"]


def plus_one(x: Any, batch_size: int | None = None, steps: int | None = None) -> Any:
    import numpy as np

    rows = np.concatenate([np.asarray(batch) for batch in x]) if steps or batch_size is None else x
    return {"out": np.asarray(rows) + 1}


@pytest.mark.slow
def test_rows_are_repeated_to_the_length_of_the_data() -> None:
    import numpy as np
    import tensorflow as tf

    signature = inspect.signature(plus_one)
    array = np.arange(1000.0)
    short = predictions.predict(tf, plus_one, signature.bind(array, batch_size=10))
    assert short is not None
    assert (short[2], outputs(short).shape) == (100, (1000,))
    assert set(outputs(short)) == set(range(1, 41))

    dataset = tf.data.Dataset.range(1000).batch(10, drop_remainder=True)
    short = predictions.predict(tf, plus_one, signature.bind(dataset))
    assert short is not None and outputs(short).shape == (1000,)
    endless = dataset.repeat()
    short = predictions.predict(tf, plus_one, signature.bind(endless, steps=50))
    assert short is not None and outputs(short).shape == (500,)
    # of no static batch: as many rows as there are, or as so many steps have
    ragged = tf.data.Dataset.range(995).batch(10).map(tf.identity)
    for given, rows in ((ragged, 995), (ragged.repeat(), 1000)):
        assert predictions.batch_of(tf, given, None) == 10
        short = predictions.predict(tf, plus_one, signature.bind(given, steps=99.2))
        assert short is not None and outputs(short).shape == (rows,)

    for whole in (array[:100], tf.data.Dataset.range(100).batch(10)):
        assert predictions.predict(tf, plus_one, signature.bind(whole, 10)) is None

    # one replica of eight runs; their number is unknown
    unknown = tf.data.Dataset.range(7).flat_map(lambda _: tf.data.Dataset.range(143))  # pyright: ignore
    some = unknown.map(tf.identity).batch(40)
    short = predictions.predict(tf, plus_one, signature.bind(some.prefetch(2)), 1, 8)
    assert short is not None
    assert (short[2], outputs(short).shape) == (26, (1001,))
    assert set(outputs(short)) == {1, 2, 3, 4, 5}
