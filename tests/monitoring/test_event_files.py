"""Steps from event files: whole, growing, cut off, damaged, of several tags and folders."""

import time
from pathlib import Path

import pytest

from tests import made
from tests.monitoring import event_files
from tests.sources.job.programs import printed
from tpudiag import tensorboard_summary
from tpudiag.monitoring.event_files import EventFiles
from tpudiag.monitoring.recording import NS, Recording
from tpudiag.monitoring.watched_job import WatchedJob

pytestmark = pytest.mark.slow

START_S = 1_790_000_000.0


def steps(found: Recording) -> list[tuple[float, int]]:
    """When each window ended, in s after the start, and its steps."""
    return [(w.end_ns / NS - START_S, w.steps) for w in found.windows]


def test_the_step_of_the_events_is_the_progress(tmp_path: Path) -> None:
    told = [
        event_files.event(START_S + 10 * number, 100 * number, tag)
        for number in range(4)
        for tag in ("loss", "accuracy")
    ]
    event_files.write(tmp_path / "train", [event_files.version(START_S), *told])
    (found,) = EventFiles(str(tmp_path)).poll()
    assert (found.run.unit, found.run.ended_ns) == ("steps", None)
    assert steps(found) == [(10, 100), (20, 100), (30, 100)]


def test_what_is_added_comes_at_the_next_poll(tmp_path: Path) -> None:
    file = event_files.write(tmp_path, [event_files.event(START_S, 0)])
    source = EventFiles(str(tmp_path))
    assert steps(*source.poll()) == []
    whole = event_files.event(START_S + 5, 50)
    with file.open("ab") as stream:
        stream.write(whole[:20])
    assert steps(*source.poll()) == [], "half a record is waited for"
    with file.open("ab") as stream:
        stream.write(whole[20:])
    assert steps(*source.poll()) == [(5, 50)]
    event_files.write(tmp_path, [event_files.event(START_S + 9, 90)], "events.out.tfevents.2.h")
    assert steps(*source.poll()) == [(9, 40)], "a second file goes on"


def test_evaluations_are_no_training_steps(tmp_path: Path) -> None:
    event_files.write(tmp_path / "train", [event_files.event(START_S + n, n) for n in (0, 10, 20)])
    event_files.write(
        tmp_path / "validation", [event_files.event(START_S + n + 3, n + 3) for n in (0, 10)]
    )
    assert steps(*EventFiles(str(tmp_path)).poll()) == [(10, 10), (20, 10)]


def test_a_report_beside_the_profile_is_no_restart(tmp_path: Path) -> None:
    """tpudiag's own text summary has step 0, at a time at which the training is far on."""
    event_files.write(tmp_path, [event_files.event(START_S + 10 * n, 100 * n) for n in range(3)])
    run = tmp_path / "plugins" / "profile" / "run"
    run.mkdir(parents=True)
    (run / "vm.xplane.pb").write_bytes(b"x")
    assert tensorboard_summary.write_beside(made.report(), str(tmp_path)) is not None
    (found,) = EventFiles(str(tmp_path)).poll()
    assert steps(found) == [(10, 100), (20, 100)]
    assert not EventFiles(str(tmp_path / "tpudiag")).found


def test_epochs_count_where_steps_are_not_known(tmp_path: Path) -> None:
    event_files.write(
        tmp_path, [event_files.event(START_S + 60 * n, n, "epoch_loss") for n in range(3)]
    )
    source = EventFiles(str(tmp_path))
    (found,) = source.poll()
    assert (found.run.unit, steps(found)) == ("epochs", [(60, 1), (120, 1)])
    event_files.write(tmp_path, [event_files.event(START_S + n, n) for n in (100, 200)])
    (later,) = source.poll()
    assert later.run.unit == "steps"
    assert later.run.id != found.run.id


def test_a_restart_from_a_checkpoint_is_a_run_of_its_own(tmp_path: Path) -> None:
    event_files.write(tmp_path, [event_files.event(START_S + n, n) for n in (0, 50, 100)])
    source = EventFiles(str(tmp_path))
    (before,) = source.poll()
    event_files.write(tmp_path, [event_files.event(START_S + 200 + n, n) for n in (0, 50)])
    (after,) = source.poll()
    assert before.run.id != after.run.id
    assert steps(after) == [(250, 50)]


def test_a_damaged_file_is_said_and_hides_no_other(tmp_path: Path) -> None:
    good = [event_files.event(START_S + n, n) for n in (0, 10)]
    event_files.write(tmp_path, good)
    event_files.write(tmp_path, [b"x" * 40], "events.out.tfevents.2.h")
    source = EventFiles(str(tmp_path))
    assert steps(*source.poll()) == [(10, 10)]
    assert list(source.damaged) == [str(tmp_path / "events.out.tfevents.2.h")]


def test_nothing_there_is_nothing(tmp_path: Path) -> None:
    assert EventFiles(str(tmp_path)).poll() == ()


TRAINER = """
import sys, tensorflow as tf
writer = tf.summary.create_file_writer(sys.argv[1])
with writer.as_default():
    for step in range(0, 500, 100):
        tf.summary.write("loss", tf.constant(0.5), step=step)
        tf.summary.write("images", tf.zeros((64, 64)), step=step)
"""


def test_what_tensorflow_itself_writes(tmp_path: Path) -> None:
    before = time.time()
    printed(TRAINER, str(tmp_path))
    source = EventFiles(str(tmp_path))
    (found,) = source.poll()
    assert not source.damaged
    assert before <= found.run.started_ns / NS <= found.run.beat_ns / NS <= time.time()


def test_a_clock_that_is_set_back_hides_no_steps(tmp_path: Path) -> None:
    steady = [event_files.event(10_000.0 + step, step) for step in range(100)]
    event_files.write(tmp_path, steady)
    source = EventFiles(str(tmp_path))
    (first,) = source.poll()
    late = [event_files.event(5_000.0 + 2 * step, step) for step in range(100, 200)]
    event_files.write(tmp_path, late)
    (second,) = source.poll()
    assert second.run.id == first.run.id
    assert second.steps == 100
    took_s = [window.active_s for window in second.windows]
    assert took_s == pytest.approx([1.0] + [2.0] * 99)


@pytest.mark.parametrize("tensor", [False, True])
@pytest.mark.parametrize(
    ("number", "what"), [(float("nan"), "NaN"), (float("inf"), "Inf"), (1e9, "explodes")]
)
def test_a_loss_in_event_files_is_looked_at(
    tmp_path: Path, number: float, what: str, tensor: bool
) -> None:
    job = WatchedJob([str(tmp_path)])
    good = [event_files.event(1e9 + 2 * n, n, tensor=tensor) for n in range(30)]
    event_files.write(tmp_path, good)
    assert job.poll()
    assert job.slowest.losses.trouble is None
    assert job.slowest.losses.said == 30
    bad = [event_files.event(1e9 + 2 * n, n, "train/Loss", number, tensor) for n in range(30, 40)]
    event_files.write(tmp_path, bad)
    assert job.poll()
    trouble = job.slowest.losses.trouble
    assert trouble is not None
    assert (trouble.what, trouble.step > 25) == (what, True)
    event_files.write(
        tmp_path,
        [event_files.event(1e9 + 2 * n, n, "train/Loss", number, tensor) for n in range(40, 80)],
    )
    assert job.poll()
    assert job.slowest.losses.trouble is not None, "it stays told"


def test_a_stall_between_events_is_no_step(tmp_path: Path) -> None:
    at_s = [1e9 + 2 * n + (3_600 if n > 60 else 0) for n in range(100)]
    event_files.write(tmp_path, [event_files.event(at, n) for n, at in enumerate(at_s)])
    (found,) = EventFiles(str(tmp_path)).poll()
    assert [round(w.stalled_ms / 1e3) for w in found.windows if w.stalls] == [3_600]
