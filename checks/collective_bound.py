from collections.abc import Sequence

from tpudiag.compiled import Collective, Compilation, Program
from tpudiag.model import BOTH, Evidence, Finding, Judgement, NotMeasured, Severity, check
from tpudiag.prediction.times import Bound
from tpudiag.signals import ProfileFacts, ReplicaSteps, Signals

from ._compiler import fits_at, program_of
from ._need import ON_THE_TPU, by_framework, share_of, two_numbers
from ._predicted import ranged
from ._profile import longest, ms_per_step, replicas_of, share, whole_trace
from .batch_multiple import LIMIT as TILE
from .batch_multiple import up

LIMIT = 0.06
"""Share of step time in collectives worth a word (XProf's all-reduce threshold)."""
SHORTEST_MS = 0.5
"""Of a step that is predicted to compute for less, what starts and ends each collective counts
more than its bytes."""
WARNING_LIMIT, ERROR_LIMIT = 0.15, 0.30
SHARDY = 0, 7
"""The first JAX whose programs Shardy partitions: an older one has an older compiler, too."""
_FEWER = "dataset = dataset.batch(2 * global_batch, drop_remainder=True)  # fewer exchanges"
_FEWER_OF_JAX = "take a larger batch on each device: fewer exchanges for as many examples"
_KEEP_SHARDED = (
    "# most bytes bring a sharded array together, or share it out anew: let it keep its sharding\n"
    "x = jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P('data')))  # after each lookup, "
    "reshape or transpose\n"
    "# parameters that are gathered for use (FSDP): a larger batch makes it fewer times an example"
)
ALONE = "one replica exchanges nothing", "check for a slice of several replicas, or profile one"


@check("TPU504", Severity.WARNING, frameworks=BOTH)
def collective_bound(signals: Signals, limit: float = LIMIT) -> Judgement:
    """Collectives take too much of the step.

    ## What it sees
    Without a TPU, a prediction: the bytes of the collectives in the program that the TPU compiler
    makes for the whole slice, over its links from best to worst, compared with the predicted rest
    of the step. It fails or passes only if both ends of the range agree. In a profile, the time of
    each step in all-reduce, all-gather, reduce-scatter, all-to-all and collective-permute
    operations that no computation hides, and the longest of them. A slower replica makes the others
    wait in the same operations: look at TPU503 first.

    ## Why it costs
    The MXU is idle meanwhile. 6 % is reported, 15 % is a warning, 30 % an error.

    ## What to do
    A larger per-replica batch makes fewer gradient exchanges for each example; 16-bit gradients
    halve them:
    ```python
    tf.distribute.TPUStrategy(resolver)           # one strategy over the whole slice
    dataset = dataset.batch(2 * global_batch, drop_remainder=True)
    ```

    ## Source
    XProf: all-reduce above 6 %, collectives above 15 %, smart suggestion above 30 %
    """
    alone = signals.target is not None and signals.target.replicas == 1
    if alone and signals.profile is None:
        raise NotMeasured(*ALONE)
    compiled = program_of(signals)
    if compiled is not None:
        yield from _compiled(signals, *compiled, limit)
        return
    profile, replicas = replicas_of(signals)
    # Hosts that could not be read may hold the others.
    if alone and not profile.unread:
        raise NotMeasured(*ALONE)
    spent = share(replicas, "collectives")
    evidence = share_of("collectives", spent, "% of step time", limit, profile.source)
    if spent >= limit:
        yield _profiled(signals, profile, replicas, evidence)
    else:
        whole_trace(profile)
    yield evidence


def _severity(share: float) -> Severity:
    if share >= ERROR_LIMIT:
        return Severity.ERROR
    return Severity.WARNING if share >= WARNING_LIMIT else Severity.INFO


def _fix(signals: Signals, collectives: Sequence[Collective]) -> str:
    """By what is exchanged: gradients, or an array that loses its sharding within a JAX step."""
    most = max(collectives, key=lambda each: each.bytes)
    of_gradients = most.kind in ("all-reduce", "reduce-scatter")
    fewer = _fewer(signals)
    return by_framework(signals, fewer, fewer if of_gradients else _KEEP_SHARDED)


def _fewer(signals: Signals) -> str:
    """A larger batch, by the rule of TPU401 where the batch is known."""
    batch = signals.batch
    if batch is not None:
        larger = up(2 * batch.global_batch, TILE * batch.replicas)
        if fits_at(signals, larger // batch.replicas) is not False:
            return f"global_batch = {larger}  # fewer exchanges for as many examples"
    return by_framework(signals, _FEWER, _FEWER_OF_JAX)


def _profiled(
    signals: Signals, profile: ProfileFacts, replicas: Sequence[ReplicaSteps], evidence: Evidence
) -> Finding:
    collectives, times = longest(profile, "collectives")
    spent = share(replicas, "collectives")
    return Finding(
        f"collectives take {spent:.0%} of the step.",
        _fewer(signals),
        (evidence, *times),
        collectives[0].location if collectives else None,
        severity=_severity(spent),
        cost_ms_per_step=ms_per_step(replicas, "collectives"),
    )


def _compiled(signals: Signals, step: Compilation, program: Program, limit: float) -> Judgement:
    predicted = step.predicted
    if step.replicas == 1 or predicted is None:
        raise NotMeasured(
            f"the compiler's program for {step.target} says nothing of the time of collectives",
            ON_THE_TPU,
        )
    short = f"a step is predicted to compute for {predicted.device_ms.value:.3f} ms"
    if predicted.bound_by is Bound.DISPATCH:
        raise NotMeasured(f"{short}: its dispatch rules it", ON_THE_TPU)
    if predicted.device_ms.value < SHORTEST_MS:
        raise NotMeasured(f"{short}: too short to predict the share of its collectives", ON_THE_TPU)
    spent = predicted.collective_share
    if spent.low < limit <= spent.high:
        raise NotMeasured(
            f"collectives are predicted to take {spent.low:.0%} to {spent.high:.0%} of the step, "
            "on either side of the limit",
            ON_THE_TPU,
        )
    evidence = (
        *ranged("collectives", spent, "% of step time", limit),
        *(
            Evidence(f"{c.count} x {c.kind}", c.bytes, "B", source=step.source)
            for c in program.collectives
        ),
        Evidence("weight update shared out", program.sharded_update, source=step.source),
    )
    if spent.low >= limit:
        versions = signals.environment.distributions if signals.environment is not None else {}
        jax = by_framework(signals, "", versions.get("jax", ""))
        older = bool(jax) and two_numbers(jax) < SHARDY
        doubt = f"; JAX {jax} may share the step out in another way than this compiler"
        yield Finding(
            f"collectives are predicted to take {spent.value:.0%} of the step ({spent.low:.0%} to "
            f"{spent.high:.0%}){doubt * older}.",
            _fix(signals, program.collectives),
            evidence,
            None,
            severity=Severity.INFO if older or spent.low < WARNING_LIMIT else Severity.WARNING,
            cost_ms_per_step=predicted.collective_ms.value,
        )
    yield from evidence
