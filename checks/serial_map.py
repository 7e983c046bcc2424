from tpudiag.model import BOTH, Evidence, Finding, Judgement, Severity, check
from tpudiag.signals import Signals

from ._input import refuted, worth
from .missing_prefetch import as_written

_SERIAL = {"Map": "map", "Interleave": "interleave", "FlatMap": "flat_map"}
_PARALLEL = ("ParallelMap", "ParallelInterleave", "MapAndBatch", "ParallelBatch")


@check("TPU203", Severity.WARNING, frameworks=BOTH)
def serial_map(signals: Signals) -> Judgement:
    """A map or interleave runs on one thread.

    ## What it sees
    Each map and interleave of the pipelines that feed the training step, and its
    num_parallel_calls. Those that a function of a library makes (`make_csv_dataset`, `unbatch`)
    take none. A map of a stateless function is a note: tf.data makes it parallel itself, unless an
    option switches that off. If parallel calls were measured to be slower, on a machine without
    other work, there is no finding.

    ## Why it costs
    A TPU host has a hundred cores and more; a serial map uses one of them.

    ## What to do
    ```python
    dataset = dataset.map(parse, num_parallel_calls=tf.data.AUTOTUNE)
    dataset = files.interleave(tf.data.TFRecordDataset, num_parallel_calls=tf.data.AUTOTUNE)
    ```

    ## Source
    https://www.tensorflow.org/guide/data_performance#parallelizing_data_transformation
    """
    maps = 0
    for pipeline in as_written(signals):
        gain, measured = worth(pipeline, "parallel calls")
        for op in pipeline.ops:
            maps += op.kind in _SERIAL or op.kind in _PARALLEL
            by_one = op.kind in _PARALLEL and op.parallelism == 1
            serial = op.kind in ("Map", "Interleave") or by_one
            if (
                serial
                and op.location is not None
                and not (op.inside_library or refuted(pipeline, "parallel calls"))
            ):
                name = _SERIAL.get(op.kind, op.kind)
                calls = Evidence("parallel calls", op.parallelism or 1, "calls", "AUTOTUNE")
                own = " Its function is stateless: tf.data makes it parallel by itself."
                yield Finding(
                    f"{name} has no num_parallel_calls.{own}"
                    if op.parallel_by_itself
                    else f"{name} runs serially: it has no num_parallel_calls.{gain}",
                    f"dataset = dataset.{name}(f, num_parallel_calls=tf.data.AUTOTUNE)",
                    (calls, *measured),
                    op.location,
                    severity=Severity.INFO if op.parallel_by_itself else Severity.WARNING,
                )
        yield from worth(pipeline, "AUTOTUNE")[1]
    yield Evidence("maps and interleaves", maps, "transformations")
