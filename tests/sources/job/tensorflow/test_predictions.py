"""A prediction of the first batches stands for that of all."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from tpudiag.sources.job.tensorflow import predictions


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
    result, few = short
    assert (few.batches, result["out"].shape) == (100, (1000,))
    assert set(result["out"]) == set(range(1, 41))

    dataset = tf.data.Dataset.range(1000).batch(10, drop_remainder=True)
    short = predictions.predict(tf, plus_one, signature.bind(dataset))
    assert short is not None and short[0]["out"].shape == (1000,)
    endless = dataset.repeat()
    short = predictions.predict(tf, plus_one, signature.bind(endless, steps=50))
    assert short is not None and short[0]["out"].shape == (500,)

    for whole in (array[:100], tf.data.Dataset.range(1000).batch(10)):
        assert predictions.predict(tf, plus_one, signature.bind(whole, 10)) is None
