from tpudiag.model import Evidence, Finding, Judgement, Severity, check
from tpudiag.signals import Signals

from ._loop import loop_of, training_call
from ._need import need

_STRATEGY = (
    'resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")\n'
    "tf.config.experimental_connect_to_cluster(resolver)\n"
    "tf.tpu.experimental.initialize_tpu_system(resolver)\n"
    "strategy = tf.distribute.TPUStrategy(resolver)"
)


@check("TPU007", Severity.WARNING)
def gpu_leftover(signals: Signals) -> Judgement:
    """Code made for GPUs decides where the job runs.

    ## What it sees
    `tf.device("/gpu:0")`, GPU memory growth, and GPU strategies (MirroredStrategy and similar) that
    were really created while the TPU was offered, in addition to or in place of a TPUStrategy. Also
    a job that trains with no strategy at all, and names no TPU in `tf.device`.

    ## Why it costs
    On a TPU VM without a TPUStrategy everything runs on the host's CPU while the chips idle at full
    price. A MirroredStrategy finds no GPU there and silently takes that CPU. Operations pinned to a
    GPU fail, or with soft placement leave the TPU at each step.

    ## What to do
    ```python
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    strategy = tf.distribute.TPUStrategy(resolver)
    ```

    ## Source
    https://www.tensorflow.org/guide/tpu#distribution_strategies
    """
    loop = loop_of(signals, fewest=0)
    need(loop.gpu or signals.dispatch, "a training step")
    for use in loop.gpu:
        # Beside a TPUStrategy it is the branch for other machines, which a portable script has by
        # right.
        if use.what.endswith("Strategy") and not loop.tpu_strategy:
            yield Finding(
                f"{use.what} is made and no TPUStrategy is: on a TPU VM the job trains on the "
                "host's CPU.",
                _STRATEGY,
                (Evidence("strategy", use.what, limit="tf.distribute.TPUStrategy"),),
                use.location,
            )
        elif use.what.startswith("tf.device"):
            yield Finding(
                f"{use.what} places operations on a GPU, which a TPU VM does not have.",
                "leave tf.device out: strategy.run places the step on the TPU",
                (Evidence("device", use.what),),
                use.location,
            )
    if loop.unplaced:
        yield Finding(
            "the job trains and makes no strategy: on a TPU VM it trains on the host's CPU.",
            _STRATEGY,
            (Evidence("strategy", "none", limit="tf.distribute.TPUStrategy"),),
            training_call(signals),
        )
    yield Evidence("TPUStrategy made", loop.tpu_strategy)
    yield Evidence("uses of GPUs", len(loop.gpu), "uses")
