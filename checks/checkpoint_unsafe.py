"""TPU602."""

from __future__ import annotations

from collections.abc import Iterator

from tpudiag.model import Evidence, Finding, NotMeasured, Severity, check
from tpudiag.signals import CheckpointUse, Signals

from ._need import need, of_a_job
from ._paths import hosts, is_local, refuse_unknown_worker

LIMIT = 1
"""Times that one and the same file may be written."""
_KEEPS_SEVERAL = ("tf.train.CheckpointManager", "BackupAndRestore", "tf.train.Checkpoint.save")
_KEEPERS_FIX = (
    'ModelCheckpoint("gs://bucket/job/{epoch:04d}.weights.h5", save_weights_only=True)\n'
    "# or: tf.train.CheckpointManager(checkpoint, checkpoint_dir, max_to_keep=3)"
)


@check("TPU602", Severity.WARNING)
def checkpoint_unsafe(signals: Signals, limit: float = LIMIT) -> Iterator[Finding | Evidence]:
    """Checkpoints go where they can be lost.

    ## What it sees
    The checkpoint managers, callbacks and save calls of the job: paths on a local disk where the
    target has several hosts, and a single file that each save writes over. A single file in a
    bucket is safe only where the bucket keeps versions, which is not seen from here: skipped.

    ## Why it costs
    The disk of a TPU VM goes with the VM when it is preempted, and the other hosts of a pod do
    not see it. A job that dies while it writes over its only checkpoint has none.

    ## What to do
    ```python
    manager = tf.train.CheckpointManager(checkpoint, "gs://bucket/job", max_to_keep=3)
    ```

    ## Source
    https://www.tensorflow.org/guide/checkpoint#manage_checkpoints
    """
    of_a_job(signals, "what the job saves")
    uses = need(signals.checkpoints, "the job").uses
    if not uses:
        need(None, "a checkpoint", "rehearse until one is set up: `--steps`")
    count = hosts(signals)
    if count > 1:
        yield from _on_one_host(uses, count)
    else:
        refuse_unknown_worker(signals, tuple(use.path for use in uses if is_local(use.path)))
    if not any(use.kind in _KEEPS_SEVERAL for use in uses):
        yield from _over_one_file(uses, limit)
    for use in uses:
        yield Evidence(use.kind, use.path or "a path", source=str(use.location or "job"))


def _on_one_host(uses: tuple[CheckpointUse, ...], count: int) -> Iterator[Finding]:
    """Checkpoints on the disk of one host of several."""
    for use in uses:
        if is_local(use.path):
            yield Finding(
                f"{use.kind} saves on the disk of one of {count} hosts: {use.path}.",
                'checkpoint_dir = "gs://bucket/job"',
                (Evidence("hosts of the target", count, "hosts", 1, "target"),),
                use.location,
            )


def _over_one_file(uses: tuple[CheckpointUse, ...], limit: float) -> Iterator[Finding]:
    """The only checkpoint is written over by the next."""
    for use in uses:
        each_epoch = use.kind == "ModelCheckpoint" and "{" not in use.path
        if not each_epoch and use.saved <= limit:
            continue
        if not is_local(use.path) and use.path:
            bucket = "/".join(use.path.split("/")[:3])
            raise NotMeasured(
                f"{use.path} is written over by each save; whether {bucket} keeps versions is "
                "not known here",
                f"`gcloud storage buckets describe {bucket} --format='default(versioning)'`",
            )
        times = "each epoch" if each_epoch else use.saved
        yield Finding(
            f"{use.kind} writes over one file: a job that dies while it writes has none left.",
            _KEEPERS_FIX,
            (
                Evidence("file", use.path or "a path", source="job"),
                Evidence("written", times, "times", int(limit)),
            ),
            use.location,
        )
