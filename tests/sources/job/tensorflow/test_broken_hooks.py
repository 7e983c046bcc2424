"""Each hook of ours is made to fail, before and after its original: the job goes on all the same.

The failures are noted as ours.
"""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.sources.job.programs import ran

pytestmark = pytest.mark.slow

JOB = """\
strategy = tf.distribute.TPUStrategy(resolver)
with strategy.scope():
    model = keras.Sequential([keras.layers.Dense(4)])
    model.compile(keras.optimizers.SGD(0.1), "mse")
    variable = tf.Variable(1.0)
data = tf.data.Dataset.from_tensor_slices((tf.ones((16, 3)), tf.ones((16, 4)))).batch(8, True)

@tf.function(autograph=False)
def step(batch):
    def one(batch):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(variable * batch[0])
        gradient = tape.gradient(loss, variable)
        return tf.distribute.get_replica_context().all_reduce("SUM", gradient)
    return strategy.run(one, (batch,))

for batch in strategy.experimental_distribute_dataset(data):
    total = strategy.reduce("SUM", step(batch), axis=None)
assert float(total) == 48.0, total
path = os.path.join(sys.argv[1], "checkpoint")
tf.train.Checkpoint(variable=variable).save(path)
fitted = model.fit(data, epochs=1, verbose=0)
model.evaluate(data, verbose=0)
assert model.predict(data, verbose=0).shape == (16, 4)
assert len(fitted.history["loss"]) == 1
"""
DRIVER = """
import json, os, sys
from tpudiag.sources.job.points import barrier, hooks
from tpudiag.sources.job.process import protocol
from tpudiag.sources.job.tensorflow import observation
from tpudiag.sources.job.tensorflow.observer import Observer

observation.ENOUGH_RETRACES = 10**9
barrier.MOST_DEFECTS_KEPT = 10**9
left, tried, when = set(), set(), ["never"]

linked = hooks._Hook.subscribe

def may_fail(hook, new):
    left.add(hook.title)

    def failing_once(now):
        if when[0] == now and hook.title in left:
            left.discard(hook.title)
            tried.add(hook.title)
            raise LookupError("planted " + now)

    def broken(original, *args, **kwargs):
        failing_once("before")
        result = new.call(original, *args, **kwargs)
        failing_once("after")
        return result

    linked(hook, new._replace(call=broken))

hooks._Hook.subscribe = may_fail
spec = protocol.JobSpec(
    program="", arguments=(), replicas=2, real_replicas=2, hosts=1, rehearse=True, steps=10**6,
    warmup_steps=10**6, budget_s=0.0, log_dir="", isolation="landlock",
    layer=os.path.join(sys.argv[1], "layer"), lower_to=sys.argv[1],
)
read_end, write_end = os.pipe()
observer = Observer(spec, protocol.Recorder(write_end))
import threading
def drain():
    while os.read(read_end, 65536):
        pass
threading.Thread(target=drain, daemon=True).start()
observer.importing_tensorflow()
import tensorflow as tf
import keras
observer.imported_tensorflow(tf)
observer.imported_keras(keras, "keras")

resolver = tf.distribute.cluster_resolver.TPUClusterResolver("")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)

def job():
    exec(compile(sys.argv[2], "job.py", "exec"), dict(globals()))

def run():
    try:
        job()
        observer.observation.finished = False
        observer.observation.finish()
        return "went on"
    except BaseException as error:
        return f"{type(error).__name__}: {error}"

ends, noted, hooks_there = [run()], {}, set(left)
for when[0] in ("before", "after"):
    left |= hooks_there
    tried.clear()
    barrier.forget()
    while True:
        before = len(tried)
        ends.append(run())
        if len(tried) == before:
            break
    known = {d.hook: "LookupError: planted" in d.traceback for d in barrier.defects()}
    noted[when[0]] = {hook: known.get(hook) for hook in tried}
print(json.dumps([ends, noted, [d.error for d in barrier.defects()]]), flush=True)
os._exit(0)
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    folder = tmp_path_factory.mktemp("broken")
    driver: Path = folder / "driver.py"
    driver.write_text(DRIVER)
    bare = {"PATH": "/usr/bin:/bin", "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = ran(sys.executable, str(driver), str(folder), JOB, env=bare)
    said: list[Any] = json.loads(done.stdout.splitlines()[-1])
    return said


def test_the_job_goes_on_whichever_hook_fails(results: list[Any]) -> None:
    ends, _, _ = results
    assert len(ends) >= 5
    assert set(ends) == {"went on"}


@pytest.mark.parametrize("when", ["before", "after"])
def test_each_failure_is_noted_with_its_traceback(results: list[Any], when: str) -> None:
    _, noted, errors = results
    assert len(noted[when]) >= 20
    assert {hook for hook, known in noted[when].items() if not known} == set()
    assert all("planted" in error for error in errors)
