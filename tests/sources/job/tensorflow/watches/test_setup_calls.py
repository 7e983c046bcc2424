"""What a job sets up before it trains."""

import weakref
from types import SimpleNamespace
from typing import Any

from tpudiag.sources.job.tensorflow.watches.setup_calls import SetupWatch, trained_names


class Unbuilt:
    @property
    def trainable_variables(self) -> list[object]:
        raise ValueError("Weights for model 'sequential' have not yet been created.")


def test_a_model_that_is_not_built_has_no_variables_yet() -> None:
    assert trained_names(Unbuilt()) == ()
    assert trained_names(object()) == ()
    model = SimpleNamespace(trainable_variables=[SimpleNamespace(name="kernel:0")])
    assert trained_names(model) == ("kernel:0",)


def test_a_strategy_of_several_hosts_is_told_by_the_name_that_scripts_have_for_it() -> None:
    watch = SetupWatch.__new__(SetupWatch)
    vars(watch).update(gpu={}, tpu_strategy=False, unplaced=True)
    watch.strategy_made(type("_DefaultDistributionStrategy", (), {})())
    assert watch.unplaced and not watch.gpu
    watch.strategy_made(type("CollectiveAllReduceStrategy", (), {})())
    assert [*watch.gpu] == ["tf.distribute.MultiWorkerMirroredStrategy"]
    watch.strategy_made(type("TPUStrategyV2", (), {})())
    assert watch.tpu_strategy and not watch.unplaced


class Variable:
    """As much of one as is looked at."""

    def __init__(self, name: str, rank: int = 2, *, floating: bool = True) -> None:
        self.name, self.handle = name, object()
        self.shape = SimpleNamespace(rank=rank)
        self.dtype = SimpleNamespace(is_floating=floating)


def test_tensors_of_outside_that_a_step_takes_are_told_and_rates_and_generators_are_not() -> None:
    teacher, rate, state = (
        Variable("teacher"),
        Variable("rate", 0),
        Variable("s", 1, floating=False),
    )
    unread, gone = Variable("serving"), Variable("gone")
    watch = SetupWatch.__new__(SetupWatch)
    made = (teacher, rate, state, unread, gone)
    vars(watch)["_outside"] = [(weakref.ref(variable), None) for variable in made]
    captured = [(variable.handle, object()) for variable in (teacher, rate, state, gone)]
    del gone, made
    graph: Any = SimpleNamespace(captures=captured)
    read = watch.outside_read(graph)
    assert [variable.name for variable in read] == ["teacher"]


def test_a_fit_after_layers_were_freed_takes_the_step_of_before() -> None:
    watch = SetupWatch.__new__(SetupWatch)
    vars(watch).update(_traced={}, frozen=[])
    model = SimpleNamespace(trainable_variables=[Variable("head")], train_function=None)
    watch.takes_step(model)
    model.train_function = object()
    watch.takes_step(model)
    model.trainable_variables.append(Variable("body"))
    watch.takes_step(model)
    model.train_function = None  # compiled again
    watch.takes_step(model)
    assert [(each.traced, each.now) for each in watch.frozen] == [("1", "2")]
