"""A fit that ends after two epochs."""

from types import SimpleNamespace
from typing import Any

from tpudiag.sources.job.tensorflow.shortening import epochs


def test_the_history_has_as_many_epochs_as_were_asked_for() -> None:
    history = SimpleNamespace(
        epoch=[3, 4], history={"loss": [0.5, 0.25], "val_loss": [0.75], "lr": [1.0], "never": []}
    )
    epochs.fill_history(history, 6, 2)
    assert history.epoch == [3, 4, 5, 6, 7, 8]
    assert history.history["loss"] == [0.5, 0.25, 0.25, 0.25, 0.25, 0.25]
    assert history.history["val_loss"] == [0.75] * 3, "every other epoch, as before"
    assert history.history["never"] == []


def test_whose_length_only_reading_tells() -> None:
    unknown = epochs.length_is_unknown
    assert unknown(SimpleNamespace(cardinality=lambda: -2))
    assert not unknown(SimpleNamespace(cardinality=lambda: 10))
    assert not unknown(SimpleNamespace(cardinality=-1))
    assert unknown(SimpleNamespace(num_batches=None))
    assert not unknown(SimpleNamespace(num_batches=4))
    assert unknown(iter([1]))
    assert not unknown([1, 2])


def test_a_fit_ends_once_the_first_loop_was_observed() -> None:
    class Callback:
        model: Any
        params: Any

    passes: list[int] = []
    caught: list[float] = []

    def catch_up(_: object, times: float) -> None:
        caught.append(times)

    forward: Any = SimpleNamespace(
        training_too=False, new_pass=lambda: passes.append(1), counts=list,
        move_counters=lambda: None, catch_up=catch_up,
    )  # fmt: skip
    keras: Any = SimpleNamespace(callbacks=SimpleNamespace(Callback=Callback))
    class_ = epochs.callback_class(keras, forward)
    callback = class_()
    callback.model = SimpleNamespace(stop_training=False, optimizer=None)
    for epoch in range(2):
        callback.on_epoch_begin(epoch)
        callback.on_epoch_end(epoch)
    assert not callback.model.stop_training and len(passes) == 2
    forward.training_too = True
    callback.on_epoch_end(2)
    assert callback.model.stop_training and callback.stopped and callback.epochs == 3
    of_a_fold = class_(1)
    taken: list[int] = [10]
    counter = SimpleNamespace(numpy=lambda: taken[-1])
    optimizer = SimpleNamespace(iterations=counter, _iterations=counter)
    of_a_fold.model = SimpleNamespace(stop_training=False, optimizer=optimizer)
    of_a_fold.params = {"steps": 45_000}
    of_a_fold.on_epoch_begin(0)
    forward.on_enough()
    assert of_a_fold.model.stop_training, "the rest of the epoch"
    taken.append(2_010)
    of_a_fold.on_epoch_end(0)
    assert of_a_fold.stopped and of_a_fold.steps == (2_000, 45_000) and caught == [22.5]
