from tpudiag.model import Evidence, Finding, Framework, Judgement, Severity, check
from tpudiag.signals import ShardedStep, Signals, StepArgument

from ._need import by_library, mib, need

LIMIT = 64 * 2**20
"""Bytes of whole state on each device that are worth a word."""
UNFOLLOWED = 0.1
"""Of the state that each device holds: what lies whole beside arrays of its shape that do not."""
WARNING_SHARE = 0.25
"""Of a device's HBM: from there on the copies are a matter of what fits."""


@check("TPU703", Severity.WARNING, frameworks=(Framework.JAX,))
def state_replicated(signals: Signals, limit: float = LIMIT) -> Judgement:
    """Each device keeps all of the parameters and of the optimizer's moments.

    ## What it sees
    The arrays that go from one step to the next, and how many devices hold the whole of each.
    Copies of 64 MiB are reported, those of a quarter of the HBM are a warning; and so are, of any
    size, moments that each device holds whole although the parameters of their shape are sharded.

    ## Why it costs
    HBM that a larger batch or model could use: sharded over the devices, each keeps its part, and
    XLA gathers a layer's parameters when it reaches the layer (FSDP, ZeRO). That costs collectives,
    so it is worth it only if HBM is short.

    ## What to do
    ```python
    sharding = NamedSharding(mesh, P("data"))     # of arrays whose first dimension it divides
    params = jax.device_put(params, sharding)     # before tx.init: moments follow the parameters
    ```

    ## Source
    https://docs.jax.dev/en/latest/notebooks/Distributed_arrays_and_automatic_parallelization.html
    """
    step = need(signals.sharding, "a training step of jax.jit")
    if step.devices < 2 or step.mapped or not step.state:
        need(None, "state on several devices that jax.jit shares out")
    whole = [each for each in step.state if each.parts == 1]
    size = sum(each.bytes for each in whole)
    hbm = signals.target.hardware.usable_hbm_bytes if signals.target is not None else None
    seen = Evidence("state that each device holds all of", size, "B", int(limit))
    parted = {each.shape for each in step.state if each.parts > 1 and "float" in each.dtype}
    beside = [each for each in whole if each.shape in parted and "float" in each.dtype]
    own = sum(each.own_bytes for each in step.state)
    if sum(each.bytes for each in beside) > UNFOLLOWED * own:
        yield _unfollowed(step, beside, own)
    elif size > limit:
        largest = max(whole, key=lambda each: each.bytes)
        saved = size - size // step.devices
        yield Finding(
            f"each of {step.devices} devices holds all of {mib(size)} of state; shared out over "
            f"them it would take {mib(saved)} less on each.",
            by_library(
                signals,
                "keras.distribution.ModelParallel(layout_map=...)  # a LayoutMap of the kernels",
                "sharding = NamedSharding(mesh, P(mesh.axis_names[0]))  # from jax.sharding\n"
                "params = jax.device_put(params, sharding)  # where it divides the first dimension",
            ),
            (seen, Evidence("largest", str(largest))),
            step.location,
            severity=Severity.WARNING if hbm and size > WARNING_SHARE * hbm else Severity.INFO,
            cost_bytes=saved,
        )
    yield seen


def _unfollowed(step: ShardedStep, beside: list[StepArgument], own: int) -> Finding:
    """Arrays that lie whole on each device, where others of their shape are shared out."""
    size = sum(each.bytes for each in beside)
    saved = size - size // step.devices
    largest = max(beside, key=lambda each: each.bytes)
    return Finding(
        f"{len(beside)} arrays of the state ({mib(size)}) lie whole on each of {step.devices} "
        f"devices, where others of the same shapes are shared out: {size / own:.0%} of what each "
        "device holds of the state.",
        "opt_state = tx.init(params)  # of params that are placed: moments follow them\n"
        "# or by jit: jax.jit(tx.init, out_shardings=...) with the parameters' shardings",
        (
            Evidence("whole beside shared out", size, "B", int(UNFOLLOWED * own)),
            Evidence("largest", str(largest)),
            Evidence("saved on each device", saved, "B"),
        ),
        step.location,
        severity=Severity.WARNING,
        cost_bytes=saved,
    )
