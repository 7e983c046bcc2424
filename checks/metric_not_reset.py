from tpudiag.model import Evidence, Finding, Judgement, Severity, check
from tpudiag.signals import Signals

from ._loop import loop_of


@check("TPU520", Severity.WARNING)
def metric_not_reset(signals: Signals) -> Judgement:
    """A metric is read epoch after epoch, and never reset.

    ## What it sees
    Keras' metrics that a custom loop reads before and after it resets others that are updated by a
    function of the same kind: one that trains, or one that evaluates. `fit` resets its own. A Sum
    is left out, as that of all examples so far.

    ## Why it costs
    The metric is the mean of all epochs so far and hides what the last one did: early stopping,
    the best model and the author's eye follow a figure that hardly moves.

    ## What to do
    ```python
    for metric in metrics:
        metric.reset_state()    # before each epoch, and each evaluation
    ```

    ## Source
    https://keras.io/guides/writing_a_custom_training_loop_in_tensorflow
    """
    loop = loop_of(signals)
    for metric in loop.kept_metrics:
        yield Finding(
            f"the metric {metric.name} is read {metric.reads} times and never reset, as others "
            "are: it is the mean of all epochs so far.",
            "metric.reset_state()  # before each epoch, and each evaluation",
            (Evidence("reads without a reset", metric.reads, "times", 1),),
            metric.location,
        )
    yield Evidence("metrics that are never reset", len(loop.kept_metrics), "metrics", 0)
