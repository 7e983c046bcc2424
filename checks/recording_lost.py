from tpudiag.model import Evidence, Finding, Judgement, NotMeasured, Severity, check
from tpudiag.signals import Signals
from tpudiag.signals.run_state import StateKind

from ._need import RECORD_IT, need

FIX = "df -h tpudiag-logs; ls -l tpudiag-logs  # is the disk full, or the folder gone?"


@check("TPU610", Severity.ERROR)
def recording_lost(signals: Signals) -> Judgement:
    """The recording stopped, or steps are missing from it.

    ## What it sees
    A recorder writes each second, whatever the steps do. If it has not for 30 s while its process
    lives on this host, the recording is lost, not the job. For a job on another host, silent for a
    minute, the two cannot be told apart. Steps that were made and
    could not be kept are counted: a full disk, a folder that was deleted.

    ## Why it costs
    Nobody watches the job any more, and every figure of it is too small.

    ## What to do
    ```python
    tpudiag.track(dataset, path="/mnt/disks/local/throughput.sqlite")   # a disk with room
    ```

    ## Source
    tests/benchmarks/bench_running.py
    """
    seen = need(signals.throughput, "the recording of a job", RECORD_IT)
    lost = Evidence("steps not recorded", seen.lost_steps, "steps", 0, seen.source)
    if seen.state.kind is StateKind.LOST:
        if seen.unsure is not None:
            raise NotMeasured(f"{seen.state.text}; {seen.unsure}", RECORD_IT)
        yield Finding(
            f"{seen.state.text}, after {seen.steps} steps.",
            FIX,
            (Evidence("silent", round(seen.silent_s or 0.0, 1), "s", source=seen.source), lost),
            severity=Severity.WARNING if seen.state.lives else Severity.ERROR,
        )
    elif seen.lost_steps:
        yield Finding(
            f"{seen.lost_steps:,} steps could not be recorded: the disk was full or slow, or the "
            "recording was deleted.",
            FIX,
            (lost,),
            severity=Severity.WARNING,
        )
    yield lost
