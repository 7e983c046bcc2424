from tpudiag.model import Evidence, Finding, Judgement, Severity, check
from tpudiag.signals import Signals

from ._loop import loop_of


@check("TPU519", Severity.ERROR)
def gradients_never_zeroed(signals: Signals) -> Judgement:
    """Accumulated gradients are applied, and never set back to zero.

    ## What it sees
    Variables that gradients are added to while a step is traced, which an optimizer gets as its
    gradients; and whether anything but additions writes to any of them, in a graph or from Python,
    until two steps after the first that applies them. Sums that are applied in a branch of the
    graph are not judged.

    ## Why it costs
    No error: each update adds the gradients of all earlier ones, of weights that are long gone. It
    grows with each step, and training diverges or, under Adam, hardly turns.

    ## What to do
    ```python
    optimizer.apply_gradients(zip(sums, model.trainable_variables))
    for each in sums:
        each.assign(tf.zeros_like(each))        # after each update
    ```

    ## Source
    https://keras.io/api/optimizers (gradient_accumulation_steps)
    """
    endless = loop_of(signals).endless_sum
    count = endless.variables if endless is not None else 0
    seen = Evidence("sums that stay", count, "variables", 0)
    if endless is not None:
        yield Finding(
            f"gradients are added to {endless.variables} variables that the optimizer gets, and "
            "nothing sets them back to zero: each update holds the gradients of all before it.",
            "for each in sums:\n    each.assign(tf.zeros_like(each))  # after apply_gradients\n"
            "# or, in Keras 3: keras.optimizers.Adam(..., gradient_accumulation_steps=steps)",
            (seen,),
            endless.location,
        )
    yield seen
