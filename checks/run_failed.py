from tpudiag.model import BOTH, Evidence, Finding, Judgement, NotMeasured, Severity, check
from tpudiag.signals import Signals
from tpudiag.signals.run_state import StateKind

from ._need import RECORD_IT, need

FIXES = {
    StateKind.KILLED: "dmesg | grep -i 'out of memory'  # then read the job's own log for what "
    "ended it",
    StateKind.EXITED: "tpudiag explain --log train.log  # what the job's own log says of it",
    StateKind.FAILED: "tpudiag explain --log train.log  # what the job's own log says of it",
}


@check("TPU609", Severity.ERROR, frameworks=BOTH)
def run_failed(signals: Signals) -> Judgement:
    """The job ended abnormally.

    ## What it sees
    The end of a recorded job, as its own process recorded it: an uncaught exception, in the main
    thread or in that of the loop, or the exit code that the script chose (`sys.exit(3)`, `except:
    sys.exit(1)`, a handler of SIGTERM that exits with 143). A process that disappeared without a
    record was killed, or left by `os._exit`; if the host's memory ran out at that time, the finding
    says so.

    ## Why it costs
    A job that died in the night is found in the morning, and the TPU stays paid for.

    ## What to do
    ```python
    # what was saved is what a restart begins with
    manager = tf.train.CheckpointManager(checkpoint, directory, max_to_keep=3)
    checkpoint.restore(manager.latest_checkpoint)
    ```

    ## Source
    Exit codes: https://docs.python.org/3/library/sys.html#sys.exit
    """
    seen = need(signals.throughput, "how a job ended", RECORD_IT)
    if seen.state.ill:
        tail = ", and the run did not end" if seen.state.kind is StateKind.KILLED else ""
        unit = "epochs" if seen.unit == "epochs" else "steps"
        yield Finding(
            f"{seen.state.text}{tail}, after {seen.steps} {unit}.",
            FIXES[seen.state.kind],
            (Evidence("state", seen.state.kind.value, source=seen.source),),
        )
        return
    if seen.state.kind is StateKind.LOST and not seen.state.lives:
        raise NotMeasured(seen.state.text, RECORD_IT)
    yield Evidence("state", seen.state.kind.value, source=seen.source)
