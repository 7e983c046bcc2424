"""What is sent of a job before it is ended."""

import pytest

from tests.sources.job.programs import InTensorFlow

pytestmark = pytest.mark.slow

PROGRAM = """
import threading
from tpudiag.sources.job.process.protocol import JobSpec
from tpudiag.sources.job.tensorflow.observation import Observation

facts = told.facts
spec = JobSpec(program="job.py", arguments=(), warmup_steps=1, budget_s=0.0, steps=4,
               log_dir="", rehearse=True, replicas=8, real_replicas=2, hosts=1,
               ends_in_s=1e-3 if LAST else 0.0)
ended = threading.Event()
Observation(tf, spec, told, lambda path: path, lambda: ended.wait(60))
data = tf.data.Dataset.range(64).map(lambda x: x + 1).batch(8)
next(iter(data))
ended.set()
for thread in threading.enumerate():
    if isinstance(thread, threading.Timer):
        thread.join()
print(json.dumps({"told": sorted(facts), "pipelines": len(facts.get("pipelines") or ())}))
"""


@pytest.mark.parametrize("last", [True, False])
def test_what_was_seen_is_told_before_the_time_of_a_job_without_steps_is_over(
    in_tensorflow: InTensorFlow, last: bool
) -> None:
    seen = in_tensorflow(PROGRAM.replace("LAST", str(last)))
    assert ("functions" in seen["told"]) is last and "phase" not in seen["told"]
