from tpudiag.model import Evidence, Finding, Judgement, Severity, check
from tpudiag.signals import Signals

from ._need import need, of_a_job

LIMIT = 32
"""Uses of one weight in a step. As many as 24 layers may share one; loops over time are longer."""


@check("TPU112", Severity.WARNING)
def unrolled_loop(signals: Signals, limit: float = LIMIT) -> Judgement:
    """A Python loop over time steps or parts is unrolled into the traced step.

    ## What it sees
    The products and convolutions of the traced forward step that read one and the same variable: a
    loop of the graph (tf.while_loop, tf.scan, keras.layers.RNN) has one for all its turns, a loop
    of Python one for each. Layers that differ have weights of their own, however many there are.

    ## Why it costs
    Each turn is traced, differentiated, optimised and compiled by itself: minutes in place of
    seconds before the first step, at each new shape, in a program that may not fit.

    ## What to do
    ```python
    outputs = keras.layers.RNN(cell, return_sequences=True)(inputs)
    states = tf.scan(lambda state, x: cell(state, x), by_time, first_state)
    for t in tf.range(steps):      # within a tf.function: AutoGraph makes a loop of the graph of it
        state = cell(state, inputs[:, t])
    ```

    ## Source
    https://www.tensorflow.org/guide/function#loops (Python loops are unrolled)
    """
    of_a_job(signals, "the products of the step")
    traced = need(signals.matrix_ops, "a traced training step")
    ops = need([op for op in traced if op.forward] or None, "a matrix product in the step")
    most = max(ops, key=lambda op: op.weight_uses)
    evidence = Evidence("products with one weight", most.weight_uses, "products", int(limit))
    if most.weight_uses >= limit:
        size = signals.step_ops.total if signals.step_ops is not None else None
        yield Finding(
            f"a loop of Python is unrolled into the step: {most.weight_uses:,} products in it have "
            "the same weight, one for each turn.",
            "for t in tf.range(steps):  # a loop of the graph, in place of Python's range\n"
            "# or: keras.layers.RNN(cell, return_sequences=True), tf.scan",
            (evidence, *[Evidence("operations of the step", size or 0, "operations")] * bool(size)),
            most.location,
        )
    yield evidence
