"""Fills holes where their shapes are known: what a model is given to train on, as it asks for it.

The model's inputs say what an example is, its outputs and its loss what a label is, and the script
the batch. So is what was stood in for before, where the model cannot take it as it was made.
"""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownLambdaType=false
import inspect
import re
import sys
import traceback
import weakref
from collections.abc import Callable, Container
from contextlib import suppress
from typing import Any

from tpudiag.sources.job.points import (
    Args,
    Call,
    Kwargs,
    Library,
    barrier,
    bindings,
    hooks,
    privates,
    table,
    user_lines,
)
from tpudiag.sources.job.points.library_objects import Dataset, Spec
from tpudiag.sources.job.tensorflow.input.pipelines import FILLED_IN
from tpudiag.sources.job.tensorflow.watches import function_record

from . import batch_sizes, dataset_holes, hole_sizes, holes
from .asking import takes_apart
from .ledger import TEXTS, WORDS, Ledger
from .model_holes import labels, simplest

_FUNCTIONS = ("train_function", "test_function", "predict_function")
"""Of a Keras model: made anew where they are None."""
_STEPS = ("steps_per_epoch", "validation_steps", "steps")
_OF_ARRAYS = ("validation_batch_size", "validation_split", "sample_weight", "batch_size", "y")
"""What of a call goes by data that were given as arrays."""

_FILES = re.compile(r'File "([^"]+)", line')


class Filling:
    """What models are trained on, where it is not there."""

    def __init__(self, tf: Library, ledger: Ledger) -> None:
        self._tf, self._ledger = tf, ledger
        self._model: Callable[[], object] = lambda: None
        self._refilled = weakref.WeakSet[object]()
        holes.Hole.tpudiag_filled = staticmethod(self._batches)
        tf.register_tensor_conversion_function(holes.Hole, self._tensor)
        hooks.around(table.STRATEGY_RUN, self._stepped)
        hooks.around(table.FUNCTION_CALLED, self._stepped, type(tf.function(lambda: 0)))

    def _tensor(self, hole: holes.Hole, dtype: object = None, *_: object, **__: object) -> object:
        """A hole where a tensor is wanted: texts where it is to be one of texts."""
        if dtype != self._tf.string:
            return self._tf.constant(hole.__array__(), dtype)
        shape = holes.shape_of(hole)
        return self._tf.fill(shape[:-1] if holes.is_open(hole) else shape, TEXTS[0])

    def watch_keras(self, keras: Library) -> None:
        """The models of a Keras, and what strategies are handed: their stand-in is there by now."""
        dataset_holes.install(self._tf, self._batches, self._ledger.note)
        for at in (table.FIT, table.EVALUATE, table.PREDICT):
            hooks.around(at, self._given, keras)
        hooks.around(table.MODEL_CALLED, self._called, keras)
        hooks.after(table.MODEL_MADE, self._made, keras)
        hooks.around(table.WEIGHT_ADDED, self._sized, keras)
        made = (*vars(keras.layers).values(), *vars(keras.optimizers).values())
        for class_ in filter(inspect.isclass, made):
            for at, call in (
                (table.LAYER_GIVEN, self._guessed),
                (table.LAYER_ADAPTED, self._adapted),
            ):
                if at.names[0] in vars(class_):
                    hooks.around(at, call, class_)

    def _guessed(self, original: Call, layer: object, *args: object, **kwargs: object) -> object:
        """A layer is as wide as what nothing told the width of."""
        if holes.holds((args, kwargs), kind=hole_sizes.Guess):
            self._ledger.note("sizes of the model, which nothing tells", "model")
        return self._sized(original, layer, *args, **kwargs)

    def _sized(self, original: Call, layer: object, *args: object, **kwargs: object) -> object:
        """A layer, its weights or an optimizer are made of numbers alone, of sizes or of rates."""
        words: Any = kwargs.get("vocabulary")
        if isinstance(words, holes.Hole):
            kind = int if type(layer).__name__ == "IntegerLookup" else str
            kwargs["vocabulary"] = [*map(kind, range(len(words)))]
        if holes.holds((args, kwargs)):
            self._ledger.note(f"sizes of what is made at {user_lines.caller()}", "model")
            number = float if hasattr(layer, "apply_gradients") else int
            args, kwargs = self._with(number, (args, kwargs))
        return original(layer, *args, **kwargs)

    def _adapted(self, original: Call, layer: Any, *args: object, **kwargs: object) -> object:
        """A layer learns of holes: the vocabulary of any texts, or what their arrays hold."""
        if holes.holds((args, kwargs)) and layer.dtype == "string":
            return original(layer, [WORDS])
        args, kwargs = self._with(holes.Hole.__array__, (args, kwargs))
        return original(layer, *args, **kwargs)

    def _with(self, made: Call, given: Any) -> Any:
        """The same, with what is made of each hole in its place."""
        return self._tf.nest.map_structure(
            lambda each: made(each) if isinstance(each, holes.Hole) else each, given
        )

    def _made(self, model: object, *_: object, **__: object) -> None:
        """A model is made: what one makes while it is made itself is a part of it."""
        whole = self._model()
        if whole is None or not any(f.f_locals.get("self") is whole for f in user_lines.frames()):
            self._model = weakref.ref(model)

    def _called(self, original: Call, model: Any, *args: Any, **kwargs: object) -> object:
        """A model that knows its inputs is called: of a hole, as of a batch of them."""
        if args and isinstance(args[0], holes.Hole) and getattr(model, "inputs", None):
            with hooks.instead(self, _model=lambda: model):
                batches = self._batches(holes.joined(args[:1]))
            args = (args[0] if batches is None else next(iter(batches)), *args[1:])
        return original(model, *args, **kwargs)

    def _given(self, original: Call, model: object, *args: object, **kwargs: object) -> object:
        """A model is trained, evaluated or asked for predictions."""
        bound = bindings.bound(original, model, *args, **kwargs)
        if bound is None:
            return original(model, *args, **kwargs)
        given = (model, bound.arguments, bound.signature.parameters)
        for name in _STEPS if self._ledger.any else ():
            count = bound.arguments.get(name)
            if isinstance(count, (int, float)) and count < 1:  # fewer examples than a batch
                self._ledger.note(f"{name} at {user_lines.caller()}, which came out as {count}")
                bound.arguments[name] = batch_sizes.BATCHES
        if holes.holds(list(bound.arguments.values())[1:]):
            self._fill(*given)
        optimizer = getattr(model, "optimizer", None)
        steps = privates.steps_taken(optimizer) or 0
        try:
            return original(*bound.args, **bound.kwargs)
        except Exception as error:
            # What ran some steps refuses data only by an operation: a last batch, a validation's.
            # A first step may count itself though there is no batch for it.
            stepped = (privates.steps_taken(optimizer) or 0) > steps + 1
            stepped = stepped and not isinstance(error, self._tf.errors.OpError)
            refused = stepped or type(error).__name__ == "NotRehearsable" or not self._ledger.any
            if refused or not hooks.quietly(self._fill, *given):
                raise
            # A function whose first call failed may make no variables any more.
            for name in () if model in self._refilled else _FUNCTIONS:
                setattr(model, name, None)
            self._refilled.add(model)
            try:
                # A loss may hold weights of classes that are not there.
                with hooks.instead(holes.Hole, tpudiag_broadcast=True):
                    return original(*bound.args, **bound.kwargs)
            except Exception as again:
                # No other data helps: the error in more of the script's own lines is its own.
                told, other = sorted((error, again), key=_own_lines, reverse=True)
                if str(told) != str(other):
                    said = f"{type(other).__name__}: {other}".splitlines()[0][:200]
                    self._ledger.note(f"other data for it, which also fail ({said})")
                raise barrier.for_job(told) from None

    def _fill(self, model: object, given: Kwargs, taken: Container[str]) -> bool:
        """Put what a model asks for in the place of its data; the script's own batch stays.

        What it predicts, where no labels are `taken`, has as many rows as a hole has elements.
        """
        x, size = given.get("x"), given.get("batch_size")
        example = self._example(model, given=x)
        if example is None:
            return False
        # A trace for batches of another size is no matter of the script's.
        function_record.remade.append(model)
        parts = self._tf.nest.flatten(getattr(x, "element_spec", None))
        shapes = (shape for each in parts if (shape := getattr(each, "shape", None)) is not None)
        told = next((shape[0] for shape in shapes if shape.rank), None)
        named = told or (size if isinstance(size, int) else None) or batch_sizes.of(x, 0)
        batch, place = named or batch_sizes.of(x), user_lines.caller()
        self._ledger.note(
            f"what the model is given at {place}, as its inputs and its loss ask for it",
            "data" if named else "batch",
        )
        validated = [given.get(name) for name in ("validation_data", "validation_split")]
        empty = [name for name in given if holes.holds(given[name])]
        beside = self._beside(x, example) if empty else None
        # What is asked for of a fit stays: a history has the keys of the real one.
        for name in empty if beside else {*empty, *_OF_ARRAYS} & {*given}:
            del given[name]
        if "epochs" in empty:
            given["epochs"] = 2
        if beside:
            given.update({name: beside[name] for name in empty if name in beside})
            return True
        steps = given.get("steps_per_epoch", given.get("steps"))
        counted = "y" not in taken and steps is None
        data = self._dataset(example, batch, holes.count(x) if counted else None)
        finite = data.take(batch_sizes.BATCHES)
        given["x"] = data if counted or steps is not None else finite
        if any(each is not None for each in validated):
            given["validation_data"] = data if given.get("validation_steps") else finite
        return True

    def _beside(self, x: Any, example: tuple[object, ...]) -> Kwargs | None:
        """What stands beside data that are there: a label for each row, and what validates."""
        if hasattr(x, "element_spec"):
            return {"validation_data": x.take(batch_sizes.BATCHES)}
        parts = self._tf.nest.flatten(x)
        if holes.holds(parts) or not all(getattr(each, "shape", ()) for each in parts):
            return None
        rows = len(parts[0])
        labels = self._tf.nest.map_structure(
            lambda one: self._tf.broadcast_to(one, (rows, *one.shape)), example[-1]
        )
        return {"y": labels, "validation_data": (x, labels)}

    def _example(
        self, model: object, labelled: bool = False, given: object = None
    ) -> tuple[object, ...] | None:
        """Inputs and labels of one example; None where nothing tells the inputs.

        `labelled`: by a loss of the script's, where none was compiled. `given`: of a model that
        was not built, which takes what it is given.
        """
        specs = self._inputs(model, given)
        if specs is None:
            return None
        x = self._tf.nest.map_structure(simplest, specs)
        losses = self._tf.nest.flatten(getattr(model, "loss", None) or [])
        outputs = self._outputs(model, specs)
        if not losses and (labelled or takes_apart(getattr(type(model), "train_step", None))):
            known = vars(sys.modules.get("__main__", sys)).values()
            of_script = (of for of in [*known] if "Loss" in {c.__name__ for c in type(of).__mro__})
            losses, outputs = [next(of_script, "sparse")], (outputs or [])[:1]
        elif any(_is_passed_on(loss, model) for loss in losses):
            losses = ["sparse"]
        if not losses or not outputs:
            return (x,)
        y = [*map(self._taken, labels(outputs, losses), outputs, losses * len(outputs))]
        return (x, tuple(y) if len(y) > 1 else y[0])

    def _taken(self, label: Any, output: Any, loss: object) -> object:
        """A label, or its classes, that a loss of the script's own can be traced with."""
        if inspect.isfunction(loss) and label.ndim:
            spec = self._tf.TensorSpec
            sizes: Any = simplest(output)
            for each in (label, label[..., 0].astype("int32")):
                given = spec((2, *each.shape), each.dtype)
                predicted = spec((2, *sizes.shape), output.dtype)
                with suppress(Exception):
                    self._tf.function(loss).get_concrete_function(given, predicted)
                    return each
        return label

    def _inputs(self, model: object, given: object) -> object:
        """What a model takes: as it was put together or built, by its own example, as `given`."""
        inputs = getattr(model, "inputs", None)
        if inputs:
            return tuple(inputs) if len(inputs) > 1 else inputs[0]
        known = getattr(model, "dummy_inputs", None)  # models of transformers
        built = privates.SHAPES_BUILT.of(model, None) or privates.SHAPE_BUILT.of(model, None)
        if known is None and isinstance(built, dict) and len(built) == 1:
            (built,) = built.values()
        told = known if known is not None else self._specs(built)
        rows: Any = getattr(given, "tpudiag_elements", None) or getattr(
            given, "element_spec", given
        )
        rows = rows[0] if rows is not given and isinstance(rows, tuple) else rows
        shaped = all(hasattr(each, "shape") for each in self._tf.nest.flatten(rows))
        return self._tf.nest.map_structure(self._spec, rows) if told is None and shaped else told

    def _specs(self, built: Any) -> object:
        """Shapes as those of numbers; None where they are of more than one input."""
        with suppress(TypeError, ValueError):
            return self._tf.TensorSpec(self._tf.TensorShape(built), "float32") if built else None
        return None

    def _spec(self, rows: Any) -> Spec:
        """What rows are, each an example."""
        dtype = getattr(rows, "dtype", "float32")
        spec: Spec = self._tf.TensorSpec((None, *rows.shape[1:]), dtype)
        return spec

    def _outputs(self, model: Any, specs: object) -> Any:
        """What a model gives: where it does not tell, as a trace of it shows."""
        outputs = getattr(model, "outputs", None)
        if outputs:
            return outputs
        nest, of, traced = self._tf.nest, self._tf.TensorSpec, None
        taken = nest.map_structure(lambda each: of([None, *each.shape[1:]], each.dtype), specs)
        # Its variables may be made here.
        with suppress(Exception), model.distribute_strategy.scope():
            traced = self._tf.function(model).get_concrete_function(taken)
        given = getattr(traced, "structured_outputs", None)
        return [] if given is None else nest.flatten(getattr(given, "logits", given))

    def _dataset(self, example: object, batch: int, rows: int | None = None) -> Dataset:
        """Batches of an example, without an end where no rows are told."""
        one = self._tf.data.Dataset.from_tensors(example)
        setattr(one, FILLED_IN, True)
        batches: Dataset = one.repeat(rows).batch(batch, drop_remainder=rows is None)
        return batches

    def _stepped(self, original: Call, *args: object, **kwargs: object) -> object:
        """A step is called, or run on the replicas."""
        filled: tuple[Args, Kwargs] = self._filled((args, kwargs))
        return original(*filled[0], **filled[1])

    def _filled(self, args: Any) -> Any:
        """What a step is given; holes are parts of a batch, in their order, or one is all of it."""
        if not holes.holds(args):
            return args
        args = self._with(_begun, args)
        parts = [each for each in self._tf.nest.flatten(args) if isinstance(each, holes.Hole)]
        batches = self._batches(holes.joined(parts) if parts[1:] else parts[0]) if parts else None
        if batches is None:
            return args
        batch = next(iter(batches))
        filled = iter(batch if parts[1:] else [batch])
        return self._with(lambda _: next(filled), args)

    def _batches(self, hole: holes.Hole) -> Any:
        """Batches for the model that was made last, and the loss that the script holds."""
        model, named = self._model(), batch_sizes.of(hole, 0)
        known = model is not None and named
        example = self._example(model, labelled=True, given=hole) if known else None
        if example is None:
            return None
        self._ledger.note("batches that are not there, as the model asks for them")
        parts = self._parts(example, hole.tpudiag_elements)
        return hole.tpudiag_shared(self._dataset(parts, named))

    def _parts(self, example: tuple[object, ...], elements: object) -> object:
        """An example as the parts that a dataset was made of; more than it has are weights."""
        if not isinstance(elements, tuple):
            return example if elements is None else example[0]
        each, asked = self._tf.nest.flatten(example), len(elements)
        return (*(each if len(each) == asked else example), *[1.0] * asked)[:asked]


def _begun(hole: holes.Hole) -> object:
    """What goes over batches that no model told of when the script asked for it."""
    iterator = hole.tpudiag_iterator() if hole.tpudiag_iterator else None
    if iterator is not None:  # the same from now on
        hole.tpudiag_iterator = lambda: iterator
    return hole if iterator is None else iterator


def _own_lines(error: Exception) -> int:
    """How many lines of the script's an error came through, as AutoGraph tells them too."""
    files = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__)]
    return sum(map(user_lines.is_user_file, [*files, *_FILES.findall(str(error))]))


def _is_passed_on(loss: object, model: object) -> bool:
    """Whether the model takes labels itself: the loss, a function beside it, hands on its own."""
    if not inspect.isfunction(loss):
        return False
    takes = inspect.signature(getattr(model, "call", loss)).parameters
    places = {of.__module__.partition(".")[0] for of in (loss, type(model))}
    return "labels" in takes and len(places) == 1
