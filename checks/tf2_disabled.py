from tpudiag.installs import words
from tpudiag.model import Evidence, Finding, Judgement, Severity, check
from tpudiag.signals import Signals, Tf1Use

from ._need import need

_FIXES = {
    "Session": "run the step in a @tf.function; eager code needs no session",
    "InteractiveSession": "run the step in a @tf.function; eager code needs no session",
    "placeholder": "pass the value as an argument of a @tf.function with an input_signature",
    "ConfigProto": "delete it with the session that it configures",
    "TPUClusterResolver": "tf.distribute.cluster_resolver.TPUClusterResolver(tpu=...)",
    "initialize_tpu_system": "tf.tpu.experimental.initialize_tpu_system(resolver)",
    "TPUStrategy": "tf.distribute.TPUStrategy(resolver)",
    "TPUEstimator": "model.fit or a custom loop under tf.distribute.TPUStrategy",
    "keras_to_tpu_model": "build and compile the model in tf.distribute.TPUStrategy's scope()",
}
_MOVED = {
    "logging": "tf.compat.v1.logging, tf.get_logger() or absl.logging has {}",
    "flags": "absl.flags has {}",
    "app": "absl.app has {}",
    "gfile": "tf.io.gfile has its successor",
}
_OF_SESSIONS = ("Session", "InteractiveSession", "ConfigProto")
_ESTIMATOR = "Estimator is gone: model.fit or a custom loop under tf.distribute.TPUStrategy"
_CONTRIB = "tf.contrib is gone: look up what took the place of {} (tf.*, tf.keras, TF Addons)"
_OTHER = "delete the use of {}, or look up its successor"


@check("TPU001", Severity.ERROR)
def tf2_disabled(signals: Signals) -> Judgement:
    """TensorFlow 2 is switched off, or TensorFlow 1 interfaces are used.

    ## What it sees
    The version of TensorFlow, whether v2 behaviour and eager execution are on after the job has
    run, and each call of sessions, placeholders and tf.compat.v1 switches by the job's own code.

    ## Why it costs
    TPUStrategy needs TensorFlow 2 behaviour. With it off, tf.function, Keras and tf.data take paths
    that the TPU runtime no longer supports. Estimators no longer exist since 2.16.

    ## What to do
    Delete the switch; write the step as a @tf.function under TPUStrategy:
    ```python
    @tf.function
    def train_step(batch):
        return strategy.run(step, args=(batch,))
    ```

    ## Source
    https://www.tensorflow.org/guide/migrate
    """
    uses = signals.tf1 or ()
    # What trained ran eagerly or as a tf.function, beside the session.
    seen = signals.tensorflow
    trained = signals.step_inputs is not None and bool(seen and seen.eager)
    yield from (_used(use, trained) for use in uses)
    seen = need(seen, "TensorFlow's import")
    if not seen.succeeded:
        need(None, "TensorFlow's behaviour (its import failed: see TPU002)")
    version = seen.version or "unknown"
    if version.split(".")[0] in ("0", "1"):
        yield Finding(
            f"TensorFlow {version} is TensorFlow 1.",
            words.INSTALL,
            (Evidence("tensorflow", version, limit="2.0", source="job"),),
        )
    switches = {"v2 behaviour": seen.tf2_behavior, "eager execution": seen.eager}
    what = " and ".join(name for name, on in switches.items() if on is False)
    # The call that switched it off is a finding already.
    if what and not uses:
        yield Finding(
            f"{what} is switched off.",
            "delete tf.compat.v1.disable_v2_behavior() / disable_eager_execution() and the "
            "environment variable TF2_BEHAVIOR=0",
            (Evidence("switched off", what),),
        )
    yield Evidence("tensorflow", version)
    if seen.eager is not None:
        yield Evidence("eager execution", seen.eager)


def _used(use: Tf1Use, trained: bool) -> Finding:
    name = use.api.rpartition(".")[2]
    idle = trained and name in _OF_SESSIONS and use.api.startswith("tf.compat.v1.")
    module = use.api.split(".")[1:-1]
    other = _CONTRIB if "contrib" in module else _MOVED.get(module[0] if module else "", _OTHER)
    return Finding(
        f"{use.api} is a TensorFlow 1 interface.",
        _ESTIMATOR if "estimator" in module else _FIXES.get(name, other.format(name)),
        (Evidence("interface", use.api),),
        use.location,
        severity=Severity.INFO if idle else None,
    )
