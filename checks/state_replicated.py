"""TPU703."""

from __future__ import annotations

from collections.abc import Iterator

from tpudiag.model import Evidence, Finding, Framework, Severity, check
from tpudiag.signals import Signals

from ._need import mib, need

LIMIT = 64 * 2**20
"""Bytes of whole state on each device that are worth a word."""
WARNING_SHARE = 0.25
"""Of a device's HBM: from there on the copies are a matter of what fits."""


@check("TPU703", Severity.WARNING, frameworks=(Framework.JAX,))
def state_replicated(signals: Signals, limit: float = LIMIT) -> Iterator[Finding | Evidence]:
    """Each device keeps all of the parameters and of the optimizer's moments.

    ## What it sees
    The arrays that go from one step to the next, and how many devices hold the whole of each.
    Copies of 64 MiB are told, those of a quarter of the HBM are a warning.

    ## Why it costs
    HBM that a larger batch or model could take: shared out over the devices, each keeps its part,
    and XLA gathers a layer's parameters when it comes to it (FSDP, ZeRO). That costs collectives,
    so it is worth it only where HBM is short.

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
    if size > limit:
        largest = max(whole, key=lambda each: each.bytes)
        saved = size - size // step.devices
        yield Finding(
            f"each of {step.devices} devices holds all of {mib(size)} of state; shared out over "
            f"them it would take {mib(saved)} less on each.",
            "sharding = NamedSharding(mesh, P(mesh.axis_names[0]))  # from jax.sharding\n"
            "params = jax.device_put(params, sharding)  # where it divides the first dimension\n"
            "# Keras: keras.distribution.ModelParallel with a LayoutMap of the kernels",
            (seen, Evidence("largest", f"{largest.name} {largest.dtype}{list(largest.shape)}")),
            step.location,
            severity=Severity.WARNING if hbm and size > WARNING_SHARE * hbm else Severity.INFO,
            cost_bytes=saved,
        )
    yield seen
