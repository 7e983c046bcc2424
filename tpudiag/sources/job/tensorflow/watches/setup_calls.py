"""Watches repeated setup, the data that `fit` is to iterate over, and code made for GPUs."""

import re
import weakref
from collections.abc import Container, Iterable
from functools import partial
from typing import Any

from tpudiag.model import Location
from tpudiag.signals import FrozenState, Tf1Use
from tpudiag.signals.step_numerics import OutsideVariable
from tpudiag.signals.training_loop import FitData, FitSchedule, GpuUse, RepeatedSetup
from tpudiag.sources.job.points import Library, hooks, privates, table, user_lines
from tpudiag.sources.job.points.library_objects import Graph, Variable
from tpudiag.sources.job.tensorflow.watches import schedules, variables
from tpudiag.sources.job.tensorflow.watches.keras import fit_arguments

_GPU = re.compile(r"(^|[/:])gpu([:\d*]|$)", re.IGNORECASE)
_TPU = re.compile(r"(^|[/:])tpu([:\d*]|$)", re.IGNORECASE)
_OF_GPUS = {
    **{name: name for name in ("MirroredStrategy", "OneDeviceStrategy")},
    "CollectiveAllReduceStrategy": "MultiWorkerMirroredStrategy",
}
"""The classes of strategies for GPUs, with the names that scripts have for them."""
STARTS_AGAIN = (3, 0)
"""The Keras from which on exhausted datasets restart (tested: 3.15, tf-keras)."""
_Made = tuple[weakref.ref[Variable], Location | None]
"""A variable and the line that made it."""


class SetupWatch:
    """Hooks the TPU's initialisation, strategies, devices, `compile` and `fit`."""

    def __init__(self, tf: Library) -> None:
        self._tf = tf
        self._variables = 0
        self._initialised: list[RepeatedSetup] = []
        self._compiled: dict[tuple[object, Location], list[tuple[str, ...]]] = {}
        self._metrics: list[_Made] = []
        self._outside: list[_Made] = []
        self.gpu: dict[str, GpuUse] = {}
        """What was made for a GPU, by its name."""
        self.fit_data: list[FitData] = []
        """Of each fit with a dataset and steps_per_epoch."""
        self._schedules: list[FitSchedule | None] = []
        self._traced: dict[int, int] = {}
        """How many variables a model had to train when its step was made."""
        self.frozen: list[FrozenState] = []
        """Fits that go on with the step of before, though layers were freed since."""
        # Of JAX no other one trains, and it is not watched here.
        self._package, self._version = "keras", STARTS_AGAIN
        self.fits = 0
        self.tpu_strategy = False
        self.unplaced = True
        """Whether nothing so far would place a step on a TPU, or on any device."""
        hooks.before(table.TPU_INITIALISED, self._initialise)
        hooks.before(table.DEVICE_NAMED, self._device)
        hooks.before(table.MEMORY_GROWTH, self._memory_growth)
        hooks.after(table.STRATEGY_MADE, self.strategy_made)

    def watch_keras(self, keras: Library, package: str) -> None:
        """Hook a Keras."""
        self._package = package
        major, minor, *_ = map(int, re.findall(r"\d+", str(keras.__version__)))
        self._version = major, minor
        hooks.after(table.COMPILED, self._compile, keras)
        hooks.before(table.FIT, self.fit_begins, keras)

    def setups(self) -> tuple[RepeatedSetup, ...]:
        """The repeated setups."""
        compiled = (
            RepeatedSetup(
                kind="compile",
                times=len(calls),
                location=location,
                fits=self.fits,
                changed=len(set(calls)) > 1,
            )
            for (_, location), calls in self._compiled.items()
            if len(calls) > 1
        )
        return (*self._initialised[1:], *compiled)

    def schedules(self) -> tuple[FitSchedule, ...]:
        """The schedule of a fit that is the only one: others may go on with it."""
        return tuple(filter(None, self._schedules if self.fits == 1 else ()))

    def variable_made(self, variable: Variable) -> None:
        """A variable was made, of each replica."""
        self._variables += 1
        if not self._tf.distribute.has_strategy():
            made = self._metrics if variables.made_by(".metrics") else self._outside
            made.append((weakref.ref(variable), user_lines.caller()))

    def outside_metrics(self, graph: Graph) -> tuple[OutsideVariable, ...]:
        """Metrics made outside a scope whose variables a traced step assigns."""
        # In the graph an outer variable is a placeholder of its handle.
        outside = {id(inner): id(outer) for outer, inner in graph.captures}
        assigned = {
            outside.get(id(operation.inputs[0]))
            for operation in graph.get_operations()
            if operation.type.startswith("Assign") and operation.inputs
        }
        return _of_handles(self._metrics, assigned)

    def outside_read(self, graph: Graph) -> tuple[OutsideVariable, ...]:
        """Float tensors made outside a scope that a traced step reads.

        Without scalars (rates, counters) and random generators' state, which are handled elsewhere.
        """
        taken = {id(outer) for outer, _ in graph.captures}
        tensors = [
            (made, location)
            for made, location in self._outside
            if (variable := made()) is not None
            and variable.shape.rank
            and variable.dtype.is_floating
        ]
        return _of_handles(tensors, taken)

    def _initialise(self, *_: object, **__: object) -> None:
        self._initialised.append(
            RepeatedSetup(
                kind="tpu",
                times=len(self._initialised) + 1,
                location=user_lines.caller(),
                variables=self._variables,
            )
        )

    def strategy_made(self, strategy: object, *_: object, **__: object) -> None:
        """A strategy of whatever kind is there."""
        name = type(strategy).__name__
        self.tpu_strategy |= name.startswith("TPUStrategy")
        # The default strategy of `get_strategy` is made at its first call.
        self.unplaced &= privates.DEFAULT_STRATEGY.names(strategy)
        if name in _OF_GPUS:
            self._note_gpu(f"tf.distribute.{_OF_GPUS[name]}", user_lines.caller())

    def _device(self, device_name: object = None, *_: object, **__: object) -> None:
        name = getattr(device_name, "name", device_name)  # a LogicalDevice, or its name
        if self.unplaced and isinstance(name, str) and _TPU.search(name):
            self.unplaced = user_lines.direct_caller() is None
        if isinstance(device_name, str) and _GPU.search(device_name):
            self._note_gpu(f'tf.device("{device_name}")', user_lines.direct_caller())

    def _memory_growth(self, *_: object, **__: object) -> None:
        self._note_gpu("tf.config.experimental.set_memory_growth", user_lines.direct_caller())

    def _note_gpu(self, what: str, location: Location | None) -> None:
        if location is not None:
            self.gpu.setdefault(what, GpuUse(what, location))

    def _compile(self, model: object, *_: object, **__: object) -> None:
        location = user_lines.direct_caller()
        if location is not None:
            self._compiled.setdefault((model, location), []).append(trained_names(model))

    def fit_begins(self, model: object, *args: object, **kwargs: object) -> None:
        """A Keras of whichever framework trains."""
        self.fits += 1
        given = fit_arguments(args, kwargs)
        self.takes_step(model)
        x, steps = given.get("x"), given.get("steps_per_epoch")
        of_fit = schedules.of_fit(model, given, self._batches(x), user_lines.caller())
        self._schedules.append(of_fit)
        if steps is None or not self._is_stream(x):
            return
        validation = given.get("validation_data")
        data = FitData(
            batches=self._batches(x),
            steps_per_epoch=int(steps),
            epochs=int(given.get("epochs", 1)) - int(given.get("initial_epoch") or 0),
            starts_again=self._package == "keras" and self._version >= STARTS_AGAIN,
            location=user_lines.caller(),
            validation_unknown=self._is_stream(validation) and self._batches(validation) == -2,
        )
        self.fit_data.append(data)

    def takes_step(self, model: object) -> None:
        """A fit takes its model's training step, which `compile` alone lets Keras make anew."""
        now = len(trained_names(model))
        made = getattr(model, "train_function", None) is not None
        traced = self._traced[id(model)] = self._traced.get(id(model), now) if made else now
        if traced < now:  # of fewer Keras may have traced it again, for other data
            state = FrozenState(
                kind="read", name="len(model.trainable_variables)", function="fit", calls=1,
                location=user_lines.caller(), traced=str(traced), now=str(now),
            )  # fmt: skip
            self.frozen.append(state)

    def _is_stream(self, data: object) -> bool:
        """Whether data ends: a dataset or generator; arrays restart."""
        dataset = isinstance(data, self._tf.data.Dataset)
        return dataset or hasattr(data, "element_spec") or hasattr(data, "__next__")

    def _batches(self, data: Any) -> int:
        """The batches of a dataset; -2 where unknown, -1 where endless."""
        return int(data.cardinality()) if isinstance(data, self._tf.data.Dataset) else -2


def _of_handles(
    made: Iterable[_Made], handles: Container[int | None]
) -> tuple[OutsideVariable, ...]:
    alive = ((reference(), location) for reference, location in made)
    return tuple(
        OutsideVariable(str(variable.name), location)
        for variable, location in alive
        if variable is not None and id(variable.handle) in handles
    )


def trained_names(model: object) -> tuple[str, ...]:
    """Names of the trained variables, as far as they exist.

    Keras 2 refuses to list them for a model with an unbuilt Sequential.
    """
    try:
        return tuple(str(variable.name) for variable in getattr(model, "trainable_variables", ()))
    except ValueError:
        return ()


def watch_tf1() -> dict[str, Tf1Use]:
    """Hook tf.compat.v1's sessions, placeholders and switches; gives the user's uses, by API."""
    uses: dict[str, Tf1Use] = {}

    def note(api: str, /, *_: object, **__: object) -> None:
        # Only from the user's own line: TensorFlow and Keras use these APIs internally.
        location = user_lines.direct_caller()
        if location is not None:
            uses.setdefault(api, Tf1Use(api, location))

    for each in (*table.TF1_SWITCHES.each(), *table.TF1_SESSIONS.each()):
        hooks.before(each, partial(note, each.name.removesuffix(".__init__")))
    return uses


def tf2_enabled() -> bool | None:
    """TensorFlow's own switch for v2 behaviour; None where it moved."""
    enabled = privates.TF2_ENABLED.get()
    return bool(enabled()) if enabled is not None else None
