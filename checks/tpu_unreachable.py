from tpudiag.installs import words
from tpudiag.installs.state import state_of
from tpudiag.known_errors.model import Phase
from tpudiag.model import Evidence, Finding, Judgement, NotMeasured, Severity, check
from tpudiag.signals import Environment, Signals, TpuAttempt

from ._cloud_tpu import SOURCE, commands, trouble

_CALLS = {
    "resolver": "TPUClusterResolver",
    "connect": "tf.config.experimental_connect_to_cluster",
    "initialize": "tf.tpu.experimental.initialize_tpu_system",
    "strategy": "tf.distribute.TPUStrategy",
}

_UNKNOWN = (
    "check the name, project and zone: `gcloud compute tpus tpu-vm list`; on a TPU VM use --tpu "
    "local; without a TPU use --tpu none"
)
NO_PLATFORM = "no-tpu-platform"
"""The family of errors that say that libtpu offered TensorFlow no TPU."""
_LATER = (Phase.READING, Phase.SAVING, Phase.EXECUTING)
"""What needs a TPU that was reached: an error of these (a download, say) explains no call to it."""
NOT_ASKED = (
    "no TPU was asked for and none was found on this machine",
    "name it: `tpudiag check --tpu NAME`, or `--tpu local` on a TPU VM",
)


@check("TPU003", Severity.ERROR)
def tpu_unreachable(signals: Signals) -> Judgement:
    """A TPU was requested and not reached.

    ## What it sees
    The four calls with which a job reaches its TPU (resolver, connect, initialise, strategy), the
    error of the one that failed, and how long it took or was waited for. With `tpudiag attach --tpu
    NAME`, the Cloud TPU API's state, health and symptoms of the TPU.

    ## Why it costs
    Nothing trains. Some of these calls never return: a closed port or a metadata server that does
    not answer blocks the process until somebody kills it.

    ## What to do
    On a TPU VM pass `tpu="local"` and have a TensorFlow that finds the TPU (`<<tpu_install>>`);
    elsewhere pass the TPU's name, its project and its zone:
    ```python
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
    ```

    ## Source
    tensorflow#70827, colabtools#5203, tensorflow#90807; each failure tried without a TPU.
    """
    node = signals.cloud_tpu
    if node is not None:
        yield from trouble(node)
        # What a TPU passes on: that it is ready, and known to be healthy.
        if node.state == "READY":
            yield Evidence("state", node.state, limit="READY", source=SOURCE)
        if node.health == "HEALTH_UNSPECIFIED":
            raise NotMeasured(
                f"the Cloud TPU API does not tell the health of {node.name}",
                f"`{commands(node)['describe']}`, later",
            )
        yield Evidence("health", node.health, limit="HEALTHY", source=SOURCE)
    attempt = signals.tpu
    # `attach --tpu` asks the API alone: nobody tried to train on it.
    if attempt is None and node is not None:
        return
    if attempt is None:
        raise NotMeasured(*NOT_ASKED)
    call = _CALLS[attempt.phase] if attempt.phase else "looking for the TPU"
    waited = Evidence("waited", round(attempt.waited_s, 1), "s", attempt.limit_s or None, "job")
    if attempt.reached:
        yield Evidence("TPU", attempt.asked or "default")
        yield waited
        return
    cause, fix = _why(attempt, signals.environment)
    error = (attempt.error or "no answer").strip().splitlines()[0][:300]
    yield Finding(
        f"TPU {attempt.asked or '(no name)'} was not reached: {call} failed; {cause}",
        fix,
        (Evidence("error", error), waited),
    )


def _why(attempt: TpuAttempt, environment: Environment | None) -> tuple[str, str]:
    state = state_of(environment) if environment is not None else None
    own = attempt.asked in ("", "local")  # a TPU by name is driven by its own workers
    if state is not None and own and state.drives is False:
        return f"{state}", words.fix(state.ways)
    from tpudiag.known_errors.search import match  # slow to load, and a reached TPU needs none

    known = [hit for hit in match(attempt.error or "") if hit.error.phase not in _LATER]
    if not known:
        return "the call gave no error that is known of it", _UNKNOWN
    found_none = known[0].error.family == NO_PLATFORM
    if state is not None and own and found_none and state.ways:
        return known[0].message, f"{words.fix(state.ways)}\n# if that is not it:\n{known[0].fix}"
    return known[0].message, known[0].fix
