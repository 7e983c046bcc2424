from tpudiag.model import BOTH, Evidence, Finding, Judgement, Severity, check
from tpudiag.signals import Signals

from ._input import refuted, worth
from .missing_prefetch import own_pipelines

LIMIT = 1
"""Files that may be read one after the other."""


@check("TPU209", Severity.WARNING, needs_data=True, frameworks=BOTH)
def serial_read(signals: Signals, limit: float = LIMIT) -> Judgement:
    """Many files are read one after the other.

    ## What it sees
    Readers of TFRecord, text and fixed-length files in the pipelines that feed the training step:
    their number of files, and whether several are read in parallel.

    ## Why it costs
    One stream from a bucket gives tens of MB a second, whatever the network can do.

    ## What to do
    ```python
    dataset = tf.data.TFRecordDataset(files, num_parallel_reads=tf.data.AUTOTUNE)
    ```

    ## Source
    https://www.tensorflow.org/guide/data_performance#parallelizing_data_extraction
    """
    readers = 0
    for pipeline in own_pipelines(signals):
        gain, measured = worth(pipeline, "parallel reads")
        serial = [op for op in pipeline.ops if op.reads_files]
        readers += len(serial)
        files = pipeline.files.count if pipeline.files else None
        # An interleave makes a reader for each file, all of one line.
        by_line = {op.location: op for op in serial}
        for op in by_line.values() if files is None or files > limit else ():
            if op.location is not None and not refuted(pipeline, "parallel reads"):
                count = "many" if files is None else files
                yield Finding(
                    f"{count} files are read one after the other.{gain}",
                    "dataset = tf.data.TFRecordDataset(files, num_parallel_reads=tf.data.AUTOTUNE)",
                    (Evidence("files", files or "unknown", "files", int(limit)), *measured),
                    op.location,
                )
    yield Evidence("readers of one file at a time", readers, "readers")
