from collections.abc import Iterator

from tpudiag.model import BOTH, Evidence, Finding, Judgement, NotMeasured, Severity, check
from tpudiag.signals import BucketSeen, CheckpointUse, Signals

from ._need import by_framework, mib, need, of_a_job
from ._paths import hosts, is_local, refuse_unknown_worker

LIMIT = 1
"""Times that one and the same file may be written."""
OF_STATE = 0.5
"""Of the sharded state: what is fetched again and again of it is a checkpoint."""
_KEEPS_SEVERAL = (
    "orbax.checkpoint.CheckpointManager",
    "tf.train.CheckpointManager",
    "BackupAndRestore",
    "tf.train.Checkpoint.save",
    # Each is written beside the others, under the step's number, and named when it is whole.
    "flax.training.checkpoints.save_checkpoint",
    "flax.training.checkpoints.save_checkpoint_multiprocess",
)
_KEEPERS_FIX = (
    'ModelCheckpoint("gs://bucket/job/{epoch:04d}.weights.h5", save_weights_only=True)\n# or: '
)
_KEEPERS = (
    "tf.train.CheckpointManager(checkpoint, checkpoint_dir, max_to_keep=3)",
    "orbax.checkpoint.CheckpointManager(checkpoint_dir)",
)


@check("TPU602", Severity.WARNING, frameworks=BOTH)
def checkpoint_unsafe(signals: Signals, limit: float = LIMIT) -> Judgement:
    """Checkpoints go where they can be lost.

    ## What it sees
    The job's checkpoint managers, callbacks and save calls: paths on a local disk if the target has
    several hosts, a single file that each save overwrites, folders named by the run's own start
    where the job looks for a checkpoint to go on from, and buckets without versioning. Without
    credentials for Google Cloud Storage, buckets are skipped. For a JAX job also the lines that
    fetch sharded state whole, again and again, and on several hosts any sharded arrays.

    ## Why it costs
    The disk of a TPU VM is lost with the VM when it is preempted, and the other hosts of a pod do
    not see it. A job that dies while it overwrites its only checkpoint has none.

    ## What to do
    ```python
    manager = tf.train.CheckpointManager(checkpoint, "gs://bucket/job", max_to_keep=3)
    ```

    ## Source
    https://www.tensorflow.org/guide/checkpoint#manage_checkpoints
    """
    of_a_job(signals, "what the job saves")
    uses = tuple(use for use in need(signals.checkpoints, "the job").uses if use.given)
    count = hosts(signals)
    yield from _gathered(signals, count)
    need(uses or None, "a checkpoint", "rehearse until one is set up: `--steps`")
    if count > 1:
        for use in uses:
            if is_local(use.path):
                yield Finding(
                    f"{use.kind} saves on the disk of one of {count} hosts: {use.path}.",
                    'checkpoint_dir = "gs://bucket/job"',
                    (Evidence("hosts of the target", count, "hosts", 1, "target"),),
                    use.location,
                )
    else:
        refuse_unknown_worker(signals, tuple(use.path for use in uses if is_local(use.path)))
    goes_on = any(use.kind == "BackupAndRestore" for use in uses)
    if goes_on or need(signals.checkpoints, "the job").looked_for:
        yield from _of_one_run(uses)
    by_callback = {use.path for use in uses if use.kind == "ModelCheckpoint"}
    single = tuple(
        use
        for use in uses
        # A callback's path is formatted at each save: without a field it is the same file. A
        # rehearsal sees one save at most. The callback itself calls Model.save.
        if (use.kind == "ModelCheckpoint" and "{" not in use.path)
        or (use.kind not in _KEEPS_SEVERAL and use.saved > limit)
        if use.kind == "ModelCheckpoint" or use.path not in by_callback
        # A line that saves to other files too leaves one of them.
        if use.location is None
        or {e.path for e in uses if (e.kind, e.location) == (use.kind, use.location)} == {use.path}
    )
    # Whoever keeps several elsewhere has one left when the single file breaks.
    if not any(use.kind in _KEEPS_SEVERAL for use in uses):
        fix = _KEEPERS_FIX + by_framework(signals, *_KEEPERS)
        yield from _over_one_file([use for use in single if is_local(use.path)], limit, fix)
    for use in uses:
        yield from _in_bucket(use, use in single, signals.buckets or ())
        yield Evidence(use.kind, use.path or "a path", source=str(use.location or "job"))


def _gathered(signals: Signals, count: int) -> Iterator[Finding]:
    """Whole arrays of which a host, or a device, has but a part."""
    step = signals.sharding
    shared = sum(each.bytes for each in step.state if each.parts > 1) if step is not None else 0
    by_fit = step.called_at if step is not None else None  # Keras' own callbacks know no other way
    for fetch in signals.checkpoints.gathered[:3] if signals.checkpoints is not None else ():
        refused = count > 1 and not fetch.by_all
        again = fetch.times > 1 and fetch.location != by_fit
        if not (refused or (again and 0 < OF_STATE * shared < fetch.bytes)):
            continue
        what = f"this line fetches {mib(fetch.bytes)} of arrays that the devices share"
        yield Finding(
            f"{what}: each of {count} hosts has a part of them, and JAX refuses (`spans "
            "non-addressable devices`)."
            if refused
            else f"{what}, {fetch.times} times: each host holds the whole state, one at most saves "
            "it, and the devices wait. A sharded checkpoint has each save its part.",
            "manager.save(step, args=orbax.checkpoint.args.StandardSave(state))  # each its part\n"
            "# what is small: jax.experimental.multihost_utils.process_allgather(x, tiled=True)",
            (Evidence("hosts of the target", count, "hosts", 1, "target"),),
            fetch.location,
        )


def _of_one_run(uses: tuple[CheckpointUse, ...]) -> Iterator[Finding]:
    """A folder whose name the next run does not know."""
    for use in uses if all(use.of_this_run for use in uses) else ():
        yield Finding(
            f"{use.kind} saves to a folder that is named by when this run began: a job that starts "
            "again after a preemption looks in another one, and begins anew.",
            'checkpoint_dir = "gs://bucket/job"  # the same at each start; the date is for logs',
            (Evidence("folder", use.path, source="job"),),
            use.location,
        )
        return


def _over_one_file(uses: list[CheckpointUse], limit: float, fix: str) -> Iterator[Finding]:
    """The only checkpoint is written over by the next."""
    for use in uses:
        what = "the best model over" if use.best_only else "over"
        yield Finding(
            f"{use.kind} writes {what} one file: a job that dies while it writes has none left.",
            fix,
            (
                Evidence("file", use.path or "a path", source="job"),
                Evidence("written", max(use.saved, 1), "times so far", int(limit)),
            ),
            use.location,
            # What was the best can be trained again; nobody meant to resume from it.
            severity=Severity.INFO if use.best_only else None,
        )


def _in_bucket(use: CheckpointUse, over: bool, buckets: tuple[BucketSeen, ...]) -> Judgement:
    """A bucket without versioning; one that could not be queried is not called safe."""
    if is_local(use.path) or not use.path.startswith("gs://"):
        return
    name = use.path.split("/")[2]
    seen = next((bucket for bucket in buckets if bucket.name == name), None)
    source = f"gs://{name}"
    how = f"`gcloud storage buckets describe {source} --format='default(versioning_enabled)'`"
    if seen is None or seen.versioning is None:
        why = f": {seen.error}" if seen is not None and seen.error else ""
        raise NotMeasured(f"whether {source} keeps versions is not known{why}", how)
    evidence = Evidence("bucket versioning", seen.versioning, limit=True, source=source)
    if not seen.versioning:
        yield Finding(
            f"{source} keeps no versions: "
            + ("each save writes over the only one." if over else "what is deleted is gone."),
            f"gcloud storage buckets update {source} --versioning",
            (evidence,),
            use.location,
            severity=Severity.WARNING if over else Severity.INFO,
        )
    yield evidence
