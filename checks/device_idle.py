from tpudiag.model import BOTH, Evidence, Finding, Judgement, NotMeasured, Severity, check
from tpudiag.signals import Signals

from ._need import by_framework, share_of
from ._profile import HOST_MEMORY, ms_per_step, replicas_of, share, whole_trace

LIMIT = 0.10
"""Share of step time in which a device does nothing and nothing is known to hold it up (XProf)."""
_FIXES = (
    "model.compile(..., steps_per_execution=50)  # or a tf.range loop in the tf.function",
    "state, losses = jax.lax.scan(train_step, state, batches)  # several steps in one dispatch",
)
_ALL_DEVICES = (
    "strategy = tf.distribute.TPUStrategy(resolver)  # all cores: no device_assignment",
    "mesh = jax.sharding.Mesh(jax.devices(), ('data',))  # all devices",
)
# Such waits count as running in a trace: without a limit of their own a chip would pass that works
# as little as an idle one.
HOST_BOUND = 0.5
"""Share of step time in waits for host memory from which a running program does not work."""


@check("TPU406", Severity.WARNING, frameworks=BOTH)
def device_idle(signals: Signals, limit: float = LIMIT) -> Judgement:
    """The device idles within the step.

    ## What it sees
    In a profile, the part of each step in which a device runs no program, without the waits for
    input, transfers and compilation, which have checks of their own. Also devices that ran no
    program at all while others trained.

    ## Why it costs
    The chip is paid for and idle: the host is late with the next dispatch, a callback or a
    summary runs between steps, or one step is too short to be worth a dispatch.

    ## What to do
    ```python
    model.compile(..., steps_per_execution=50)    # several steps in one dispatch
    if step % 100 == 0:
        float(loss)                               # fetch results rarely
    ```

    ## Source
    XProf's smart suggestions (TensorCore idle above 10 %)
    """
    profile, replicas = replicas_of(signals)
    idle = share(replicas, "idle")
    evidence = share_of("idle", idle, "% of step time", limit, profile.source)
    if idle > limit:
        yield Finding(
            f"the devices idle {idle:.0%} of the step, waiting for neither input nor a transfer.",
            by_framework(signals, *_FIXES),
            (evidence,),
            cost_ms_per_step=ms_per_step(replicas, "idle"),
        )
    silent = (d for d in profile.devices if not d.busy_ms and d.ops_share is None)
    without_work = [f"{device.host} {device.name}" for device in silent]
    count = Evidence("devices that ran nothing", len(without_work), "devices", 0, profile.source)
    if without_work:
        named = ", ".join(without_work[:3]) + (", ..." if len(without_work) > 3 else "")
        yield Finding(
            f"{len(without_work)} of {len(profile.devices)} devices ran nothing while the others "
            f"trained: {named}.",
            by_framework(signals, *_ALL_DEVICES),
            (count,),
        )
    if idle <= limit and not without_work:
        whole_trace(profile)  # without its operations it is unknown whether a program only waits
        offload = share(replicas, HOST_MEMORY)
        if offload >= HOST_BOUND:
            raise NotMeasured(
                f"programs run, but wait {offload:.0%} of the step for host memory: the devices "
                "work no more than if they were idle",
                "mend that first (TPU210), then record again",
            )
    yield evidence
    yield count
    yield Evidence("replicas", len(replicas), "replicas", source=profile.source)
