from tpudiag.model import Evidence, Finding, Framework, Judgement, Severity, check
from tpudiag.signals import ShardedStep, Signals, StepArgument, UnmatchedLayout

from ._need import by_library, mib, need

LIMIT = 64 * 2**20
"""Bytes of whole state on each device that are worth a word."""
UNFOLLOWED = 0.1
"""Of the state that each device holds: what lies whole beside arrays of its shape that do not."""
WARNING_SHARE = 0.25
"""Of a device's HBM: from there on the copies are a matter of what fits."""
_SHARED = "others of the same shapes are shared out"
_BY_PARAMETERS = (
    "opt_state = tx.init(params)  # of params that are placed: moments follow them\n"
    "# or by jit: jax.jit(tx.init, out_shardings=...) with the parameters' shardings"
)
_BY_PATHS = "print([v.path for v in model.variables])  # the key is one, or a regular expression"


@check("TPU703", Severity.WARNING, frameworks=(Framework.JAX,))
def state_replicated(signals: Signals, limit: float = LIMIT) -> Judgement:
    """Each device keeps all of the parameters and of the optimizer's moments.

    ## What it sees
    The arrays that go from one step to the next, and how many devices hold the whole of each.
    Copies of 64 MiB are reported, those of a quarter of the HBM are a warning; and so are, of any
    size, moments that each device holds whole although the parameters of their shape are sharded,
    and keys of a LayoutMap of Keras' that match no variable.

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
    own, at = sum(each.own_bytes for each in step.state), step.location or step.called_at
    beside = [*filter(None, (_beside(step, whole, own, key) for key in (*step.unmatched, None)))]
    yield from beside
    if size > limit and not beside:
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
            at,
            severity=Severity.WARNING if hbm and size > WARNING_SHARE * hbm else Severity.INFO,
            cost_bytes=saved,
        )
    yield seen


def _beside(
    step: ShardedStep, whole: list[StepArgument], own: int, missed: UnmatchedLayout | None
) -> Finding | None:
    """Arrays that lie whole on each device, and were to be shared out as others of the shape are,
    or as a layout says that no variable matches.
    """
    shapes = {each.shape for each in step.state if each.parts > 1}
    found = [
        each
        for each in whole
        if "float" in each.dtype
        and (len(each.shape) == missed.rank if missed is not None else each.shape in shapes)
    ]
    size = sum(each.bytes for each in found)
    if size <= UNFOLLOWED * own:
        return None
    saved = size - size // step.devices
    why = f"no variable's path matches {missed.key!r}" if missed is not None else _SHARED
    return Finding(
        f"{why}: {len(found)} arrays of the state ({mib(size)}) lie whole on each of "
        f"{step.devices} devices, {size / own:.0%} of what each holds of the state.",
        _BY_PATHS if missed is not None else _BY_PARAMETERS,
        (
            Evidence("whole", size, "B", int(UNFOLLOWED * own)),
            Evidence("largest", str(max(found, key=lambda each: each.bytes))),
            Evidence("saved on each device", saved, "B"),
        ),
        missed.location if missed is not None else step.location or step.called_at,
        severity=Severity.WARNING,
        cost_bytes=saved,
    )
