"""The reference job, which notes when each step ended: `timed_job.py OUT STEPS [--cpu-replicas N]`.

Seconds of time.perf_counter, which on Linux is one clock for all processes.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

import tensorflow as tf

from tpudiag.reference import job, loops
from tpudiag.reference.options import parse

out, steps = Path(sys.argv[1]), sys.argv[2]
ends: list[float] = []


class Marked:
    """Stands around each step in the place of tf.profiler's Trace, and notes when it ends."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._trace = Trace(*args, **kwargs)

    def __enter__(self) -> None:
        self._trace.__enter__()

    def __exit__(self, *error: object) -> None:
        self._trace.__exit__(*error)
        if error == (None, None, None):  # where it was stopped, the report is being made
            ends.append(time.perf_counter())


Trace = tf.profiler.experimental.Trace
tf.profiler.experimental.Trace = Marked
options = parse(["--train-steps", steps, "--checkpoint-dir", str(out.parent / "ck"), *sys.argv[3:]])
try:
    loops.custom(job.prepare(options), options)
finally:
    out.write_text(json.dumps(ends))
