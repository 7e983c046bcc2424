"""`tpudiag check` over real TensorFlow jobs in child processes."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.commands.called import reported

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
QUICK = ("--for", "v5e-4", "--steps", "6", "--warmup", "3", "--measure-input", "0",
         "--budget", "10m")  # fmt: skip


def check(
    folder: Path, *arguments: str, environment: dict[str, str] | None = None
) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    """Run the verb in a folder of its own; its process and its JSON report ({} where none)."""
    return reported(folder, "check", "--no-compile", *arguments, env=environment)


def failed(report: dict[str, Any]) -> list[str]:
    return [o["id"] for o in report["outcomes"] if o["verdict"] == "failed"]


def outcome(report: dict[str, Any], id_: str) -> dict[str, Any]:
    return next(o for o in report["outcomes"] if o["id"] == id_)


ASKS = """\
import tensorflow as tf

tf.distribute.cluster_resolver.TPUClusterResolver("{asked}")
"""


def test_a_tpu_that_is_not_there_is_an_outcome(tmp_path: Path) -> None:
    asked = "grpc://127.0.0.1:1"
    (tmp_path / "job.py").write_text(ASKS.format(asked=asked))
    done, report = check(tmp_path, "job.py", *QUICK, "--first-loop", "--tpu", asked)
    assert done.returncode == 1, done.stderr
    assert failed(report) == ["TPU003"]
    assert "Traceback" not in done.stderr + done.stdout
    assert done.stdout.startswith(f"TPU {asked} was not reached (see TPU003): rehearsed")
    evidence = {e["name"]: e["value"] for e in outcome(report, "TPU003")["findings"][0]["evidence"]}
    assert "refused" in str(evidence["error"]).lower()


def test_the_wait_for_a_tpu_is_bounded_and_said(tmp_path: Path) -> None:
    """A resolver that never answers: the metadata server behind a black hole."""
    (tmp_path / "job.py").write_text(ASKS.format(asked="never"))
    (tmp_path / "sitecustomize.py").write_text(
        "import urllib.request, threading\n"
        "urllib.request.urlopen = lambda *a, **k: threading.Event().wait()\n"
    )
    done, report = check(
        tmp_path, "job.py", "--tpu", "never", "--tpu-timeout", "3",
        environment={"PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    assert "TPU003" in failed(report), done.stdout + done.stderr
    assert "waiting for the TPU (resolver)" in done.stderr
    evidence = outcome(report, "TPU003")["findings"][0]["evidence"]
    assert {"waited", "error"} <= {e["name"] for e in evidence}
    assert "did not answer within 3 s" in str(evidence)


def test_an_import_that_aborts_is_tpu002(tmp_path: Path) -> None:
    fake = tmp_path / "site-packages" / "tensorflow"
    fake.mkdir(parents=True)
    (fake / "__init__.py").write_text(
        "import os, sys\n"
        "sys.stderr.write('F0000 tpu_library_init_fns.inc:12] ConfigureDistributedTpuOp_DoWork "
        "not available in this library.\\n')\n"
        "sys.stderr.flush()\nos.abort()\n"
    )
    done, report = check(tmp_path, environment={"PYTHONPATH": str(fake.parent)})
    assert done.returncode == 1, done.stderr
    assert outcome(report, "TPU002")["verdict"] == "failed"
    assert "ConfigureDistributedTpuOp_DoWork" in outcome(report, "TPU002")["findings"][0]["message"]
    assert report["summary"]["passed"] == 0
    assert "Traceback" not in done.stderr


TOO_LARGE = """
import os, signal
from pathlib import Path
import tensorflow as tf
if not Path("killed").exists():
    Path("killed").touch()
    os.kill(os.getpid(), signal.SIGKILL)  # as the kernel does where memory ends
raise SystemExit(3)
"""


def test_a_job_too_large_for_the_machine_is_tried_with_one_replica(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(TOO_LARGE)
    done, _ = check(tmp_path, "job.py", *QUICK, "--in-place")
    assert done.returncode == 2, done.stdout
    assert "exit code 3" in done.stdout + done.stderr
    assert done.stdout.startswith("No TPU here: rehearsed for v5e-4 on 1 CPU replica")


SCRIPTS = {
    "exits": ("import sys; sys.exit(int(sys.argv[1]))", "exit code 3"),
    "raises": (
        "def f():\n    raise ValueError('no such file of mine')\nf()",
        "no such file of mine",
    ),
    "leaves": ("import os; os._exit(5)", "exit code 5"),
    "is killed": ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "signal 9"),
    "floods": ("import sys\nfor _ in range(200000): print('x' * 100)\nsys.exit(4)", "exit code 4"),
    "moves away": ("import os; os.chdir('/'); raise RuntimeError('moved')", "moved"),
    "cannot be parsed": ("def broken(:\n", "SyntaxError"),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_that_ends_badly_still_gives_a_report(tmp_path: Path, name: str) -> None:
    text, says = SCRIPTS[name]
    (tmp_path / "job.py").write_text(text)
    done, report = check(tmp_path, "job.py", "--", "3")
    assert done.returncode == 2, done.stdout + done.stderr
    assert says in report["partial"]
    # phases that take long here are shown, too, with their seconds
    (line,) = (each for each in done.stderr.splitlines() if not re.search(r" s( so far)?$", each))
    assert line.startswith("tpudiag: the job crashed: ")
    assert report["summary"]["failed"] == 0


def test_an_endless_start_ends_at_the_timeout(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text("import threading\nthreading.Event().wait()\n")
    done, report = check(tmp_path, "job.py", "--timeout", "3")
    assert done.returncode == 2
    assert "longer than 3 s" in report["partial"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_a_partial_report(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "job.py").write_text(
        "import threading\nopen('started', 'w').close()\nthreading.Event().wait()\n"
    )
    fifo = tmp_path / "started"
    os.mkfifo(fifo)
    with subprocess.Popen(
        [
            *(sys.executable, "-m", "tpudiag", "check", "--no-compile", "--in-place", "job.py"),
            *("-o", "r.json"),
        ],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        with fifo.open():  # returns when the job has opened its end
            pass
        process.send_signal(number)
        _, err = process.communicate(timeout=800)
    assert process.returncode == 130
    assert "interrupted" in err
    assert "Traceback" not in err
    assert "interrupted" in json.loads((tmp_path / "r.json").read_text())["partial"]


def test_a_function_of_a_module_can_be_checked(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def train():\n    raise RuntimeError('called')\n")
    _, report = check(tmp_path, "mine:train")
    assert "called" in report["partial"]
    assert "mine.py:2" in report["partial"]


def test_a_job_that_swallows_the_stop_is_ended(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(
        "import sys\n"
        f"sys.path.insert(0, {str(ROOT)!r})\n"
        "from tpudiag.reference import job, loops\n"
        "from tpudiag.reference.options import parse\n"
        "prepared = job.prepare(parse([]))\n"
        'exec("""while True:\n'  # no loop of the script's own source, which would be cut short
        "    try:\n"
        "        loops.custom(prepared, parse(['--train-steps', '100000']))\n"
        "    except:\n"
        '        pass""")\n'
    )
    done, report = check(tmp_path, "job.py", *QUICK, "--for", "v5e-2", "--budget", "2")
    assert done.returncode == 0, done.stderr
    assert report["partial"] is None
    assert report["coverage"]["end"] == "budget"
    assert outcome(report, "TPU001")["verdict"] == "passed"


def test_a_tensorflow_1_script_is_read_and_not_run(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(
        "import tensorflow.compat.v1 as tf\nopen('ran', 'w')\ntf.disable_v2_behavior()\n"
    )
    done, report = check(tmp_path, "job.py")
    assert done.returncode == 1
    assert failed(report) == ["TPU001"]
    assert outcome(report, "TPU001")["findings"][0]["location"] == {"file": "job.py", "line": 3}
    assert done.stdout.startswith("A TensorFlow 1 script")
    assert not (tmp_path / "ran").exists()


WRITES = """
import os, pathlib, shutil
import tensorflow as tf
os.environ["TF_USE_LEGACY_KERAS"] = "1"
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
strategy = tf.distribute.TPUStrategy(resolver)
os.makedirs("out/logs", exist_ok=True)
pathlib.Path("out/path.txt").write_text("p")
with open("out/plain.txt", "w") as file:
    file.write("written")
assert open("out/plain.txt").read() == "written" and open("data.txt").read() == "mine"
os.remove("data.txt") if os.path.exists("out/data.txt") else None
shutil.rmtree("keep", ignore_errors=True)
with tf.io.TFRecordWriter("out/x.tfrecord") as writer:
    for row in range(512):
        writer.write(tf.io.serialize_tensor(tf.ones((4,))).numpy())
tf.summary.create_file_writer("out/logs").close()
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
    model.compile("sgd", "mse")
ds = tf.data.TFRecordDataset(["out/x.tfrecord"]).map(
    lambda r: (tf.ensure_shape(tf.io.parse_tensor(r, tf.float32), (4,)), 1.0))
ds = ds.repeat().batch(8, drop_remainder=True)
checkpoint = tf.keras.callbacks.ModelCheckpoint("gs://bucket/w.h5", save_weights_only=True)
model.fit(ds, steps_per_epoch=2, epochs=50, callbacks=[checkpoint], verbose=0)
"""


def test_what_the_script_writes_is_kept_apart(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "keep").mkdir(parents=True)
    (home / "data.txt").write_text("mine")
    (home / "keep" / "file").write_text("mine")
    (home / "job.py").write_text(WRITES)
    done, report = check(
        home, "job.py", *QUICK, "--keep-writes", str(tmp_path / "box"), "--log-dir", "../logs"
    )
    assert report["partial"] is None, done.stderr + done.stdout
    left = {path.relative_to(home).as_posix() for path in home.rglob("*") if path.is_file()}
    assert left == {"job.py", "r.json", "data.txt", "keep/file"}
    box = tmp_path / "box"
    assert (box / "out/plain.txt").read_text() == "written"
    assert (box / "out/path.txt").read_text() == "p"
    assert list((box / "out/logs").glob("events.*"))
    assert (box / "gs__/bucket/w.h5").is_file()
    unsafe = outcome(report, "TPU602")
    assert unsafe["verdict"] == "skipped"
    assert "gs://bucket" in unsafe["reason"]
    assert report["writes"]["kept"] == str(box)
