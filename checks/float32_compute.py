from collections.abc import Iterator, Sequence

from tpudiag.model import BOTH, Evidence, Finding, Judgement, Location, Severity, check
from tpudiag.prediction.times import Bound
from tpudiag.signals import (
    MatrixOp,
    MixedPrecision,
    PrecisionSwitch,
    Signals,
    TensorSeen,
    WideLayer,
)

from ._need import HALF, ON_THE_TPU, by_framework, in_bfloat16, need, share_of
from ._predicted import predicted_step
from ._profile import replicas_of, whole_trace
from .batch_multiple import hidden_dimensions

LIMIT = 0.10
"""Share of matrix work in 16 bit below which the step counts as float32 (XProf's threshold)."""

_CAST = "tf.cast", "keras.ops.cast"
_NO_DOUBLE = (
    "keras.backend.set_floatx('float32')  # or leave out what makes the model float64\n"
    "x = tf.cast(x, tf.float32)  # of data that are, in the pipeline",
    "leave out jax_enable_x64 (jax.config, JAX_ENABLE_X64), or cast: x.astype('float32')",
)


@check("TPU403", Severity.WARNING, frameworks=BOTH)
def float32_compute(signals: Signals, limit: float = LIMIT) -> Judgement:
    """The step computes in float32 where bfloat16 would do.

    ## What it sees
    The dtype of every matrix product and convolution of the traced step, weighted by FLOPs; the
    Keras dtype policies, under which last layers may stay in float32; the layers that were made
    with float32 of their own; the job's own settings in its arguments and in the configurations
    that these name. In JAX, the precision requested for float32 products. In a profile, the
    operands of the device's matrix operations.

    ## Why it costs
    float32 activations take twice the HBM and twice its bandwidth. The MXU multiplies in
    bfloat16 either way, once; for precision "highest" it does so six times.

    ## What to do
    ```python
    keras.mixed_precision.set_global_policy("mixed_bfloat16")   # variables stay float32
    ```
    Small steps can gain nothing (keras#18448): where the compiled step is not bound by HBM, or
    was not compiled, it is only a note, unless the job asks for bfloat16 and does not get it.

    ## Source
    XProf's overview page (16-bit compute below 10 %); Cloud TPU bfloat16 guide
    """
    if signals.profile is not None and signals.profile.share_16_bit is not None:
        yield from _of_profile(signals, limit)
        return
    # Steps that ran eagerly left no graph whose products could be counted.
    eager = signals.dispatch is not None and signals.dispatch.eager_steps > 0
    untraced = signals.precision if signals.matrix_ops is None and eager else None
    if untraced is not None and set(untraced.policies) == {"float32"}:
        yield Finding(
            "every Keras layer computes in float32; no step was traced that would say more.",
            in_bfloat16(signals),
            (Evidence("dtype policies", "float32", limit="mixed_bfloat16"),),
            untraced.policy_location,
            severity=Severity.INFO,
        )
    doubles = signals.numerics.double if signals.numerics is not None else None
    if doubles and signals.step_ops is not None:  # what is refused must leave the step anyway
        refused = {op.location for op in signals.step_ops.found}
        doubles = tuple(line for line in doubles if line not in refused)
    doubled = list(_in_64_bit(signals.matrix_ops or (), by_framework(signals, *_NO_DOUBLE)))
    yield from doubled
    if not doubled:  # else what reaches the step, and its other lines, are so by the same cause
        yield from _double(signals.step_inputs or (), cast_at_once=doubles == ())
    if doubles and not doubled:
        yield _in_double(doubles, by_framework(signals, *_CAST))
    ops = need(signals.matrix_ops, "a traced training step")
    total = need(sum(op.flops for op in ops) or None, "a matrix product in the step")
    share = sum(op.flops for op in ops if op.dtype in HALF) / total
    policies = ", ".join(signals.precision.policies) if signals.precision else ""
    evidence = [share_of("16-bit compute", share, "% of matrix FLOPs", limit)]
    if policies:
        evidence.append(Evidence("dtype policies", policies))
    slow = _in_passes(ops, signals, limit)
    yield from slow  # whose fix holds the dtype, too
    if share < limit and not (slow or doubled) and not _only_the_head(ops, signals.precision):
        wide = [op for op in ops if op.dtype not in HALF]
        # Forward first: a gradient's line is that of the tape, not of the layer.
        largest = max(wide, key=lambda op: (op.forward, op.flops))
        evidence.append(Evidence("largest product", f"{largest.op} {largest.name}"))
        yield _too_wide(share, largest, signals, tuple(evidence))
    yield from evidence


def _in_passes(ops: Sequence[MatrixOp], signals: Signals, limit: float) -> list[Finding]:
    """Products that are asked for in a precision that the MXU has only by several of its own."""
    total = sum(op.flops for op in ops)
    # A library's own products, as a solver's, need it: no line of the script's asks for it.
    raised = [op for op in ops if op.passes > 1 and op.location is not None]
    share = sum(op.flops for op in raised) / total
    if not raised or share < limit:
        return []
    times = sum(op.flops * op.passes for op in ops) / total
    largest = max(raised, key=lambda op: (op.forward, op.flops))
    return [
        Finding(
            f"{share:.0%} of the step's matrix work is asked for in float32 precision: the MXU "
            f"multiplies in bfloat16, and takes {largest.passes} passes for each such product.",
            "leave out jax_default_matmul_precision (jax.config, with, its variable) and "
            "precision=; where one product needs it, give it that one alone:\n"
            'jnp.matmul(x, w, precision="highest")\n' + in_bfloat16(signals),
            (
                share_of("in float32 precision", share, "% of matrix FLOPs", limit),
                Evidence("passes of the MXU, for one", round(times, 2), "times", 1),
            ),
            largest.location,
        )
    ]


def _too_wide(
    share: float, largest: MatrixOp, signals: Signals, evidence: tuple[Evidence, ...]
) -> Finding:
    """A step in float32: by no policy, or in spite of one."""
    precision = signals.precision
    severity = None
    wide = precision.wide_layers if precision is not None else ()
    # Any of its layers of their own float32, where the product's name does not tell.
    named = (layer for layer in wide if layer.name in largest.name.split("/"))
    layer = next(named, next(iter(wide), None))
    where = largest.location or (layer.location if layer is not None else None)
    message = f"{share:.0%} of the step's matrix work is in 16 bit"
    if layer is not None and precision is not None:
        given = f" (dtype={layer.dtype_given})" if layer.dtype_given else ""
        message += (
            f", though the global policy is {precision.global_policy}: "
            f"{len(precision.wide_layers)} layers were made with float32 of their own, "
            f"{layer.name} at {layer.location}{given}."
        )
        fix = _by_layer(layer)
    elif precision is not None and _is_16_bit(precision.global_policy) and precision.made_before:
        message += (
            f": the global policy is {precision.global_policy}, and layers had been made before it "
            f"was set, the first at {precision.made_before}."
        )
        fix, where = in_bfloat16(signals), precision.set_at or where
    elif precision is not None and _is_16_bit(precision.global_policy):
        message += f", though the global policy is {precision.global_policy}."
        cast = by_framework(signals, *_CAST)
        fix = (
            f"x = {cast}(x, {str(precision.global_policy).removeprefix('mixed_')!r})"
            "  # before the product, with its weights: what is computed\n"
            "# outside Keras' layers, or by layers of another policy, does not follow the policy"
        )
    elif precision is not None and precision.unused_at is not None:
        message += ": a policy of 16 bit is made here, but set nowhere."
        fix, where = in_bfloat16(signals), precision.unused_at
    else:
        message += "."
        fix = in_bfloat16(signals)
        where = (precision.set_at if precision is not None else None) or where
        # The MXU takes as long for either: what bfloat16 halves is the traffic of HBM.
        step = predicted_step(signals)
        severity = None if step and step.bound_by is Bound.HBM else Severity.INFO
    switches = signals.precision_switches
    if switches:
        message += " The job's own setting: " + "; ".join(map(_switch, switches[:3])) + "."
    return Finding(
        message,
        fix,
        (*evidence, *(Evidence("setting", _switch(switch)) for switch in switches)),
        where,
        severity=severity,
    )


def _by_layer(layer: WideLayer) -> str:
    if layer.dtype_given == "self.dtype":
        return (
            "dtype=self.dtype_policy  # in place of dtype=self.dtype, which is that of the "
            f"variables: float32\n# {layer.location}"
        )
    if layer.dtype_given:
        return f"# {layer.location}: leave out dtype={layer.dtype_given}; the policy gives it"
    return f"# {layer.location}: make the layer after the policy is set, and with no dtype"


def _switch(switch: PrecisionSwitch) -> str:
    return f"`{switch.text}`" + (f" ({switch.location})" if switch.location is not None else "")


def _is_16_bit(policy: str | None) -> bool:
    return policy is not None and policy.endswith("float16")


def _double(inputs: Sequence[TensorSeen], *, cast_at_once: bool) -> Iterator[Finding]:
    """What reaches the step in 64 bit floating point, which no TPU has; a note where it is only
    cast there."""
    wide = [tensor for tensor in inputs if tensor.dtype == "float64"]
    only = ", though the step only casts it" if cast_at_once else ""
    if wide:
        yield Finding(
            f"float64 reaches the step ({len(wide)} of its {len(inputs)} inputs): a TPU has no "
            f"such unit and emulates it{only}.",
            'x = x.astype("float32")  # and class_weight in fit, whose values give a dtype, too\n'
            "dataset = dataset.map(lambda x, *rest: (tf.cast(x, tf.float32), *rest))  # in tf.data",
            tuple(Evidence(tensor.name, tensor.dtype, limit="float32") for tensor in wide[:3]),
            severity=Severity.INFO if cast_at_once else Severity.WARNING,
        )


def _in_double(lines: Sequence[Location | None], cast: str) -> Finding:
    """What the step itself computes in float64, of whatever it got."""
    return Finding(
        f"{len(lines)} lines of the step compute arrays in float64: a TPU has no such unit and "
        "emulates it.",
        f"y = {cast}(y, 'float32')  # where it comes in; NumPy arrays that are float64, too:\n"
        "weights = np.asarray(weights, np.float32)",
        tuple(Evidence("in float64", str(line), limit="float32") for line in lines[:4]),
        next((line for line in lines if line is not None), None),
    )


def _in_64_bit(ops: Sequence[MatrixOp], fix: str) -> Iterator[Finding]:
    wide = [op for op in ops if op.dtype == "float64"]
    if wide:
        largest = max(wide, key=lambda op: (op.forward, op.flops))
        yield Finding(
            f"{len(wide)} of the step's {len(ops)} products are in float64: a TPU has no such unit "
            "and emulates it.",
            fix,
            (Evidence("products in float64", len(wide), "products", 0),),
            largest.location,
        )


def _only_the_head(ops: Sequence[MatrixOp], precision: MixedPrecision | None) -> bool:
    """Under a 16-bit policy: whether all in 32 bit are last layers, as they should be."""
    if precision is None or precision.made_before or not any(map(_is_16_bit, precision.policies)):
        return False
    chosen = hidden_dimensions(tuple(ops))
    wide = [op for op in ops if op.forward and op.dtype not in HALF]
    return bool(wide) and not any(op.columns in chosen for op in wide)


def _of_profile(signals: Signals, limit: float) -> Judgement:
    profile, _ = replicas_of(signals)
    share = need(profile.share_16_bit, "a matrix operation with its operands' types", ON_THE_TPU)
    evidence = share_of("16-bit compute", share, "% of matrix FLOPs", limit, profile.source)
    if share < limit:
        wide = next((op for op in profile.ops if op.in_16_bit is False), None)
        names = (wide.name,) if wide else ()
        yield Finding(
            f"{share:.0%} of the step's matrix work is in 16 bit.",
            in_bfloat16(signals),
            (evidence, *(Evidence("longest in 32 bit", n, source=profile.source) for n in names)),
            wide.location if wide else None,
        )
    else:
        whole_trace(profile)
    yield evidence
