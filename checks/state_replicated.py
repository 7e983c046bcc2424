from collections.abc import Iterable

from tpudiag.model import Evidence, Finding, Framework, Judgement, Severity, check
from tpudiag.signals import Signals, StepArgument

from ._need import by_library, mib, need

LIMIT = 64 * 2**20
"""Bytes of whole state on each device that are worth a word."""
UNFOLLOWED = 0.1
"""Of the state that each device holds: what lies whole beside arrays of its shape that do not."""
WARNING_SHARE = 0.25
"""Of a device's HBM: from there on the copies are a matter of what fits."""
_SHARED = "others of the same shapes are shared out, and "
_MISSED = "no variable's path matches the layout of '{0.key}', and "
_BY_PARAMETERS = (
    "opt_state = tx.init(params)  # of params that are placed: moments follow them\n"
    "# or by jit: jax.jit(tx.init, out_shardings=...) with the parameters' shardings"
)
_BY_PATHS = "print([v.path for v in model.variables])  # the key is one, or a regular expression"
_BY_KERAS = "keras.distribution.ModelParallel(layout_map=...)  # a LayoutMap of the kernels"
_BY_SHARDING = (
    "sharding = NamedSharding(mesh, P(mesh.axis_names[0]))  # from jax.sharding\n"
    "params = jax.device_put(params, sharding)  # where it divides the first dimension"
)


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
    floats = [each for each in whole if "float" in each.dtype]
    shapes = {each.shape for each in step.state if each.parts > 1}
    at, own = step.location or step.called_at, sum(each.own_bytes for each in step.state)
    beside = _SHARED, _BY_PARAMETERS, at, [each for each in floats if each.shape in shapes]
    missed = (
        (_MISSED.format(k), _BY_PATHS, k.location, [a for a in floats if len(a.shape) == k.rank])
        for k in step.unmatched
    )
    told = [case for case in (*missed, beside) if _bytes(case[-1]) > UNFOLLOWED * own]
    if not told and _bytes(whole) > limit:
        told = [("", by_library(signals, _BY_KERAS, _BY_SHARDING), at, whole)]
    hbm = signals.target.hardware.usable_hbm_bytes if signals.target is not None else None
    for why, fix, location, arrays in told:
        size = _bytes(arrays)
        saved = size - size // step.devices
        matters = why or (hbm and size > WARNING_SHARE * hbm)
        yield Finding(
            f"{why}each of {step.devices} devices holds all of {mib(size)} of state; shared out "
            f"over them it would take {mib(saved)} less on each.",
            fix,
            (
                Evidence("arrays that lie whole on each device", len(arrays), "arrays"),
                Evidence("largest", str(max(arrays, key=lambda each: each.bytes))),
            ),
            location,
            severity=Severity.WARNING if matters else Severity.INFO,
            cost_bytes=saved,
        )
    yield Evidence("state that each device holds all of", _bytes(whole), "B", int(limit))


def _bytes(arrays: Iterable[StepArgument]) -> int:
    return sum(each.bytes for each in arrays)
