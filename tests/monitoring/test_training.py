"""Pauses of a training loop, as the Keras callback hears of them."""

from pathlib import Path

import pytest

from tpudiag.monitoring import reader
from tpudiag.monitoring.training import ThroughputCallback


def test_an_evaluation_between_two_epochs_leaves_no_pause_open(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    callback = ThroughputCallback(global_batch_size=8, path=path)
    with pytest.raises(RuntimeError, match="between two steps"):
        callback.pause()
    callback.on_train_begin()
    for epoch in range(2):
        callback.on_epoch_begin(epoch)
        callback.on_train_batch_end(0)
        callback.on_test_begin()
        callback.on_test_end()
        callback.on_train_batch_end(1)
        callback.on_epoch_end(epoch)
        callback.on_test_begin()  # model.evaluate(callbacks=[callback]) of another callback
        callback.on_test_end()
    callback.on_epoch_begin(2)
    callback.on_train_batch_end(0)
    recorder = callback.recorder
    callback.on_train_end()
    recording = reader.read(path)
    assert recording.run.pausing is None, "a stall from here on is one"
    assert sum(window.paused for window in recording.windows) == 4, "two of each kind"
    assert recorder is not None and recorder.stored_steps == 5 and recorder.lost_steps == 0
