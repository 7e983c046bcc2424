import re

from tpudiag.model import BOTH, Evidence, Finding, Judgement, Location, Severity, check
from tpudiag.signals import ArgumentChange, Origin, Retrace, Signals, TracedFunction

from ._need import by_framework, need
from ._shapes import of_examples, opening, recur

LIMIT = 0
"""Traces of one function beyond its first that are allowed, one-off switches not counted."""
LASTING = 0.1
"""Of the calls: below it traces are some that come and go, and no cost of each step."""
CALLS_EACH = 10
"""Calls of each function from which on functions made anew are those of several models, in turn."""
_EXAMPLES = "shape of an example"
_FIXES = {
    "python value": (
        "pass the value as a tensor, so that it is no part of the signature:\n"
        "{function}(..., {argument}=tf.constant(value))  # or tf.convert_to_tensor(value)"
    ),
    "shape": (
        "make the shape static, or name the dimension that varies:\n"
        "dataset = dataset.batch(global_batch, drop_remainder=True)\n"
        "@tf.function(reduce_retracing=True)  # a TPU still needs static shapes: pad or bucket"
    ),
    _EXAMPLES: (
        "pad the examples to one length, or to a few (multiples of 128), not to the longest of "
        "each batch:\ndataset = dataset.padded_batch(global_batch, padded_shapes=([512], []))"
        "  # 512: the longest that is kept"
    ),
    "dtype": "cast to one dtype before the call:\n{argument} = tf.cast({argument}, tf.{dtype})",
    "structure": "pass the same arguments, of the same structure and dimensions, at every call",
    "iterator": "batch all datasets to the same shapes, or to a few that are padded to (buckets)",
    "object": "make the object once, outside the loop, and pass the same one every time",
    "new function": (
        "make the tf.function once, outside the loop:\n"
        "@tf.function\ndef {function}(...): ...  # at module level, not inside the loop"
    ),
}
_OF_JAX = {
    **_FIXES,
    "python value": (
        "{argument} is static: pass it as an array, of which the values are no part of the "
        "program:\n@jax.jit  # {argument} is none of its static arguments\n"
        "{function}(..., {argument}=jnp.asarray(value))"
    ),
    "shape": (
        "give every step the same shapes: leave out the last, smaller batch, or pad it:\n"
        "dataset = dataset.batch(global_batch, drop_remainder=True)\n"
        "steps = len(x) // global_batch  # fit: x[:steps * global_batch]"
    ),
    _EXAMPLES: (
        "pad the examples to one length, or to a few (multiples of 128), not to the longest of "
        "each batch:\nrow = np.pad(row[:512], (0, max(0, 512 - len(row))))  # 512: the longest "
        "that is kept"
    ),
    "dtype": "cast to one dtype before:\n{argument} = jnp.asarray({argument}, jnp.{dtype})",
    "new function": (
        "call jax.jit once, outside the loop, on a function that is not made anew:\n"
        "{function} = jax.jit({function})  # before the loop"
    ),
}
_UNNAMED = (
    "what is no array is part of the program: pass it as one:\n"
    "{function}(..., jnp.asarray(value))  # of jax.jit"
)
"""For a value among those that a library's function was given."""
_CLOCK = "the clock of the machine that traced; a TPU compiles each trace besides"
_ON_THIS_MACHINE = (
    ". A trace took {:,.1f} s on this machine; on a TPU each is compiled besides, for seconds to "
    "minutes"
)
_OF_A_LIBRARY = "model.compile(...)  # once, before the loop: each call makes its functions anew"
_NAMELESS = "step = tf.function(...)  # once, before the loop, not inside it"


@check("TPU101", Severity.WARNING, frameworks=BOTH)
def retracing(signals: Signals, limit: float = LIMIT) -> Judgement:
    """A tf.function, or a function of jax.jit, is traced again and again.

    ## What it sees
    Every call of a tf.function from Python: whether it traced, how long that took, which argument
    differed from the closest earlier signature, and how. Functions created again from the same code
    count as one. Functions that each layer or model has of its own, that a library creates for its
    layers, or that are each called ten times, do not count as created again. A bool or None that
    switches once is no finding, nor are a few shapes (buckets) that all came in the first half of
    the calls, nor two more shapes of a function that does not train: an evaluation of other data.
    Times are those of traces on the machine that traced, without the TPU's compiler, which compiles
    each trace once more. In a JAX job each compilation counts that is caused by an argument's
    shape, dtype or static value, or by a jax.jit that is called anew.

    ## Why it costs
    A trace runs the Python code again and, on a TPU, compiles a new program: seconds to minutes, in
    which the chip idles. A Python number that changes at every step causes a trace at every step.

    ## What to do
    Pass changing values as tensors, keep shapes static, make functions once:
    ```python
    train_step(batch, tf.constant(step))     # not train_step(batch, step)
    ```

    ## Source
    https://www.tensorflow.org/guide/function#controlling_retracing; tensorflow#34025
    """
    functions = need(signals.functions or None, "a call of a tf.function")
    of_jax = by_framework(signals, False, True)
    for function in functions:
        avoidable = [retrace for retrace in function.retraces if _avoidable(retrace, function)]
        if len(avoidable) > limit and not recur(function, of_jax=of_jax):
            # One that is made anew and gets another shape has both causes.
            for new in (True, False):
                retraces = [retrace for retrace in avoidable if _is_new(retrace) == new]
                others = len(avoidable) - len(retraces)
                if retraces and (len(retraces) > limit or not others):
                    yield _finding(function, retraces, others, limit, signals)
    for function in _telling(signals, functions):
        yield Evidence(f"traces of {function.name}", function.traces, "traces", 1)
        yield Evidence(f"calls of {function.name}", function.calls, "calls")


def _telling(signals: Signals, functions: tuple[TracedFunction, ...]) -> tuple[TracedFunction, ...]:
    trains = tuple(function for function in functions if function.trains)
    stepped = signals.profile is not None and signals.steps is not None
    return trains or (functions[:1] if stepped else ())


def _avoidable(retrace: Retrace, function: TracedFunction) -> bool:
    """Whether a trace is more than a one-off switch (training=True, then False)."""
    if not retrace.changes and retrace.caller is None and function.location is None:
        return True  # seen in a profile, which shows neither
    switches = all(
        change.kind == "python value"
        and {change.before.split(" ")[0], change.after.split(" ")[0]} <= {"bool", "NoneType"}
        for change in retrace.changes
    )
    if switches and len(function.retraces) <= 2:
        return False
    if not function.trains and retrace.changes:
        of_library = function.location is None
        if of_library and _is_new(retrace):
            return False  # a library makes one for each of its layers
        if of_library or all(change.kind == "shape" for change in retrace.changes):
            return len(function.retraces) > 2  # a predict or evaluate of other data
    return not _is_new(retrace) or _made_in_loop(retrace, function)


def _is_new(retrace: Retrace) -> bool:
    return any(change.kind == "new function" for change in retrace.changes)


def _made_in_loop(retrace: Retrace, function: TracedFunction) -> bool:
    """Whether a function is made anew to be called a few times, and not once for a model.

    More than a few at one line are made in a loop; at several lines the job trains several models.
    """
    here = sum(each.caller == retrace.caller for each in function.retraces if _is_new(each))
    return here > 2 and function.calls < CALLS_EACH * function.traces


def _finding(
    function: TracedFunction, retraces: list[Retrace], others: int, limit: float, signals: Signals
) -> Finding:
    """Of the retraces of one cause, beside `others` of another."""
    last = retraces[-1]
    fixes = by_framework(signals, _FIXES, _OF_JAX)
    change = next(iter(last.changes), None)
    spent_ms = sum(retrace.took_ms for retrace in retraces)
    of_library, argument = bool(function.made_by) and function.location is None, "argument"
    if change is None and last.caller is None:
        cause = "a profile does not tell which argument differed; rehearse the job to see it"
        fix = fixes["python value"]
    elif change is None:
        cause, fix = "the signature did not differ; a captured value did", fixes["object"]
    else:
        argument = "an argument" if of_library else change.argument
        cause = f"{argument} changed ({change.kind}): {change.before} -> {change.after}"
        longer = change.kind == "shape" and any(map(of_examples, last.changes))
        kind = _EXAMPLES if longer else change.kind
        if change.before.count(",") != change.after.count(",") and change.kind == "shape":
            kind = "structure"  # of more dimensions: no batch, and no padding mends it
        fix = fixes.get(kind, fixes["structure"])
        if change.kind == "new function" and fixes is _FIXES:
            is_named = function.name.rpartition(".")[2].isidentifier()
            fix = fix if is_named else _NAMELESS
            fix = _OF_A_LIBRARY if function.location is None else fix
        if change.kind == "python value" and of_library:
            fix = _UNNAMED
    rehearsed = signals.origin is Origin.REHEARSAL
    # Where steps go on to be traced, the time they take has a mean over the steps.
    lasting = function.trains and len(retraces) >= LASTING * max(function.calls, 1)
    times = "once" if function.traces == 1 else f"{function.traces} times"
    return Finding(
        f"{function.name} was traced {times} in {function.calls} calls"
        f"{f', {len(retraces)} of them for this' if others else ''}: {cause}"
        + _ON_THIS_MACHINE.format(spent_ms / len(retraces) / 1e3)
        * rehearsed,
        fix.replace("jax.jit", function.made_by or "jax.jit")
        .replace("{function}", function.name)
        .replace("{argument}", argument)
        .replace("{dtype}", _dtype(change)),
        (
            Evidence("traces", function.traces, "traces", int(limit) + 1),
            Evidence("calls", function.calls, "calls"),
            Evidence("time in calls that traced again", round(spent_ms), "ms", source=_CLOCK),
            *(Evidence(f"before: {c.argument}", c.before) for c in last.changes[:3]),
            *(Evidence(f"after: {c.argument}", c.after) for c in last.changes[:3]),
        ),
        _made(last, signals) or last.caller or function.location,
        # A rehearsal's traces take this machine's time, and no compiler's: no cost of the job's.
        cost_ms_per_step=spent_ms / function.calls if lasting and not rehearsed else None,
    )


def _dtype(change: ArgumentChange | None) -> str:
    """That which an argument changed to, or had before."""
    told = f"{change.after} {change.before}" if change is not None else ""
    return next(iter(re.findall(r"\b(?:b?float|u?int|complex)\d+\w*", told)), "float32")


def _made(retrace: Retrace, signals: Signals) -> Location | None:
    """Where what has another shape was made: by the script, or by the batch of unequal examples."""
    if not any(map(of_examples, retrace.changes)) or retrace.made_at is not None:
        return retrace.made_at
    feeding = (pipeline for pipeline in signals.pipelines or () if pipeline.trains)
    return next((op.location for each in feeding if (op := opening(each))), None)
