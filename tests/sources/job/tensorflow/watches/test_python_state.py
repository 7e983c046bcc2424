"""Numbers and draws that a trace freezes, by traced function."""

import random
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from tpudiag.sources.job.tensorflow.watches.python_state import PythonStateWatch

rate = 0.1
calls = 0
traces = 0


@pytest.fixture
def tracing() -> Iterator[SimpleNamespace]:
    """A TensorFlow that builds a graph while `eager` is False; random is put back afterwards."""
    import numpy

    modules = (random, numpy.random)
    kept = [(module, dict(vars(module))) for module in modules]
    state = SimpleNamespace(eager=True)
    yield state
    for module, names in kept:
        for name, value in names.items():
            setattr(module, name, value)


def call(watch: PythonStateWatch, function: Any, *, traced: bool = False) -> None:
    """One call of a tf.function: it runs its Python code only where it is traced."""
    before = watch.before(function)
    if traced:
        function.python_function()
    watch.after(function, before, traced=traced)


def uses_rate() -> float:
    return 2 * rate


def counts() -> None:
    global calls  # noqa: PLW0603
    calls += 1


def counts_traces() -> None:
    global traces  # noqa: PLW0603
    traces += 1


class Trainer:
    def __init__(self) -> None:
        self.seen = 0
        self.width = 3

    def step(self) -> int:
        def inner() -> int:
            self.seen += self.width
            return self.width

        return inner()


def test_a_number_that_changed_after_the_trace(
    tracing: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = PythonStateWatch(lambda: not tracing.eager)
    function = SimpleNamespace(python_function=uses_rate)
    call(watch, function, traced=True)
    call(watch, function)
    assert watch.facts() == ()
    monkeypatch.setitem(globals(), "rate", 0.05)
    call(watch, function)
    (state,) = watch.facts()
    assert (state.kind, state.name, state.traced, state.now) == ("read", "rate", "0.1", "0.05")
    assert state.location is not None


@pytest.mark.usefixtures("tracing")
def test_a_method_that_is_handed_its_object_reads_that() -> None:
    class Stepped(Trainer):
        step: Any = SimpleNamespace(python_function=Trainer.step)

    places = PythonStateWatch(bool).before(Stepped.step, Stepped())
    assert {name for _, name in places} == {"seen", "width"}
    assert not PythonStateWatch(bool).before(Stepped.step, Trainer()), "no method of that"


@pytest.mark.parametrize(
    ("traced", "names"),
    # A count of traces is meant.
    [(counts, ["calls"]), (counts_traces, []), (Trainer().step, ["self.seen"])],
)
def test_what_only_tracing_changes(
    tracing: SimpleNamespace, traced: Callable[[], object], names: list[str]
) -> None:
    watch = PythonStateWatch(lambda: not tracing.eager)
    function = SimpleNamespace(python_function=traced)
    call(watch, function, traced=True)
    for _ in range(3):
        call(watch, function)
    assert [(s.kind, s.name, s.calls) for s in watch.facts()] == [("written", n, 3) for n in names]


def test_what_changes_at_later_calls_is_called_back(tracing: SimpleNamespace) -> None:
    watch = PythonStateWatch(lambda: not tracing.eager)
    function = SimpleNamespace(python_function=counts)
    call(watch, function, traced=True)
    for _ in range(3):
        counts()
        call(watch, function)
    assert watch.facts() == ()


def build() -> float:
    return random.uniform(0, 1)


def augment() -> float:
    return random.uniform(0, 1)


def test_a_draw_counts_while_a_graph_is_built_and_no_weights_are_made(
    tracing: SimpleNamespace,
) -> None:
    watch = PythonStateWatch(lambda: not tracing.eager)
    augment()
    tracing.eager = False
    build()
    assert watch.facts() == ()
    augment()
    augment()
    assert [(s.kind, s.name, s.function) for s in watch.facts()] == [
        ("random", "random.uniform", "augment")
    ]
