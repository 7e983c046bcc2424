"""TPU207."""

from __future__ import annotations

from collections.abc import Iterator

from tpudiag.model import Evidence, Finding, Severity, check
from tpudiag.signals import Signals

from .missing_prefetch import own_pipelines


@check("TPU207", Severity.WARNING)
def python_in_pipeline(signals: Signals) -> Iterator[Finding | Evidence]:
    """The input pipeline calls back into Python.

    ## What it sees
    py_function, numpy_function and from_generator in the functions of each transformation of the
    pipelines that feed the training step.

    ## Why it costs
    Python runs one such call at a time, on one core, however many parallel calls are asked for.
    A worker that is another machine cannot run it at all ("No registered PyFunc OpKernel").

    ## What to do
    ```python
    dataset = tf.data.Dataset.from_tensor_slices(arrays)    # not from_generator
    dataset = tf.data.TFRecordDataset(files)                # written once, from the generator
    image = tf.image.resize(image, size)                    # tf ops, not numpy_function
    ```

    ## Source
    https://www.tensorflow.org/guide/data_performance; tensorflow#39030, tensorflow#38762
    """
    seen = 0
    for pipeline in own_pipelines(signals):
        for op in pipeline.ops:
            seen += 1
            if op.python and op.location is not None:
                what = "from_generator" if op.kind == "FlatMap" else f"{op.kind}'s function"
                yield Finding(
                    f"{what} runs Python for each element.",
                    "dataset = tf.data.Dataset.from_tensor_slices(arrays)  # or TFRecord files\n"
                    "# in map: tf.image, tf.io and tf.strings in the place of numpy and PIL",
                    (Evidence("transformation", op.kind),),
                    op.location,
                )
    yield Evidence("transformations without Python", seen, "transformations")
