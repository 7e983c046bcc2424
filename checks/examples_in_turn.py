from tpudiag.model import Evidence, Finding, Judgement, Severity, check
from tpudiag.signals import Signals

from ._loop import numerics_of
from ._need import need

FEWEST = 16
"""Turns of a loop that are worth a word: as few as a batch of 8 may be heads, or frames."""


@check("TPU409", Severity.WARNING)
def examples_in_turn(signals: Signals, limit: float = FEWEST) -> Judgement:
    """The step computes the examples of its batch one after the other.

    ## What it sees
    In the forward pass of the traced step, a `tf.map_fn` with as many turns as a replica has
    examples. One over something else, as the frames of a video, is left alone.

    ## Why it costs
    XLA makes a loop of it whose turns wait for each other, whatever `parallel_iterations` says.
    Each turn fills one row of the MXU's 128, and so does its backward pass.

    ## What to do
    ```python
    outputs = tf.matmul(features, adjacency)          # batched: no loop
    outputs = tf.vectorized_map(of_one_example, features)
    ```

    ## Source
    https://www.tensorflow.org/api_docs/python/tf/map_fn; /tf/vectorized_map
    """
    maps = numerics_of(signals).serial_maps
    examples = need(signals.batch, "the batch of the step").per_replica_batch
    for each in maps:
        if each.turns == examples >= limit:
            yield Finding(
                f"tf.map_fn computes the {examples:,} examples of a replica one after the other: "
                "a loop of so many turns in each step.",
                "outputs = tf.vectorized_map(of_one_example, inputs)\n"
                "# or operations that take the whole batch: tf.matmul, tf.einsum, tf.gather with "
                "batch_dims=1",
                (Evidence("turns of the loop", each.turns, "turns", int(limit)),),
                each.location,
            )
    yield Evidence("tf.map_fn in the forward pass", len(maps), "loops")
