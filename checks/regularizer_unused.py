from tpudiag.model import Evidence, Finding, Judgement, Severity, check
from tpudiag.signals import Signals

from ._loop import numerics_of


@check("TPU513", Severity.WARNING)
def regularizer_unused(signals: Signals) -> Judgement:
    """Layers have a regulariser, but the loss does not include it.

    ## What it sees
    The variables whose gradients the step takes, their regularisers, and whether any term of the
    differentiated loss is computed of variables alone; and calls of tf.compat.v1.get_collection for
    such losses that returned nothing. `fit` adds them itself; a custom loop does not.

    ## Why it costs
    No error: the requested weight decay has no effect, whatever its strength. TensorFlow 2 keeps no
    collections: a requested one is empty.

    ## What to do
    ```python
    loss = tf.nn.compute_average_loss(per_example, global_batch_size=global_batch)
    loss += tf.nn.scale_regularization_loss(tf.add_n(model.losses))
    ```

    ## Source
    https://www.tensorflow.org/tutorials/distribute/custom_training#define_the_loss_function
    """
    unused = numerics_of(signals).unused_regularizer
    if unused is not None:
        how = "; the collection of TensorFlow 1 that is asked for is empty in TensorFlow 2"
        yield Finding(
            f"{unused.variables} trained variables have a regulariser, the first {unused.name}, "
            f"and no term of the loss is theirs{how if unused.empty_collection else ''}.",
            "loss += tf.nn.scale_regularization_loss(tf.add_n(model.losses))",
            (Evidence("regularised variables", unused.variables, "variables"),),
            unused.location,
        )
    number = unused.variables if unused is not None else 0
    yield Evidence("regularisers that are no part of the loss", number, "variables", 0)
