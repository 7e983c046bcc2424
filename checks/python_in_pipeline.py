from tpudiag.model import BOTH, Evidence, Finding, Judgement, Severity, check
from tpudiag.signals import ProfileFacts, Signals, rate

from ._profile import on_host
from .missing_prefetch import own_pipelines

FIX = (
    "dataset = tf.data.Dataset.from_tensor_slices(arrays)  # or TFRecord files\n"
    "# in map: tf.image, tf.io and tf.strings in the place of numpy and PIL"
)


@check("TPU207", Severity.WARNING, frameworks=BOTH)
def python_in_pipeline(signals: Signals) -> Judgement:
    """The input pipeline calls back into Python.

    ## What it sees
    py_function, numpy_function and from_generator in the functions of each transformation of the
    pipelines that feed the training step; in a profile, their calls on tf.data's threads. Calls
    before a cache are a note: they run only in the first epoch. tf.data's debug mode makes Python
    of all functions: its call is told.

    ## Why it costs
    Python runs one such call at a time, on one core, however many parallel calls are requested. A
    worker on another machine cannot run it at all ("No registered PyFunc OpKernel").

    ## What to do
    ```python
    dataset = tf.data.Dataset.from_tensor_slices(arrays)    # not from_generator
    dataset = tf.data.TFRecordDataset(files)                # written once, from the generator
    image = tf.image.resize(image, size)                    # tf ops, not numpy_function
    ```

    ## Source
    https://www.tensorflow.org/guide/data_performance; tensorflow#39030, tensorflow#38762
    """
    if signals.pipelines is None and signals.profile and signals.profile.pipeline_callbacks:
        yield _of_profile(signals.profile)
        return
    without = 0
    own = own_pipelines(signals)
    for debugged in dict.fromkeys(each.debugged for each in own if each.debugged):
        yield Finding(
            "tf.data is in debug mode from this line on: it runs each function of the pipeline in "
            "Python, one element after the other, and leaves out num_parallel_calls and prefetch.",
            "# without tf.data.experimental.enable_debug_mode()",
            (Evidence("debug mode", "on"),),
            debugged,
        )
    for pipeline in (each for each in own if each.debugged is None):
        for number, op in enumerate(pipeline.ops):
            without += not op.python
            if op.python and op.location is not None:
                what = "from_generator" if op.kind == "FlatMap" else f"{op.kind}'s function"
                kept = any(each.kind == "Cache" for each in pipeline.ops[number:])
                yield Finding(
                    f"{what} runs Python for each element"
                    + (" of the first epoch; the cache behind it keeps them." if kept else "."),
                    FIX,
                    (Evidence("transformation", op.kind),),
                    op.location,
                    severity=Severity.INFO if kept else None,
                )
    yield Evidence("transformations without Python", without, "transformations")


def _of_profile(profile: ProfileFacts) -> Finding:
    calls = profile.pipeline_callbacks
    worst = max(calls, key=lambda call: call.ms)
    return Finding(
        f"the input pipeline runs Python: {worst.op} {worst.count} times, {rate(worst.ms)} ms.",
        FIX,
        on_host(profile, calls),
    )
