from collections.abc import Iterator

from tpudiag.model import BOTH, Evidence, Finding, Framework, Judgement, Location, Severity, check
from tpudiag.signals import Dispatch, EagerForward, ProfileFacts, Signals

from ._need import by_framework, need, share_of
from ._profile import on_host

FEWEST_PRODUCTS = 16
"""Matrix products outside jax.jit between training steps, of which a few are of no matter."""
FEWEST_PROGRAMS = 16
"""Programs of single operations that are compiled for one line of the loop."""
LIMIT = 0.10
"""Share of a host's trace in ops that run eagerly from Python (XProf's threshold)."""


@check("TPU104", Severity.ERROR, frameworks=BOTH)
def eager_step(signals: Signals, limit: float = LIMIT) -> Judgement:
    """The training step runs outside tf.function, or outside jax.jit.

    ## What it sees
    Gradients taken and strategy.run called, or gradients applied, while executing eagerly,
    compile(run_eagerly=True) and tf.config.run_functions_eagerly(True). In a JAX job, lines between
    training steps that run a model's matrix products one by one, or for which many programs of
    single operations were compiled, as for an update of the parameters. In a profile with steps,
    ops that ran eagerly from Python for more than 10 % of a host's trace.

    ## Why it costs
    TPUStrategy refuses a plain Python step ("does not support pure eager execution"). Where it runs
    at all, every operation is sent to the device separately.

    ## What to do
    ```python
    @tf.function
    def train_step(batch):
        return strategy.run(step, args=(batch,))
    ```

    ## Source
    tensorflow#41074, tensorflow#42603; XProf's overview page (eager ops above 10 %)
    """
    # Without steps the trace may be of start-up, where operations run eagerly by right.
    if signals.dispatch is None and signals.profile and signals.steps:
        yield from _of_profile(signals.profile, limit)
    dispatch = need(signals.dispatch, "a training step")
    if dispatch.eager_steps or dispatch.run_eagerly:
        message, fix, location = _why(signals, dispatch)
        counts = (
            Evidence("eager steps", dispatch.eager_steps, "steps", 0),
            Evidence("steps", dispatch.steps, "steps"),
        )
        # Without a strategy it was not made for a TPU yet, which TPU007 says.
        unplaced = signals.loop is not None and signals.loop.unplaced
        severity = Severity.WARNING if unplaced else None
        yield Finding(message, fix, counts, location, severity=severity)
    if dispatch.eager_forward is not None:
        yield from _model_outside_jit(dispatch.eager_forward)
    yield Evidence("steps in a tf.function", dispatch.steps - dispatch.eager_steps, "steps")


def _why(signals: Signals, dispatch: Dispatch) -> tuple[str, str, Location | None]:
    if signals.framework is Framework.JAX and (dispatch.not_compiled or dispatch.run_eagerly):
        return _of_keras_on_jax(dispatch)
    return by_framework(signals, _cause, _of_jax)(dispatch)


def _of_keras_on_jax(dispatch: Dispatch) -> tuple[str, str, Location | None]:
    """Keras compiles no step that is to be run eagerly, and none with certain layers."""
    if dispatch.run_eagerly:
        fix = "model.compile(..., run_eagerly=False)"
        return "the model was compiled with run_eagerly=True.", fix, dispatch.eager_location
    return (
        f"Keras compiles no step of a model with {' and '.join(dispatch.not_compiled)}: every "
        "operation is sent to the device by itself.",
        "augment = keras.Sequential([...])  # these layers, and not in the model\n"
        "dataset = dataset.map(lambda x, y: (augment(x, training=True), y), tf.data.AUTOTUNE)",
        dispatch.eager_location,
    )


def _cause(dispatch: Dispatch) -> tuple[str, str, Location | None]:
    # Keras may report run_eagerly as well where tf.config set it: the line of that switch is the
    # cause then.
    if dispatch.made_eager_at is None and dispatch.run_eagerly:
        fix = "model.compile(..., run_eagerly=False)\ntf.config.run_functions_eagerly(False)"
        return "the model was compiled with run_eagerly=True.", fix, dispatch.compiled_at
    if dispatch.made_eager_at is not None:
        return (
            "tf.config.run_functions_eagerly(True) makes every tf.function run eagerly.",
            "tf.config.run_functions_eagerly(False)  # or leave it out: False is the default",
            dispatch.made_eager_at,
        )
    return (
        "the training step runs eagerly, operation by operation: TPUStrategy.run needs a "
        "tf.function around it.",
        "@tf.function\ndef train_step(batch):\n    return strategy.run(step, args=(batch,))",
        dispatch.eager_location,
    )


def _of_jax(dispatch: Dispatch) -> tuple[str, str, Location | None]:
    return (
        "gradients are taken outside jax.jit: every operation is sent to the device by itself.",
        "@jax.jit\ndef train_step(params, opt_state, batch):\n"
        "    loss, gradients = jax.value_and_grad(loss_fn)(params, batch)\n    ...",
        dispatch.eager_location,
    )


def _model_outside_jit(eager: EagerForward) -> Judgement:
    """A model that is called as it is, between training steps: for an evaluation, most often."""
    seen = Evidence("products outside jax.jit", eager.products, "products", FEWEST_PRODUCTS)
    if eager.products >= FEWEST_PRODUCTS:
        yield Finding(
            "this line calls a model outside jax.jit: each of its operations is dispatched, and "
            f"compiled for each new shape, by itself ({eager.operations} of them beside "
            f"{eager.steps} training steps, {eager.products} of them products).",
            "@jax.jit\ndef loss_and_gradients(params, x, y):  # whatever calls the model\n"
            "    return jax.value_and_grad(loss_fn)(params, x, y)",
            (seen, Evidence("operations", eager.operations, "operations")),
            eager.location,
            # Of a picture now and then it is no matter; of more than a product a step it is.
            severity=Severity.WARNING if eager.products >= eager.steps else Severity.INFO,
        )
    elif eager.programs >= FEWEST_PROGRAMS:
        yield Finding(
            f"this line of the loop runs outside jax.jit: JAX compiled {eager.programs} programs "
            "of single operations for it, and each one is dispatched by itself.",
            "@jax.jit\ndef train_step(params, opt_state, batch):  # with the update in it\n"
            "    loss, gradients = jax.value_and_grad(loss_fn)(params, batch)\n"
            "    updates, opt_state = optimizer.update(gradients, opt_state, params)\n"
            "    return optax.apply_updates(params, updates), opt_state, loss",
            (Evidence("programs of operations", eager.programs, "programs", FEWEST_PROGRAMS),),
            eager.location,
            severity=Severity.WARNING,
        )
    yield seen


def _of_profile(profile: ProfileFacts, limit: float) -> Iterator[Finding]:
    """What a profile can prove: that many ops ran eagerly, never that the step did not."""
    share = profile.eager_share or 0.0
    if share <= limit:
        return
    longest = sorted(profile.eager_ops or (), key=lambda op: -op.ms)
    yield Finding(
        f"ops that Python runs one by one take {share:.0%} of the trace, beside the steps.",
        "@tf.function\ndef train_step(batch):\n    return strategy.run(step, args=(batch,))",
        (
            share_of("eager ops", share, "% of the trace", limit, profile.source),
            *on_host(profile, longest),
        ),
        severity=Severity.WARNING,
    )
