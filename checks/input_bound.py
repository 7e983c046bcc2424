from dataclasses import replace
from operator import sub

from tpudiag.input_verdict import InputVerdict
from tpudiag.model import (
    BOTH,
    Confidence,
    Evidence,
    Finding,
    Framework,
    Judgement,
    NotMeasured,
    Severity,
    check,
)
from tpudiag.signals import Origin, Pipeline, Signals, StepTimes

from ._compiler import PREDICTED
from ._loop import training_call
from ._need import ON_THE_TPU, RECORD_THE_WAIT, by_library, need, share_of
from ._predicted import as_predicted, figures, input_verdict, predicted_step, unjoined_ms
from ._profile import whole_trace
from ._tfdata import advice, blocked_by, blocker

LIMIT = 0.05
"""Share of step time from which waiting for input is a warning (XProf's threshold)."""
ERROR_LIMIT = 0.20
REHEARSAL_LIMIT = 0.50
"""On CPU replicas step and pipeline share the cores; only a step that mostly waits proves it."""
PARALLEL_LIMIT = 0.90
"""The same where the pipeline is parallel throughout: a TPU's host has many times the cores."""
HOST_FACTOR = 4.0
"""How much faster than this machine's a thread of a TPU's host is taken to be, at most: twice for a
core that is shared here (as one thread's work was seen to vary: input_verdict.SERIAL_SPREAD), and
twice for its age. An allowance: no host of a TPU was measured."""
LEAST_GAP_MS = 5.0
"""Between two batches, or of Python between two steps: a shorter one holds no training up."""
SLOW_GAP_MS = 50.0
"""From there on it is a warning: fewer than 20 batches a second."""
_PARALLEL = "dataset = dataset.map(f, num_parallel_calls=tf.data.AUTOTUNE)"
_CACHED = "dataset = dataset.cache()  # what is the same in every epoch"
_AHEAD = "dataset = dataset.prefetch(tf.data.AUTOTUNE)"
SERIAL_FIX = (
    "dataset = dataset.batch(global_batch, drop_remainder=True,\n"
    "                        num_parallel_calls=tf.data.AUTOTUNE)  # copied by several threads\n"
    "image = tf.cast(image, tf.uint8)  # fewer bytes an example; cast to float on the TPU\n"
    "dataset = files.interleave(read, num_parallel_calls=tf.data.AUTOTUNE)  # not one reader"
)
"""For what one thread does: more cores for the map change nothing."""
HANDING_OUT_FIX = (
    "dataset = dataset.batch(global_batch, drop_remainder=True)         # first\n"
    "dataset = dataset.map(f_of_a_batch, num_parallel_calls=tf.data.AUTOTUNE)"
)
"""For a function that is short: handed out by the batch, not by the example."""
PYTHON_FIX = (
    "write what Python makes to TFRecord files once, and read these, or\n"
    "write it with TensorFlow's operations: dataset.map(f, num_parallel_calls=tf.data.AUTOTUNE)"
)
_OF_KERAS = (
    "make batches ahead, beside the steps:\n"
    "dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(n)  # of arrays\n"
    "model.fit(dataset.prefetch(tf.data.AUTOTUNE))\n"
    "super().__init__(workers=16, use_multiprocessing=True)  # of a keras.utils.PyDataset"
)
_OF_JAX = (
    "make batches ahead, in other processes or threads:\n"
    "loader = grain.python.DataLoader(..., worker_count=16)  # or tf.data with prefetch\n"
    "next_batch = jax.device_put(next(batches), sharding)  # while this step runs\n"
    "compute what follows each step (averages of the weights) in it, or in a jax.jit of its own"
)


@check("TPU201", Severity.ERROR, needs_data=True, frameworks=BOTH)
def input_bound(signals: Signals, limit: float = LIMIT) -> Judgement:
    """The step waits for input.

    ## What it sees
    The part of each step (after warm-up) in which it is blocked on the next batch, and the tf.data
    op with the longest wait, if the host's trace shows it. In a rehearsal the step is far slower
    than on a TPU, so a small share proves nothing and is skipped. A step that mostly waits even
    there is input bound everywhere; if the pipeline is parallel throughout, it must wait nearly all
    of its time, since a TPU's host has more cores. Between these, the pipeline is run alone: its
    CPU time per example on the vCPUs of the target's host is compared with the need of the
    predicted step, and counts if both ends of the range agree and a batch takes over 5 ms. In JAX,
    the check counts all the Python time between two steps, in most steps, or the time to make a
    batch while steps are skipped. It compares that with the predicted step, or with the most that
    the step's equations take (none fused, all read and written in whole tiles); tf.data is also
    judged as above.

    ## Why it costs
    The chip is paid for and idle. 5 % of the step time is a warning, 20 % an error.

    ## What to do
    ```python
    dataset = (tf.data.TFRecordDataset(files, num_parallel_reads=tf.data.AUTOTUNE)
        .map(parse, num_parallel_calls=tf.data.AUTOTUNE)
        .cache()                       # what is the same in every epoch
        .shuffle(10_000).repeat()
        .batch(global_batch, drop_remainder=True)
        .prefetch(tf.data.AUTOTUNE))   # last
    ```

    ## Source
    XProf's input pipeline analysis: 5 % moderately, 20 % highly input bound.
    """
    recorded = signals.origin is Origin.RECORDING
    how = RECORD_THE_WAIT if recorded else ON_THE_TPU
    steps = need(signals.steps, "the wait for input" if recorded else "a step", how).steady.recorded
    waits = need(steps.input_wait_ms, "the wait for input of each step", how)
    total_ms = need(sum(steps.step_ms) or None, "a step with a duration", ON_THE_TPU)
    pipeline = next((p for p in signals.pipelines or () if p.trains), None)
    if signals.framework is Framework.JAX and signals.origin is Origin.REHEARSAL:
        yield from _between_steps(signals, steps, waits, pipeline)
        return
    share = sum(waits) / total_ms
    rehearsal = signals.origin is Origin.REHEARSAL
    allowed = max(limit, _rehearsal_limit(pipeline)) if rehearsal else limit
    evidence = (
        share_of("input wait", share, "% of step time", allowed, steps.source),
        Evidence("steps", len(steps.step_ms), "steps", source=steps.source),
    )
    if rehearsal and share < allowed:
        yield from _predicted(signals, pipeline, share, limit)
        return
    if share >= allowed:
        waiting = _waiting(signals, pipeline, share, evidence)
        yield replace(waiting, cost_ms_per_step=sum(waits) / len(steps.step_ms))
    else:
        whole_trace(signals.profile)
    yield from evidence


def _between_steps(
    signals: Signals, steps: StepTimes, waits: tuple[float, ...], pipeline: Pipeline | None
) -> Judgement:
    """What Python does between two steps of JAX, which are dispatched while it goes on."""
    # The quarter that took least: what all steps have, whatever else ran on this machine.
    beside = sorted(waits)[len(waits) // 4]
    # Beside steps on the same cores it takes longer.
    gap = steps.made_alone_ms if steps.made_alone_ms is not None else beside
    here = sorted(map(sub, steps.step_ms, waits))[len(waits) // 4]
    predicted = predicted_step(signals)
    evidence = [
        Evidence("between two steps, on this machine", round(gap, 2), "ms", source=steps.source),
        Evidence("a step, on CPU devices", round(here, 2), "ms", source=steps.source),
    ]
    if predicted is not None:
        evidence.append(as_predicted("a step, predicted", predicted.ms))
    longest = here if steps.made_alone_ms is None else unjoined_ms(signals, here)
    longest = predicted.ms.high if predicted is not None else longest
    shortest = predicted.ms.low if predicted is not None else 0.0
    slower = 1.0 if longest == here else HOST_FACTOR
    if slower > 1.0:
        chosen = "an allowance: no host of a TPU was measured"
        evidence.append(Evidence("a TPU's host, at most", slower, "times as fast", source=chosen))
    if gap > max(slower * longest, LEAST_GAP_MS):
        what = by_library(signals, "input, mostly", "input, or operations of JAX one by one")
        step = signals.sharding
        own, called_at = (step.read_at, step.called_at) if step is not None else (None, None)
        yield Finding(
            f"Python takes {gap:,.0f} ms between two steps ({what}), and a step on the TPU "
            f"{longest:,.3g} ms at most: the chips wait for the host.",
            _lacking(pipeline) if pipeline else by_library(signals, _OF_KERAS, _OF_JAX),
            tuple(evidence),
            own or training_call(signals) or called_at,
            severity=_severity(gap),
            confidence=Confidence.MEDIUM,
        )
    elif (verdict := input_verdict(signals)) is not None and verdict.starves is not None:
        # Threads that make batches ahead are hidden by steps that are slow here alone.
        yield from _predicted(signals, pipeline, beside / (beside + here), LIMIT)
    elif HOST_FACTOR * gap > shortest:
        raise NotMeasured(
            f"Python takes {gap:.1f} ms between two steps on this machine: whether a TPU's step "
            "hides it is seen there alone",
            ON_THE_TPU,
        )
    yield from evidence


def _waiting(
    signals: Signals, pipeline: Pipeline | None, share: float, evidence: tuple[Evidence, ...]
) -> Finding:
    slow = blocker(signals.profile)
    why = f", mostly for {slow.op}: {advice(slow.op).why}" if slow else ""
    on_cpu = ", even beside a step on CPU" if signals.origin is Origin.REHEARSAL else ""
    return Finding(
        f"the step waits {share:.0%} of its time for input{why}{on_cpu}.",
        advice(slow.op).fix if slow else _lacking(pipeline),
        (*evidence, blocked_by(signals.profile, slow)) if signals.profile and slow else evidence,
        pipeline.location if pipeline else None,
        severity=Severity.ERROR if share >= ERROR_LIMIT else Severity.WARNING,
    )


def _lacking(pipeline: Pipeline | None) -> str:
    """What the pipeline does not have yet; of one that waits for Python, no more threads."""
    ops = pipeline.ops if pipeline is not None else ()
    if any(op.python for op in ops):
        return PYTHON_FIX
    costly = any(op.reads_files or op.kind.endswith(("Map", "Interleave")) for op in ops)
    lacks = {
        _PARALLEL: not ops or _on_one_thread(pipeline),
        _CACHED: (costly or not ops) and not any(op.kind == "Cache" for op in ops),
        _AHEAD: not any(op.kind == "Prefetch" for op in ops),
    }
    return "\n".join(line for line, lacking in lacks.items() if lacking) or SERIAL_FIX


def _on_one_thread(pipeline: Pipeline | None) -> bool:
    """Whether a map of the job's own runs serially in each epoch: behind the cache, if any."""
    for op in reversed(pipeline.ops if pipeline is not None else ()):
        if op.kind in ("Map", "Interleave") and not (op.inside_library or op.parallel_by_itself):
            return True
        if op.kind == "Cache":
            break
    return False


def _predicted(
    signals: Signals, pipeline: Pipeline | None, share: float, limit: float
) -> Judgement:
    """The pipeline alone against the predicted step: said where both ends of the range agree."""
    verdict = input_verdict(signals)
    if verdict is None or verdict.starves is None:
        raise NotMeasured(
            f"the rehearsed step waits {share:.1%} of its time for input, but a TPU's step is "
            f"shorter than one on CPU replicas, and {_unknown(signals, pipeline, verdict)}",
            ON_THE_TPU,
        )
    predicted = need(predicted_step(signals), "a predicted step").ms
    batch_ms = predicted.value * verdict.needed.value / verdict.capacity.value
    if verdict.starves and verdict.waiting_share >= limit and batch_ms > LEAST_GAP_MS:
        how, fix = _why_too_slow(verdict, pipeline)
        yield Finding(
            f"predicted: the step will wait {verdict.waiting_share:.0%} of its time for input. It "
            f"needs {verdict.needed.value:,.0f} examples/s of a host, the work of "
            f"{verdict.cores_needed.value:,.1f} cores of {verdict.host.vcpus}; the pipeline gives "
            f"{verdict.capacity.value:,.0f}: {how}.",
            fix,
            tuple(figures(verdict)),
            pipeline.location if pipeline else None,
            severity=_severity(batch_ms),
            confidence=Confidence.MEDIUM,
        )
    yield Evidence("a batch of the pipeline", round(batch_ms, 2), "ms", source=PREDICTED)
    yield from figures(verdict)


def _severity(gap_ms: float) -> Severity:
    return Severity.WARNING if gap_ms > SLOW_GAP_MS else Severity.INFO


def _unknown(signals: Signals, pipeline: Pipeline | None, verdict: InputVerdict | None) -> str:
    if verdict is not None:
        return "whether a host feeds it lies within the error"
    if signals.stood_in:
        return "how fast data are read that were stood in for says nothing of the job's"
    if pipeline is None or pipeline.cost is None:
        return "the pipeline was not run alone"
    return "how long it is was not predicted"


def _why_too_slow(verdict: InputVerdict, pipeline: Pipeline | None) -> tuple[str, str]:
    """What keeps the pipeline below what the step needs, and what to do about it."""
    if not verdict.serial:
        return (
            f"all {verdict.host.vcpus} vCPUs of {verdict.host.machine_type} are too few",
            _lacking(pipeline),
        )
    if verdict.handing_out:
        return "one thread hands its examples out to the others one by one", HANDING_OUT_FIX
    cost = verdict.cost
    serial, python = cost.serial_s_per_example or 0.0, cost.python_s_per_example or 0.0
    if serial and python > serial / 2:
        how = f"its Python takes {1e6 * python:,.0f} us an example, on one core at a time"
        return how, PYTHON_FIX
    if serial:
        how = f"{1e6 * serial:,.0f} us of each example are on one thread, whatever the vCPUs"
        return how, _lacking(pipeline) if _on_one_thread(pipeline) else SERIAL_FIX
    return "its serial part keeps it on about one core", _lacking(pipeline)


def _rehearsal_limit(pipeline: Pipeline | None) -> float:
    """More cores would help a pipeline of parallel work that ends in prefetch, and no other."""
    if pipeline is None or not any(op.kind == "Prefetch" for op in pipeline.ops[-3:]):
        return REHEARSAL_LIMIT
    return REHEARSAL_LIMIT if pipeline.held_up else PARALLEL_LIMIT
