from tpudiag.installs import words
from tpudiag.installs.state import owner_of
from tpudiag.installs.table import FIRST_SCALING_KERAS
from tpudiag.model import Evidence, Finding, Judgement, Severity, check
from tpudiag.signals import Signals

from ._need import need, of_a_job, two_numbers


@check("TPU005", Severity.ERROR)
def keras_unsupported(signals: Signals) -> Judgement:
    """This Keras is known to break, or to train wrongly, under TPUStrategy.

    ## What it sees
    The Keras that the job trains with, its version, whether `fit` or a custom loop drives it,
    jit_compile, and whether tf-keras is installed if TF_USE_LEGACY_KERAS asks for it.

    ## Why it costs
    Keras 3 before 3.8 does not scale the loss of `fit` by the number of replicas while gradients
    are summed: the update is 8 times too large on 8 replicas, without an error. jit_compile=True
    compiles the step a second time, for the host, inside the TPU program and fails.

    ## What to do
    Keras 3.8 or newer, jit_compile left alone, the model built inside strategy.scope(); or
    tf-keras:
    ```
    <<keras_on_tpu>>
    pip install --no-deps 'tf-keras==<<tpu_minor>>.*'   # beside tensorflow-tpu <<tpu_release>>
    ```

    ## Source
    keras#20609 (fix in 3.8.0; read in the sources of 3.6, 3.7 and 3.8), keras#19005, keras#19448,
    tensorflow#88960.
    """
    of_a_job(signals, "which Keras trains")
    environment = need(signals.environment, "the Python environment")
    if environment.legacy_keras_asked and "tf-keras" not in environment.distributions:
        yield Finding(
            "TF_USE_LEGACY_KERAS is set and tf-keras is not installed.",
            words.tf_keras(environment.distributions.get(owner_of(environment), "")),
            (Evidence("TF_USE_LEGACY_KERAS", "1", source="environment"),),
        )
        return
    keras = need(signals.keras, "a use of Keras")
    version = Evidence(keras.package, keras.version)
    numbers = two_numbers(keras.version)
    is_keras_3 = keras.package == "keras" and numbers >= (3, 0)
    if is_keras_3 and keras.loop == "fit" and numbers < FIRST_SCALING_KERAS:
        yield Finding(
            f"Keras {keras.version} does not scale the loss of fit by the number of replicas.",
            words.KERAS_INSTALL,
            (Evidence("keras", keras.version, limit=".".join(map(str, FIRST_SCALING_KERAS))),),
        )
    if keras.loop == "fit" and keras.jit_compile:
        yield Finding(
            "fit compiles its step with jit_compile=True, which fails under TPUStrategy.",
            "model.compile(..., jit_compile=False)  # TPUStrategy compiles the step itself",
            (Evidence("jit_compile", True, limit=False), version),
        )
    yield version
    yield Evidence("loop", keras.loop)
