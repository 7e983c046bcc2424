"""The cause of a drop or stall, as a sentence and as figures."""

from collections.abc import Iterator

from tpudiag.model import Evidence
from tpudiag.signals import Cause, CauseKind

FIXES = {
    CauseKind.INPUT: "dataset = dataset.map(fn, num_parallel_calls=tf.data.AUTOTUNE).prefetch("
    "tf.data.AUTOTUNE)  # and see what the storage gives: tpudiag check train.py",
    CauseKind.HOST_CPU: "ps -eo pid,pcpu,comm --sort=-pcpu | head  # what else runs on the host?",
    CauseKind.HOST_MEMORY: "ps -eo pid,rss,comm --sort=-rss | head  # who holds the memory?",
    CauseKind.COMPILE: "tpudiag check train.py  # TPU101 names the argument that changes",
    CauseKind.CHECKPOINT: "checkpoint.save(path, options=tf.train.CheckpointOptions("
    "experimental_enable_async_checkpoint=True))  # or less often",
    CauseKind.EVALUATION: "model.fit(..., validation_freq=5)  # or fewer validation steps",
    CauseKind.STOPPED: "kill -CONT PID  # lets it go on",
}


def sentence(cause: Cause | None, stands: str) -> str:
    """The end of a message: the cause, and where the job stands."""
    if cause is not None:
        return f" The cause: {cause.kind.value}: {cause.text}."
    return f" The cause is not known; {stands}." if stands else ""


def figures(cause: Cause | None) -> Iterator[Evidence]:
    """The current figures, each with its earlier value."""
    if cause is None:
        return
    yield Evidence("cause", cause.kind.value, source="tpudiag watch")
    for one in cause.figures:
        yield Evidence(one.name, one.now, one.unit, source=one.source)
        if one.before is not None:
            yield Evidence(f"{one.name}, before", one.before, one.unit, source=one.source)


def fix(cause: Cause | None, otherwise: str, pid: int | None) -> str:
    """The fix for the cause, or where to look if there is none."""
    text = otherwise if cause is None else FIXES.get(cause.kind, otherwise)
    # In capitals only, which leaves ps's column `pid` alone.
    return text if pid is None else text.replace("PID", str(pid))
