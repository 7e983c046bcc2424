import re
from collections.abc import Iterator

from tpudiag.compiled import Compilation, Program
from tpudiag.model import BOTH, Evidence, Finding, Judgement, NotMeasured, Severity, check
from tpudiag.signals import Signals
from tpudiag.signals.profile import DeviceOp

from ._compiler import PREDICTED, program_of
from ._need import ON_THE_TPU, in_bfloat16, mib, need, percent, recomputed, share_of
from ._profile import replicas_of, whole_trace

LIMIT = 0.05
"""Share of the devices' busy time spent in operations that the compiler repeats."""
COPIED = re.compile(r"\.remat\d*(\.|_|$)")
"""In the names of XLA's own copies; the rest was requested by the job."""
AMPLE = 0.9
"""Share of the HBM within which what is recomputed on request could be kept."""
ONCE = 0.34
"""Share of a step's work: all of the forward pass computed once again is a quarter, and of a model
of one layer a third."""
RECOMPUTE_LESS = (
    "recompute fewer layers where HBM is left (TPU301), e.g. every second block:\n"
    "if number % 2:\n    "
)


@check("TPU303", Severity.WARNING, needs_model=True, frameworks=BOTH)
def recomputation(signals: Signals, limit: float = LIMIT) -> Judgement:
    """The compiler recomputes tensors to fit into HBM.

    ## What it sees
    In the program that the TPU compiler makes of the lowered step, its FLOPs per example compared
    with those of a batch a quarter as large, which need not be made to fit; only if the step takes
    more than half of the HBM. In a profile, the operations that XLA's rematerialisation pass copied
    (`.remat` in their names) and those that the job recomputes by its own choice
    (`rematted_computation` in their framework op), and their share of the devices' busy time; the
    latter is information, no warning. In a JAX step, the recomputation of jax.checkpoint, by its
    equations, if HBM is ample for keeping the tensors: all arrays of the step would fit at once.
    That is information, too; a warning if the forward pass is recomputed more than once (one
    jax.checkpoint within another).

    ## Why it costs
    Each is work done twice, since its result did not fit: the step is slower than with a smaller
    batch.

    ## What to do
    A smaller per-replica batch, bfloat16 activations, or recomputation where you choose it:
    ```python
    keras.mixed_precision.set_global_policy("mixed_bfloat16")
    block = tf.recompute_grad(block)
    ```

    ## Source
    openxla/xla hlo_rematerialization.cc; XProf's hlo_stats (Rematerialization)
    """
    yield from _asked_for(signals)
    compiled = program_of(signals)
    if compiled is not None:
        yield from _compiled(signals, *compiled, limit)
        return
    profile, _ = replicas_of(signals)
    need(profile.ops or None, "an operation on a device", ON_THE_TPU)
    # A loop that holds repeated operations would count their time once more.
    repeated = [op for op in profile.ops if op.repeated and not op.holds_others]
    spent = sum(op.share for op in repeated)
    evidence = (
        share_of("recomputed", spent, "% of busy time", limit, profile.source),
        Evidence("recomputed operations", len(repeated), "operations", source=profile.source),
    )
    if spent > limit:
        yield _profiled(repeated, spent, evidence, signals)
    else:
        whole_trace(profile)
        if not any(op.framework_op for op in profile.ops if op.part is None):
            raise NotMeasured(
                "the operations carry no framework op, which alone tells what the job recomputes "
                "by its own choice",
                ON_THE_TPU,
            )
    yield from evidence


def _asked_for(signals: Signals) -> Judgement:
    """What jax.checkpoint computes again though there is room to keep it."""
    step, target = signals.sharding, signals.target
    work = step.work if step is not None else None
    if step is None or work is None or target is None or not work.recomputed_flops:
        return
    usable = target.hardware.usable_hbm_bytes
    kept = work.made_bytes + sum(each.own_bytes for each in step.arguments)
    share = work.recomputed_flops / work.flops
    seen = (
        share_of("computed again on request", share, "% of the products", ONCE),
        Evidence("all that the step makes", kept, "B", int(AMPLE * usable), "its equations"),
    )
    if kept < AMPLE * usable:
        yield Finding(
            f"jax.checkpoint has {share:.0%} of the step's work computed again, and HBM is ample: "
            f"with all of it kept the step takes {mib(kept)} of {mib(usable)} at most.",
            "call the block without jax.checkpoint (nn.remat, keras.remat), or keep the products:\n"
            "jax.checkpoint(block, policy=jax.checkpoint_policies.dots_saveable)",
            seen,
            work.recomputed_at,
            severity=Severity.WARNING if share > ONCE else Severity.INFO,
        )
    yield from seen


def _less_hbm(signals: Signals) -> str:
    return in_bfloat16(signals) + "\n# or a smaller batch"


def _profiled(
    repeated: list[DeviceOp], spent: float, evidence: tuple[Evidence, ...], signals: Signals
) -> Finding:
    longest = repeated[0]
    by_job = sum(op.share for op in repeated if not COPIED.search(op.name)) > spent / 2
    why = ", as the job asks for (checkpointing)" if by_job else " that did not fit into HBM"
    return Finding(
        f"{spent:.0%} of the devices' time goes into computing tensors again{why}, most into "
        f"{longest.name}.",
        RECOMPUTE_LESS + recomputed(signals) if by_job else _less_hbm(signals),
        evidence,
        longest.location,
        severity=Severity.INFO if by_job else None,
    )


def _compiled(signals: Signals, step: Compilation, program: Program, limit: float) -> Judgement:
    small = signals.compiler.small if signals.compiler is not None else None
    count = len(program.recomputed)
    evidence = [
        Evidence("recomputed operations", count, "operations", source=step.source),
        Evidence("HBM need", step.need_bytes or 0, "B", step.usable_bytes, step.source),
    ]
    more = program.recomputed_cycles / (program.cycles or 1)
    if small is not None and small.program is not None:
        # FLOPs an example are the same at any batch, unless something is computed twice.
        more = (step.flops / step.batch) / (small.flops / small.batch) - 1
        evidence[:0] = [
            share_of("more FLOPs an example", more, "%", limit, step.source),
            Evidence("against a batch of", small.batch, "examples", source=step.source),
            *_slower(step, small),
        ]
    if more > limit:
        yield Finding(
            f"a per-replica batch of {step.batch} fits into the {mib(step.usable_bytes)} of "
            f"{step.target} only since the compiler recomputes: {more:.0%} more work an example.",
            f"{_less_hbm(signals)}: `tpudiag plan` finds it",
            tuple(evidence),
        )
    yield from evidence


def _slower(step: Compilation, small: Compilation) -> Iterator[Evidence]:
    """The predicted time of an example, beside that in a small batch."""
    if step.step_ms and small.step_ms:
        more = (step.step_ms / step.batch) / (small.step_ms / small.batch) - 1
        yield Evidence("more time an example, predicted", percent(more), "%", source=PREDICTED)
