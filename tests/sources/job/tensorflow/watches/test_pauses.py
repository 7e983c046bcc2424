"""Time beside the training steps: what counts, and what is taken for a call that was not run."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from tpudiag.model import Location
from tpudiag.sources.job.tensorflow.watches import pauses
from tpudiag.sources.job.tensorflow.watches.pauses import PauseWatch

HERE = Location("train.py", 7)


def of_keras(took_ms: float) -> tuple[PauseWatch, Any]:
    """A watch, and a model whose functions take so long."""
    watch = PauseWatch()

    class Model:
        def save(self) -> None: ...

        def evaluate(self) -> None:
            watch.evaluated("function", took_ms, HERE)

        save_weights, predict = save, evaluate

    watch.watch_keras(cast("Any", SimpleNamespace(Model=Model)))
    return watch, Model()


def train(watch: PauseWatch) -> None:
    for _ in range(4):
        watch.trained(10.0)


def test_evaluation_before_training_went_on_is_no_share_of_it() -> None:
    watch = PauseWatch()
    for _ in range(2):
        train(watch)
        for _ in range(3):
            watch.evaluated("test_step", 4.0, HERE)
    (pause,) = watch.facts()
    assert (pause.times, pause.spent_ms, pause.training_ms) == (6, 12.0, 40.0)


def test_a_policy_that_acts_between_updates_is_no_evaluation() -> None:
    watch = PauseWatch()
    for _ in range(9):
        watch.trained(10.0)
        watch.evaluated("act", 40.0, HERE)
    assert watch.facts() == ()
    for _ in range(2):
        watch.evaluated("model", 40.0, HERE, eager=True, examples=256)
    assert [pause.examples for pause in watch.facts()] == [256]


def test_what_was_answered_counts_as_long_as_what_ran() -> None:
    watch = PauseWatch()
    for took_ms in (400.0, 4.0, None, 5.0, None):
        for _ in range(4):
            watch.trained(took_ms and 10.0, "step")
        watch.evaluated("test_step", took_ms, HERE)
    (pause,) = watch.facts()
    assert pause.spent_ms == 4.0 + 4.0 + 5.0 + 4.5 and pause.training_ms == 160.0
    watch.only_traced = True
    assert watch.facts(), "only what follows them has no measure"
    watch.evaluated("test_step", 5.0, HERE)
    assert watch.facts() == (), "a step that is only traced takes no time"


def test_the_call_that_traces_is_no_measure_of_the_others() -> None:
    watch = PauseWatch()
    for took_ms in (30_000.0, 400.0, 400.0):
        train(watch)
        watch.evaluated("test_step", took_ms, HERE)
    (pause,) = watch.facts()
    assert pause.spent_ms == 800.0


def test_an_evaluation_of_keras_is_the_time_in_its_functions() -> None:
    watch, model = of_keras(3.0)
    for _ in range(3):
        train(watch)
        model.evaluate()
    (pause,) = watch.facts()
    assert (pause.kind, pause.times, pause.spent_ms) == ("evaluation", 3, 6.0)


def test_a_pass_of_answered_calls_lasts_no_longer_than_one_that_ran() -> None:
    watch = PauseWatch()

    class Model:
        def evaluate(self, calls: tuple[float | None, ...]) -> None:
            for took_ms in calls:
                watch.evaluated("function", took_ms, HERE)

        save = save_weights = predict = evaluate

    watch.watch_keras(cast("Any", SimpleNamespace(Model=Model)))
    for calls in ((3.0,), (3.0,), (None,) * 100):
        train(watch)
        Model().evaluate(calls)
    (pause,) = watch.facts()
    assert (pause.times, pause.spent_ms) == (3, 6.0), "the data end no pass of answered calls"


def test_a_callback_that_predicts_at_each_batch_is_no_policy() -> None:
    watch, model = of_keras(3.0)

    def on_train_batch_end() -> None:
        model.predict()

    for _ in range(4):
        watch.trained(10.0)
        on_train_batch_end()
    (pause,) = watch.facts()
    assert (pause.kind, pause.times, pause.spent_ms, pause.training_ms) == ("predict", 4, 9.0, 30.0)


def test_a_save_takes_what_its_thread_computes_whatever_else_the_machine_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = iter([0.0, 0.25, 0.5, 0.75])
    monkeypatch.setattr(pauses, "time", SimpleNamespace(thread_time=lambda: next(clock)))
    watch, model = of_keras(0.0)
    for _ in range(2):
        train(watch)
        model.save()
    (pause,) = watch.facts()
    assert (pause.kind, pause.spent_ms) == ("saving", 250.0)
