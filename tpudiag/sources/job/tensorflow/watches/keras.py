"""Watches Keras: which one trains, in which loop, with which precision and loss scaling."""

from collections.abc import Callable
from typing import Any

from tpudiag.model import Location
from tpudiag.script_run import InterventionKind
from tpudiag.signals import KerasUse, MixedPrecision
from tpudiag.sources.job.points import (
    Args,
    Kwargs,
    Library,
    barrier,
    hooks,
    interventions,
    privates,
    table,
    user_lines,
)
from tpudiag.sources.job.points.library_objects import Strategy
from tpudiag.sources.job.tensorflow.graphs.batches import batch_of_arrays
from tpudiag.sources.job.tensorflow.watches.layers import LayerWatch

_OF_FIT = (
    *("x", "y", "batch_size", "epochs", "verbose", "callbacks", "validation_split"),
    *("validation_data", "shuffle", "class_weight", "sample_weight", "initial_epoch"),
    "steps_per_epoch",
)
"""By position, the same in Keras 2 and 3."""


class KerasWatch:
    """Hooks Model.compile, Model.fit and the optimizers of the job's Keras."""

    def __init__(self, tf: Library) -> None:
        self._tf = tf
        self.package = ""
        self._versions: dict[str, str] = {}
        self.fit_model: object = None
        self.fit_at: Location | None = None
        self.fit_batch: int | None = None
        """The batch of the last fit's arrays; None where it got batches."""
        self.optimizers: list[object] = []
        self._stepped = False
        self._restored_steps = 0
        """The optimizers' steps before the first training call."""
        self.layers = LayerWatch()
        self._fit_epochs = 1
        self._lines: dict[int, Location | None] = {}
        self._steps_asked: dict[int, int] = {}
        self._compiled_twice: set[int] = set()
        """Models compiled with jit_compile=True under a strategy, which compiles the step."""

    def watch(self, keras: Library, package: str) -> None:
        """Install the hooks on a Keras package."""
        self.package = package
        self._versions[package] = str(keras.__version__)
        self.layers.watch(keras)
        hooks.before(table.FIT, self._note_fit, keras)
        hooks.after(table.COMPILED, self._note_compile, keras)
        hooks.after(table.OPTIMIZER_MADE, self._note_optimizer, keras)
        hooks.after(table.OTHER_OPTIMIZER_MADE, self._note_optimizer, keras)
        # tf-keras makes one of two classes, by the wrapped optimizer.
        hooks.after(table.SCALING_MADE, self._note_optimizer, keras, gives=True)

    def adapt_to_cpu_replicas(self, keras: Library) -> None:
        """Keep Keras 3 from what works on a TPU but not on CPU replicas.

        An optimizer's variables are made before its first update inside a replica, a layer's before
        its first call there, and a model takes one step per execution: CPU replicas fail otherwise
        ("You must feed a value for placeholder tensor"), which is no fault of the script.
        """
        hooks.before(table.OPTIMIZER_APPLIES, self._build, keras)
        hooks.after(table.COMPILED, self._take_single_steps, keras)
        hooks.after(table.COMPILED, self._compile_once, keras)
        hooks.after(table.EVALUATE, self._begin_again, keras)
        if hasattr(keras, "KerasTensor"):  # Keras 2 makes them in replicas, which works on CPUs
            hooks.before(table.LAYER_CALLED, LayerBuilder(self._tf, keras).before_call, keras)

    def _take_single_steps(self, model: Any, *_: object, **__: object) -> None:
        requested = _integer(getattr(model, "steps_per_execution", None))
        self._steps_asked[id(model)] = requested
        if requested > 1 and interventions.allowed(InterventionKind.SINGLE_STEPS):
            interventions.note(InterventionKind.SINGLE_STEPS)
            model.steps_per_execution = 1

    def _begin_again(self, model: object, *_: object, **__: object) -> None:
        """Let Keras 3 reread validation data where several steps at once would have ended it."""
        single = interventions.allowed(InterventionKind.SINGLE_STEPS)
        reader = privates.VALIDATION.of(model, None)
        if single and reader is not None and self._steps_asked.get(id(model), 1) > 1:
            reader.reset()

    def _compile_once(self, model: Any, *_: object, **__: object) -> None:
        """Drop jit_compile=True from a distributed step, which would fail unobserved."""
        # From an earlier compile, or a deleted model with the same id.
        self._compiled_twice.discard(id(model))
        strategy = getattr(model, "distribute_strategy", None)
        replicas = getattr(strategy, "num_replicas_in_sync", 1)
        requested = replicas > 1 and getattr(model, "jit_compile", False) is True
        if requested and interventions.allowed(InterventionKind.UNCOMPILED):
            interventions.note(InterventionKind.UNCOMPILED)
            self._compiled_twice.add(id(model))
            model.jit_compile = False

    def _build(self, optimizer: Any, *args: object, **kwargs: object) -> None:
        """Build in the cross-replica context."""
        given: Any = kwargs.get("trainable_variables", args[1] if len(args) > 1 else None)
        if not getattr(optimizer, "built", True) and given is not None:
            _made_early(self._tf, optimizer, lambda: optimizer.build(list(given)))

    def _package_in_use(self) -> str:
        for used in (self.fit_model, *reversed(self.optimizers)):
            for class_ in type(used).__mro__:
                package = class_.__module__.partition(".")[0]
                if package in self._versions:
                    return package
        return self.package

    def facts(self) -> KerasUse | None:
        """The Keras in use, None where there is none."""
        if not self.package or not (self.layers.policies or self.optimizers):
            return None
        model = self.fit_model
        package = self._package_in_use()
        return KerasUse(
            package=package,
            version=self._versions[package],
            loop="fit" if model is not None else "custom",
            epochs=self._fit_epochs,
            jit_compile=(
                id(model) in self._compiled_twice or bool(getattr(model, "jit_compile", False))
            ),
            steps_per_execution=self.steps_per_execution(),
            fit_at=self.fit_at,
        )

    def steps_per_execution(self) -> int:
        """The steps per execution with which the model in fit was compiled."""
        model = self.fit_model
        # Keras 2 keeps it as a private variable.
        return self._steps_asked.get(id(model)) or _integer(
            getattr(model, "steps_per_execution", None)
            or privates.STEPS_PER_EXECUTION.of(model, None)
        )

    def line_of(self, made: object) -> Location | None:
        """The line that compiled a model, or that made an optimizer or compiled with its name."""
        return self._lines.get(id(made))

    def precision(self) -> MixedPrecision | None:
        """The dtype policies of the layers and the loss scaling."""
        if not self.package:
            return None
        scaling = next((o for o in self.optimizers if "LossScale" in type(o).__name__), None)
        policies = self.layers.policies
        # The line of a float16 policy has priority: that one is useless on a TPU.
        half = next((name for name in policies if name in ("float16", "mixed_float16")), "")
        return MixedPrecision(
            tuple(sorted(policies)),
            type(scaling).__name__ if scaling is not None else None,
            self.line_of(scaling),
            policies.get(half) or next(iter(policies.values()), None),
            self.layers.global_policy,
            self.layers.made_before,
            tuple(self.layers.wide),
            self.layers.policy_line(),
            self.layers.unused_policy(),
        )

    def own_methods(self) -> tuple[object, ...]:
        """The user-written methods of the model in fit."""
        methods = (getattr(self.fit_model, name, None) for name in ("train_step", "call"))
        return tuple(method for method in methods if user_lines.of_function(method) is not None)

    def calling(self) -> None:
        """A function that may be the first step is about to be called; restored steps count."""
        if not self._stepped:
            self._restored_steps = self.iterations() or 0

    def steps_of_first_call(self) -> int | None:
        """Optimizer steps of the first training call, which just ended; None where unknown."""
        self._stepped = True
        now = self.iterations()
        return None if now is None else now - self._restored_steps

    def iterations(self) -> int | None:
        """Optimizer steps taken so far, None where no optimizer is known."""
        taken = map(privates.steps_taken, self.optimizers)
        return max((steps for steps in taken if steps is not None), default=None)

    def _note_fit(self, model: object, *args: object, **kwargs: object) -> None:
        self.fit_model, self.fit_at = model, user_lines.caller()
        given = fit_arguments(args, kwargs)
        self.fit_batch = batch_of_arrays(given.get("x"), given.get("batch_size"))
        cut = given.get("steps_per_epoch") is not None
        self._fit_epochs = 1 if cut else _integer(given.get("epochs", 1))

    def _note_compile(self, model: object, *_: object, **__: object) -> None:
        self._lines[id(model)] = user_lines.caller()
        optimizer = getattr(model, "optimizer", None)
        if optimizer is not None:
            self._note_optimizer(optimizer)

    def _note_optimizer(self, optimizer: object, *_: object, **__: object) -> None:
        if not any(optimizer is known for known in self.optimizers):
            self.optimizers.append(optimizer)
            self._lines[id(optimizer)] = user_lines.caller()


def fit_arguments(args: Args, kwargs: Kwargs) -> dict[str, Any]:
    """The arguments of a fit by their names, as far as they are given."""
    return {**dict(zip(_OF_FIT, args, strict=False)), **kwargs}


def _integer(value: Any) -> int:
    """A setting as an int, 1 by default."""
    try:
        return int(value.numpy() if hasattr(value, "numpy") else value)
    except (TypeError, ValueError):
        return 1


def _made_early(tf: Library, made: Any, make: Callable[[], object]) -> None:
    """Make the variables of what is not built yet, once for all replicas, which meet here."""
    context = tf.distribute.get_replica_context()
    if context is None or not tf.distribute.has_strategy():
        return  # those of one replica may belong to no strategy
    if not interventions.allowed(InterventionKind.EARLY):
        return

    def build(strategy: Strategy) -> None:
        if not made.built:
            interventions.note(InterventionKind.EARLY)
            # init_scope leaves the graph being traced: a variable made inside it would be local to
            # one replica's graph.
            with tf.init_scope(), strategy.scope():
                make()

    # Replicas trace side by side on threads of their own and meet in merge_call: there the
    # variables are made once, mirrored, while the others wait.
    context.merge_call(build)


class LayerBuilder:
    """Makes a layer's variables before its first call inside a replica that is being traced.

    The layer is called once on symbols with the first replica's shapes, outside the replicas and
    in the strategy's scope.
    """

    def __init__(self, tf: Library, keras: Library) -> None:
        self._tf, self._keras = tf, keras
        self._building = False

    def before_call(self, layer: Any, *args: object, **kwargs: object) -> None:
        """Build an unbuilt layer called in a replica; one that accepts no symbols stays unbuilt."""
        tf = self._tf
        if layer.built or self._building or tf.executing_eagerly():
            return
        # A functional model under construction calls its layers on symbols, which builds them.
        if any(isinstance(leaf, self._keras.KerasTensor) for leaf in tf.nest.flatten(args)):
            return

        def build() -> None:
            given, named = tf.nest.map_structure(self._symbol, (args, dict(kwargs)))
            with hooks.instead(self, _building=True):
                layer(*given, **named)

        _made_early(tf, layer, lambda: barrier.attempt("Layer.__call__ build", build))

    def _symbol(self, value: Any) -> object:
        if not self._tf.is_tensor(value) or not hasattr(value, "shape"):
            return value
        return self._keras.KerasTensor(tuple(value.shape), value.dtype.name)
