from tpudiag.model import BOTH, Evidence, Finding, Judgement, Severity, check
from tpudiag.signals import Signals

from ._loop import numerics_of
from ._need import by_framework, need

_SCORES = "SparseCategoricalCrossentropy(from_logits=True)  # or an activation in the last layer"


@check("TPU516", Severity.WARNING, frameworks=BOTH)
def activation_and_loss(signals: Signals) -> Judgement:
    """The last layer's activation does not fit the loss or a metric: softmax twice, or none.

    ## What it sees
    Behind the differentiated loss: a cross-entropy on scores (`from_logits=True`, tf.nn's
    `..._with_logits`, in JAX a log_softmax or log_sigmoid) whose scores are the output of a softmax
    or sigmoid, or one on probabilities (Keras' default), cut to (0, 1), of a layer without an
    activation. Keras' metrics, of TensorFlow, with thresholds between 0 and 1 (AUC, Precision,
    Recall, BinaryAccuracy) that are given such scores.

    ## Why it costs
    No error, and the loss falls, slowly. A softmax of a softmax is almost flat: its gradient is a
    fraction, and no class gets a probability near 1. Scores that are taken for probabilities are
    cut to (0, 1): those outside have no gradient at all. A metric of them is a wrong figure, by
    which an epoch is chosen or training stopped.

    ## What to do
    ```python
    outputs = tf.keras.layers.Dense(classes, dtype="float32")(x)  # scores
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    ```

    ## Source
    https://www.tensorflow.org/api_docs/python/tf/keras/losses/SparseCategoricalCrossentropy
    """
    numerics = numerics_of(signals)
    for metric in signals.loop.metrics_on_scores if signals.loop is not None else ():
        yield Finding(
            f"the metric {metric.name} takes probabilities, and is given scores, of a layer "
            "without an activation: it compares them with thresholds between 0 and 1.",
            "metric.update_state(labels, keras.activations.sigmoid(logits))\n"
            "# or AUC(from_logits=True), BinaryAccuracy(threshold=0.0)",
            (Evidence("activation of the last layer", "none"),),
            metric.location,
        )
    need(numerics.cross_entropies or None, "a cross-entropy of Keras, tf.nn or JAX behind the loss")
    from_logits = by_framework(signals, "tf.keras.losses.", "keras.losses.") + _SCORES
    for each in numerics.loss_inputs:
        twice = each.wants == "scores"
        yield Finding(
            f"The loss takes the output of a {each.activation} for scores: it applies another one."
            if twice
            else "The loss takes scores, of a layer without an activation, for probabilities.",
            f"Dense(classes)  # without {each.activation}; or a loss of probabilities"
            if twice
            else from_logits,
            (Evidence("activation of the last layer", each.activation, limit=None),),
            each.location,
        )
    yield Evidence("losses on another kind of output", len(numerics.loss_inputs), "losses", 0)
    yield Evidence("cross-entropies", numerics.cross_entropies, "losses")
