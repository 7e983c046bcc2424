from tpudiag.model import BOTH, Evidence, Finding, Judgement, Severity, check
from tpudiag.signals import Signals, StepOps

from ._need import by_framework, need
from ._profile import on_host

LIMIT = 0
"""Ops inside the step that call back to the host's Python."""
_FIXES = (
    "replace it by TensorFlow ops, or call it outside the tf.function every 100th step",
    "write it in jax.numpy, or call it outside the jitted function every 100th step",
)
_CALLS = {
    "Print": "tf.print", "PrintV2": "tf.print",
    "PyFunc": "numpy_function", "PyFuncStateless": "numpy_function", "EagerPyFunc": "py_function",
    "debug_callback": "jax.debug.print or jax.debug.callback", "debug_print": "jax.debug.print",
}  # fmt: skip
"""What a script calls, by the operation that comes of it."""
HOW = "record a profile with some steps, then `tpudiag read logdir`"


@check("TPU105", Severity.WARNING, frameworks=BOTH)
def host_callback(signals: Signals, limit: float = LIMIT) -> Judgement:
    """The step calls back to the host.

    ## What it sees
    py_function, numpy_function and tf.print among the operations of the traced step, with their
    lines (a note in a branch of jax.lax.cond, which not each step takes); in a profile, their
    calls and those of outside-compiled ops on the host while steps run.

    ## Why it costs
    The device stops, sends its tensors to the host, waits for Python and gets the result back:
    at every step, on every replica.

    ## What to do
    ```python
    x = tf.math.log1p(x)          # not tf.py_function(np.log1p, [x], tf.float32)
    if step % 100 == 0:
        print(float(loss))        # outside the tf.function, not tf.print inside it
    ```

    ## Source
    XProf's overview page (outside compilation above 5 %), smart suggestions (debug print)
    """
    fix = by_framework(signals, *_FIXES)
    # The graph names the lines; a profile of the rehearsal would add the same calls without them.
    if signals.step_ops is not None:
        yield from _of_trace(signals.step_ops, limit, fix)
        return
    profile = need(signals.profile, "a profile of the step", HOW)
    callbacks = need(profile.callbacks, "an op of the step on the host", HOW)
    steps = len(need(signals.steps, "a training step in the profile", HOW).step_ms)
    count = sum(callback.count for callback in callbacks)
    evidence = Evidence("callbacks", count, "calls", int(limit), profile.source)
    if count > limit:
        worst = max(callbacks, key=lambda callback: callback.ms)
        yield Finding(
            f"{worst.op} calls back to the host's Python {worst.count} times.",
            fix,
            (evidence, *on_host(profile, callbacks)),
            cost_ms_per_step=sum(c.ms for c in callbacks) / steps if steps else None,
        )
    yield evidence


def _of_trace(ops: StepOps, limit: float, fix: str) -> Judgement:
    callbacks = sorted((op for op in ops.found if op.calls_host), key=lambda op: op.in_branch)
    if len(callbacks) > limit:
        for op in callbacks[:3]:
            what = _CALLS.get(op.kind, op.kind)
            when = ", in the steps that take its branch" if op.in_branch else ""
            yield Finding(
                f"{what} inside the step calls back to the host{when}.",
                fix,
                (Evidence("operation", f"{op.kind} {op.name}"),),
                op.location,
                severity=Severity.INFO if op.in_branch else None,
            )
    yield Evidence("callbacks among the step's operations", len(callbacks), "operations")
    yield Evidence("operations of the step", ops.total, "operations")
