from tpudiag.model import Evidence, Finding, Framework, Judgement, Severity, check
from tpudiag.signals import Signals

from ._need import mib, need


@check("TPU706", Severity.WARNING, frameworks=(Framework.JAX,))
def gradients_reduced_in_loop(signals: Signals) -> Judgement:
    """Gradients are summed over the devices in each iteration of a loop, not once after it.

    ## What it sees
    psum and pmean in shard_map or jax.pmap within a scan or loop of one training step, of arrays
    that have the shapes of the state. Those of a loop of whole training steps, and of activations,
    are left out.

    ## Why it costs
    A sum over micro-batches is the same before and after the sum over devices: four micro-batches
    send four times the traffic over the links, and each iteration waits for it.

    ## What to do
    ```python
    gradients, _ = jax.lax.scan(one_micro_batch, zeros, micro_batches)   # sums on its own device
    gradients = jax.lax.pmean(gradients, "data")                        # once
    ```

    ## Source
    https://docs.jax.dev/en/latest/notebooks/shard_map.html
    """
    step = need(signals.sharding, "a training step of jax.jit")
    if step.devices < 2:
        need(None, "a step on several devices", "rehearse the job for a slice: `--for v5e-8`")
    loop = step.reduced_in_loop
    if loop is not None:
        yield Finding(
            f"{mib(loop.bytes)} of gradients are summed over {step.devices} devices in each of "
            f"{loop.turns} turns of a loop: {mib(loop.bytes * (loop.turns - 1))} a step more than "
            "once after it.",
            "gradients, _ = jax.lax.scan(one_micro_batch, zeros, micro_batches)\n"
            "gradients = jax.lax.pmean(gradients, axis)  # after the loop",
            (Evidence("summed in a turn", loop.bytes, "B"), Evidence("turns", loop.turns, limit=1)),
            loop.location,
        )
    yield Evidence("sums of gradients in a step", loop.turns if loop is not None else 1, "times", 1)
