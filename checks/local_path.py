from collections.abc import Iterator

from tpudiag.model import BOTH, Evidence, Finding, Judgement, Location, Severity, check
from tpudiag.signals import Signals

from ._need import RUN_THE_JOB, need, of_a_job
from ._paths import hosts, is_local, refuse_unknown_worker


@check("TPU208", Severity.ERROR, needs_data=True, frameworks=BOTH)
def local_path(signals: Signals) -> Judgement:
    """The TPU's hosts cannot see the paths of data or checkpoints.

    ## What it sees
    The paths of the files that the pipelines of the job open, and those of its checkpoints,
    compared with the hosts of the target: a pod has several, and each opens the paths on its own
    disk. The check cannot recognise a disk that all hosts mount at the same place: ignore this
    check there, with that reason.

    ## Why it costs
    The job fails on the first host that lacks the file (`File system scheme '[local]' not
    implemented`, `No such file or directory`), after the TPU was allocated; or each host writes
    a part of a checkpoint that no host can restore.

    ## What to do
    ```python
    files = tf.io.gfile.glob("gs://bucket/data/train-*.tfrecord")
    manager = tf.train.CheckpointManager(checkpoint, "gs://bucket/job", max_to_keep=3)
    ```

    ## Source
    https://cloud.google.com/tpu/docs/storage-buckets
    """
    of_a_job(signals, "the paths of a job")
    pipelines, checkpoints = signals.pipelines, signals.checkpoints
    if pipelines is None and checkpoints is None:
        need(None, "a pipeline or a checkpoint", RUN_THE_JOB)
    uses = checkpoints.uses if checkpoints else ()
    used = [*_data(signals), *((f"{use.kind} saves", use.path, use.location) for use in uses)]
    local = tuple((what, path, where) for what, path, where in used if is_local(path))
    count = hosts(signals)
    if count == 1:
        refuse_unknown_worker(signals, tuple(path for _, path, _ in local))
    for what, path, where in local if count > 1 else ():
        yield Finding(
            f"{what} in {path}: the other {count - 1} hosts of the target have a disk of their "
            "own there.",
            'path = "gs://bucket/..."  # one place that every host sees',
            (Evidence("hosts of the target", count, "hosts", 1, "target"),),
            where,
        )
    yield Evidence("hosts of the target", count, "hosts", source="target")
    yield Evidence("local paths", len(local), "paths")


def _data(signals: Signals) -> Iterator[tuple[str, str, Location | None]]:
    for pipeline in signals.pipelines or ():
        if pipeline.files is not None:
            opener = next((op for op in pipeline.ops if op.opens_files), None)
            where = (opener.location if opener else None) or pipeline.location
            # One of them: a data set of a thousand shards lies in one folder, and is one mistake.
            yield "the pipeline reads files", pipeline.files.paths[0], where
