from collections.abc import Iterator, Sequence

from tpudiag.model import (
    BOTH,
    Confidence,
    Evidence,
    Finding,
    Judgement,
    NotMeasured,
    Severity,
    check,
)
from tpudiag.prediction.step import PredictedStep
from tpudiag.signals import Origin, ProfileFacts, ReplicaSteps, ShardedStep, Signals

from ._need import ON_THE_TPU, by_framework, mib, need, percent, recomputed, share_of
from ._predicted import as_predicted, predicted_step, transfer_ms
from ._profile import HOST_MEMORY, INPUT, longest, ms_per_step, replicas_of, share, whole_trace

LIMIT = 0.05
"""Share of step time in which the device waits for a transfer from the host."""
SEND_LESS = "dataset = dataset.map(lambda x, y: (tf.cast(x, tf.uint8), y))  # cast in the step"
SEND_LESS_OF_JAX = (
    "x = x.astype('uint8')  # on the host; in the step: x.astype(jnp.bfloat16) / 255\n"
    "batch = jax.device_put(next(batches), sharding)  # the next one, while this step runs"
)
RESENT = 2**20
"""Bytes of the same NumPy array at each call that are no matter."""
EACH_STEP = 0.9
"""Share of the steps before which an array is sent, from which on that is each step."""
PARTS = ("host to device", "input transfer", HOST_MEMORY)


@check("TPU210", Severity.WARNING, frameworks=BOTH)
def slow_host_to_device(signals: Signals, limit: float = LIMIT) -> Judgement:
    """The step waits for data on its way from the host to the device.

    ## What it sees
    In a profile, the part of each step in which a device does nothing while the host transfers to a
    device, or in which an infeed waits although the host's pipeline has delivered; and the copies
    from and to host memory (`copy-done` with memory space `S(5)`) that the program waits for, if it
    keeps tensors there. Before there is a TPU: the bytes of a replica's batch over the host's link,
    compared with the predicted step; and in a JAX job NumPy arrays that are the same at each call.

    ## Why it costs
    The input is ready and the chip still waits: the batch is large for the link, or is sent only on
    demand.

    ## What to do
    Send less, and ahead of time: small types, cast and augment on the device, prefetch.
    ```python
    dataset = dataset.map(lambda x, y: (tf.cast(x, tf.uint8), y))   # cast to bfloat16 in the step
    options = tf.distribute.InputOptions(experimental_fetch_to_device=True)
    strategy.experimental_distribute_dataset(dataset, options)
    ```

    ## Source
    XProf's smart suggestions (data transfer), input pipeline analysis (5 % of step time)
    """
    if signals.sharding is not None:
        yield from _resent(signals.sharding)
    if signals.origin is Origin.REHEARSAL and (step := predicted_step(signals)) is not None:
        yield from _as_predicted(signals, step, limit)
        return
    profile, replicas = replicas_of(signals)
    names = {part.name for replica in replicas for part in replica.parts}
    if not names & set(PARTS):
        raise NotMeasured("no transfer to a device was traced", ON_THE_TPU)
    waits, offload = share(replicas, *PARTS), share(replicas, HOST_MEMORY)
    unit = "% of step time"
    evidence = share_of("waits for transfers", waits, unit, limit, profile.source)
    if offload >= max(limit, waits / 2):
        yield _offloaded(profile, replicas, evidence, signals)
    elif waits >= limit:
        yield Finding(
            f"the step waits {waits:.0%} of its time for transfers from host to device.",
            SEND_LESS,
            (evidence,),
            cost_ms_per_step=ms_per_step(replicas, *PARTS),
        )
    else:
        whole_trace(profile)
        unsplit = share(replicas, INPUT[0])
        if names & set(PARTS) == {HOST_MEMORY} or waits + unsplit >= limit:
            # Counted against a pass, and never for a finding: it may be the one or the other.
            why = f"an infeed waits {unsplit:.0%}, for the pipeline or for the link"
            raise NotMeasured(
                f"the step waits {waits:.1%} of its time for transfers that were traced; "
                f"{why if unsplit else 'that of input was not traced'}",
                ON_THE_TPU,
            )
    yield evidence


def _resent(step: ShardedStep) -> Iterator[Finding]:
    same = [each for each in step.arguments if each.resent]
    size = sum(each.bytes for each in same)
    if size > RESENT:
        name = same[0].name.partition("[")[0]
        yield Finding(
            f"{step.function} gets {same[0].name} as the same NumPy array at each call: "
            f"{mib(size)} go from the host to the device each time.",
            f"{name} = jax.device_put({name}, sharding)  # once, before the loop",
            (Evidence("the same at each call", size, "B", RESENT),),
            step.called_at or step.location,
        )
    for sent in step.sent_again:
        if sent.bytes > RESENT and sent.steps >= EACH_STEP * (sent.of_steps - 1):
            yield Finding(
                f"this line sends the same NumPy array ({mib(sent.bytes)}) from the host to the "
                f"devices before {sent.steps} of {sent.of_steps} steps.",
                "table = jax.device_put(table, sharding)  # once, before the loop",
                (Evidence("the same before each step", sent.bytes, "B", RESENT),),
                sent.location,
            )


def _as_predicted(signals: Signals, step: PredictedStep, limit: float) -> Judgement:
    """The batch over the link: longer than the step, or next to nothing of it."""
    transfer = need(transfer_ms(signals), "the size of a replica's batch", ON_THE_TPU)
    sent = as_predicted("a replica's batch over the host's link", transfer)
    evidence = (sent, as_predicted("predicted step", step.ms))
    if transfer.low > step.ms.high:
        yield Finding(
            f"a replica's batch needs {sent.value} ms from host to device, predicted, and the step "
            "is shorter: it waits for the link.",
            by_framework(signals, SEND_LESS, SEND_LESS_OF_JAX),
            evidence,
            confidence=Confidence.MEDIUM,
        )
    elif transfer.high <= limit * step.ms.low:
        yield from evidence
    else:
        raise NotMeasured(
            f"a replica's batch needs {sent.value} ms from host to device, predicted: whether the "
            "step hides it is seen on the TPU alone",
            ON_THE_TPU,
        )


def _offloaded(
    profile: ProfileFacts, replicas: Sequence[ReplicaSteps], evidence: Evidence, signals: Signals
) -> Finding:
    offload = share(replicas, HOST_MEMORY)
    copies, times = longest(profile, HOST_MEMORY)
    return Finding(
        f"the step waits {offload:.0%} of its time for copies between HBM and "
        "the host's memory, where the program keeps tensors (host offload).",
        "keep in HBM what every step reads: a smaller batch, bfloat16, or recomputation instead:\n"
        + recomputed(signals),
        (
            evidence,
            Evidence(
                "of them for host memory", percent(offload), "% of step time", source=profile.source
            ),
            *times,
        ),
        next((op.location for op in copies if op.location), None),
        cost_ms_per_step=ms_per_step(replicas, HOST_MEMORY),
    )
