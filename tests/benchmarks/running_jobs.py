# ruff: noqa: E501
"""Real processes of `bench_running`: how runs end, and what only a process can do."""

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

TRACKED = """
import os, signal, sys, threading, time
import numpy as np
import tpudiag
FIRST = int(sys.argv[1])
batches = [np.zeros((32, 4), "f4")] * 10_000
steps = tpudiag.track(batches, global_batch_size=32, path="rec/throughput.sqlite", name="train.py")
def loop(body, said=lambda number: None):
    for number, _ in enumerate(steps):
        time.sleep(0.02)
        said(number)
        body(number)
"""
CALLED = """
import os, signal, sys, threading, time
import tpudiag
FIRST = int(sys.argv[1])
callback = tpudiag.ThroughputCallback(32, path="rec/throughput.sqlite", name="train.py")
def loop(body, said=None):
    callback.on_train_begin()
    callback.on_epoch_begin(0)
    for number in range(10_000):
        time.sleep(0.02)
        callback.on_train_batch_end(number, {"loss": said(number)} if said else None)
        body(number)
        if number >= FIRST + 4000:
            break
    callback.on_epoch_end(0)
    callback.on_train_end()
"""
FITTED = """
import os, signal, sys, time
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras
import numpy as np
import tpudiag
FIRST = int(sys.argv[1])
BAD = []
def loop(body, said=lambda number: 0.5):
    class Fault(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            time.sleep(0.02)
            body(batch)
    x = np.ones((32 * 4000, 4), "f4")
    y = np.array([said(number) for number in range(4000) for _ in range(32)], "f4")
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    recorded = tpudiag.ThroughputCallback(32, path="rec/throughput.sqlite", name="train.py")
    model.fit(x, y, batch_size=32, shuffle=False, verbose=0, callbacks=[recorded, Fault()])
"""
WROTE = """
import sys, time
from pathlib import Path
sys.path.insert(0, {top!r})
from tests.monitoring import event_files
FIRST = int(sys.argv[1])
def loop(body, said):
    for number in range(10_000):
        time.sleep(0.02)
        event_files.write(Path("rec"), [event_files.event(time.time(), number, "loss", said(number))])
        body(number)
"""


class Trainer(Enum):
    """What makes the steps, and how they come to be known."""

    TRACK = "track"
    CALLBACK = "callback"
    FIT = "fit"
    """Keras' own fit, of TensorFlow."""
    EVENTS = "event files"
    """Nothing of ours is in it."""


TEXTS = {
    Trainer.TRACK: TRACKED,
    Trainer.CALLBACK: CALLED,
    Trainer.FIT: FITTED,
    Trainer.EVENTS: WROTE.format(top=str(Path(__file__).parents[2])),
}
ANY = (Trainer.TRACK, Trainer.CALLBACK)
FITS = (*ANY, Trainer.FIT)
LOSSES = (*ANY, Trainer.EVENTS)


@dataclass(frozen=True)
class Job:
    """A process; `word` is what is expected to be said of it, empty for healthy."""

    name: str
    word: str
    body: str
    early: int = 2
    late: int = 150
    by: tuple[Trainer, ...] = ANY
    sent: str = ""
    """A signal that is sent to it once it has made its steps, or what is done to its folder."""
    lives: bool = False
    """Whether it goes on, and is ended by the bench."""


def _at(what: str) -> str:
    return f"def body(number):\n    if number == FIRST:\n        {what}\n"


FAULTY = (
    Job("an exception", "TPU609 ValueError", _at("raise ValueError('no such shard')") + "loop(body)", by=FITS),
    Job("sys.exit(3)", "TPU609 code 3", _at("sys.exit(3)") + "loop(body)", by=FITS),
    Job("raise SystemExit(3)", "TPU609 code 3", _at("raise SystemExit(3)") + "loop(body)", by=(Trainer.TRACK,)),
    Job("except: sys.exit(1)", "TPU609 ValueError", _at("raise ValueError('no such shard')")
        + "try:\n    loop(body)\nexcept Exception:\n    sys.exit(1)"),
    Job("sys.exit('FATAL')", "TPU609 FATAL", _at("sys.exit('FATAL: no quota')") + "loop(body)"),
    Job("a handler of SIGTERM exits 143", "TPU609 143",
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))\ndef body(number): pass\nloop(body)",
        sent="SIGTERM", by=FITS),
    Job("SIGTERM", "TPU609", "def body(number): pass\nloop(body)", sent="SIGTERM"),
    Job("SIGKILL", "TPU609", "def body(number): pass\nloop(body)", sent="SIGKILL", by=FITS),
    Job("SIGABRT", "TPU609", _at("os.abort()") + "loop(body)"),
    Job("an exception in a thread", "TPU609 ValueError", _at("raise ValueError('no such shard')")
        + "t = threading.Thread(target=loop, args=(body,))\nt.start()\nt.join()"),
    Job("os._exit(7)", "TPU609", _at("os._exit(7)") + "loop(body)"),
    Job("SIGSTOP", "TPU604 stopped", "def body(number): pass\nloop(body)", sent="SIGSTOP", lives=True),
    Job("its folder is deleted", "TPU610", "def body(number): pass\nloop(body)", sent="delete",
        lives=True, early=60),
    Job("its disk is full", "TPU610", "def body(number):\n    if number == FIRST:\n        import resource\n"
        "        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\nloop(body)", lives=True, early=60),
    Job("a loss that is NaN", "TPU611 NaN", "def body(number): pass\n"
        "loop(body, lambda n: SAID(float('nan') if n >= FIRST else 2.0 - n * 1e-4))", lives=True, by=LOSSES),
    Job("a loss that is infinite", "TPU611 Inf", "def body(number): pass\n"
        "loop(body, lambda n: SAID(float('inf') if n >= FIRST else 2.0 - n * 1e-4))", lives=True, by=LOSSES),
    Job("a loss that explodes", "TPU611", "def body(number): pass\n"
        "loop(body, lambda n: SAID(2.0 - n * 1e-4 if n < FIRST + 60 else 1e6 * n))", lives=True, by=LOSSES),
    Job("a loss that stands still", "TPU611", "def body(number): pass\n"
        "loop(body, lambda n: SAID(2.0 - n * 1e-4 if n < FIRST else 0.69314718))", lives=True, by=LOSSES),
)  # fmt: skip
HEALTHY = (
    Job("ends well", "", "def body(number):\n    if number >= FIRST:\n        raise StopIteration\n"
        "try:\n    loop(body)\nexcept StopIteration: pass", by=(Trainer.TRACK,)),
    Job("sys.exit(0)", "", _at("sys.exit(0)") + "loop(body)"),
    Job("main returns None to sys.exit", "", "def body(number): pass\nbatches[FIRST:] = []\n"
        "loop(body)\nsys.exit(None)", by=(Trainer.TRACK,)),
    Job("a loop that is left by break", "", "for number, _ in enumerate(steps):\n"
        "    time.sleep(0.02)\n    if number == FIRST: break", by=(Trainer.TRACK,)),
    Job("a loss that falls", "", "def body(number): pass\n"
        "loop(body, lambda n: SAID(2.0 - n * 1e-4))", lives=True, by=LOSSES),
    Job("a thread of the log fails", "", _at("threading.Thread(target=lambda: 1 / 0).start()")
        + "loop(body)", lives=True),
    Job("the batch doubles, and the step", "", "batches[400:] = [np.zeros((64, 4), 'f4')] * 9_600\n"
        "for number, _ in enumerate(steps):\n    time.sleep(0.02 if number < 400 else 0.04)",
        by=(Trainer.TRACK,), lives=True),
)  # fmt: skip


def script(job: Job, trainer: Trainer) -> str:
    """The text of a trainer."""
    said = "steps.loss" if trainer is Trainer.TRACK else "(lambda value: value)"
    return TEXTS[trainer] + job.body.replace("SAID", said) + "\n"
