"""Shortens Keras' fit and evaluate once the first loop was observed.

A fit ends after two epochs, by its own `stop_training`; its history is extended to the requested
epochs with the last values, since scripts plot it. Inside an epoch the steps are forwarded, and the
epoch is left after thousands; data of unknown length ends.
"""

from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from typing import Any

from tpudiag.script_run import InterventionKind
from tpudiag.signals import ShortenedLoop
from tpudiag.sources.job.points import (
    Args,
    Call,
    Kwargs,
    Library,
    barrier,
    bindings,
    hooks,
    interventions,
    privates,
    table,
    user_lines,
)
from tpudiag.sources.job.tensorflow.input import cardinality
from tpudiag.sources.job.tensorflow.shortening import predictions
from tpudiag.sources.job.tensorflow.shortening.fast_forward import FastForward

EPOCHS_OF_FIT = InterventionKind.EPOCHS
EPOCHS = 2
FULLER_FITS = 2
"""Fits with so many epochs; later ones (the folds of a cross-validation) have one."""


class EpochWatch:
    """Hooks fit, evaluate and predict of the job's Keras."""

    def __init__(self, tf: Library, forward: FastForward) -> None:
        self._tf, self._forward = tf, forward
        self.shortened: list[ShortenedLoop] = []
        self._fitting = False
        """A callback's prediction is part of its epoch's cost."""
        self._begun = 0
        self._fitted = False
        self._predicted: int | None = None

    def watch_keras(self, keras: Library) -> None:
        """Install the hooks on a Keras package."""
        hooks.around(table.FIT, partial(self._fit, callback_class(keras, self._forward)), keras)
        hooks.around(table.EVALUATE, self._evaluate, keras)
        hooks.around(table.PREDICT, self._predict, keras)

    def predicts(self) -> int | None:
        """A replica's batch of the prediction that runs."""
        return self._predicted

    def _fit(
        self, class_: Any, original: Call, model: object, *args: object, **kwargs: object
    ) -> object:
        """A fit, with our callback that ends it after two epochs."""
        bound = bindings.bound(original, model, *args, **kwargs)
        callbacks = bound.arguments.get("callbacks") if bound is not None else None
        if isinstance(callbacks, class_.__base__):
            callbacks = [callbacks]
        # Keras also accepts a CallbackList, which must not be wrapped again: such a fit runs in
        # full.
        if bound is None or not isinstance(callbacks, (list, tuple, type(None))):
            return original(model, *args, **kwargs)
        self._begun += 1
        given = bound.arguments
        # At least to the first validation: scripts read its metrics from the history.
        validated = given.get("validation_freq")
        first = validated if isinstance(validated, int) else max(validated or (1,))
        callback = class_(max(EPOCHS if self._begun <= FULLER_FITS else 1, first))
        given["callbacks"] = [*(callbacks or ()), callback]
        at = user_lines.caller()
        reading = self._reading(given.get("x"), given.get("steps_per_epoch"))
        with hooks.instead(self, _fitting=True), reading:
            history = interventions.tried(
                InterventionKind.BATCHES, lambda: original(*bound.args, **bound.kwargs)
            )
        self._fitted = True
        requested = int(given.get("epochs") or 1) - int(given.get("initial_epoch") or 0)
        if callback.steps:
            self.shortened.append(ShortenedLoop("steps of an epoch", at, *callback.steps))
        if callback.stopped and callback.epochs < requested:
            self.shortened.append(ShortenedLoop("epochs of fit", at, callback.epochs, requested))
            barrier.attempt("Model.fit history", fill_history, history, requested, validated or 1)
        return history

    def _evaluate(self, original: Call, model: object, *args: object, **kwargs: object) -> object:
        """An evaluation, alone or inside fit: a pass of its own."""
        bound = bindings.bound(original, model, *args, **kwargs)
        given: Kwargs = bound.arguments if bound is not None else {}
        self._forward.new_pass()
        with self._reading(given.get("x"), given.get("steps")):
            return interventions.tried(
                InterventionKind.BATCHES, lambda: original(model, *args, **kwargs)
            )

    def _predict(self, original: Call, model: object, *args: object, **kwargs: object) -> object:
        """A prediction, which reads some of its data but has its full length."""
        self._forward.new_pass()
        with (
            hooks.instead(self._forward, whole_results=True),
            hooks.instead(self._tf.distribute.TPUStrategy, tpudiag_whole_batches=True),
        ):
            return interventions.tried(
                InterventionKind.PREDICTIONS,
                lambda: self._first_batches(original, model, args, kwargs),
            )

    def _first_batches(self, original: Call, model: object, args: Args, kwargs: Kwargs) -> object:
        """Predict the first batches only, once the first loop was observed.

        Or once a fit has ended, which may have had fewer steps than are observed.
        """
        shortened = interventions.allowed(InterventionKind.PREDICTIONS) and (
            self._forward.training_too or (self._fitted and not self._fitting)
        )
        bound = bindings.bound(original, model, *args, **kwargs)
        share = self._tf.distribute.TPUStrategy.tpudiag_share()
        given: Kwargs = bound.arguments if bound is not None else {}
        size = hooks.quietly(
            predictions.batch_of, self._tf, given.get("x"), given.get("batch_size")
        )
        strategy: Any = getattr(model, "distribute_strategy", None)
        replicas = int(getattr(strategy, "num_replicas_in_sync", 1))
        with hooks.instead(self, _predicted=size and -(-size // replicas)):
            short = (
                predictions.predict(self._tf, original, bound, *share)
                if bound is not None and shortened
                else None
            )
            if short is None:
                return original(model, *args, **kwargs)
        result, *few = short
        loop = ShortenedLoop("batches of predict", user_lines.caller(), *few)
        if loop not in self.shortened:
            self.shortened.append(loop)
        return result

    @contextmanager
    def _reading(self, data: object, steps: object) -> Generator[None]:
        """While Keras reads data of which some examples per batch suffice.

        Not in loops of the script's own, which may count a pass's elements. The end of some data
        only its iterator knows.
        """
        endless = steps is None and length_is_unknown(data)
        with (
            hooks.instead(
                self._tf.distribute.TPUStrategy, tpudiag_sparing=self._forward.training_too
            ),
            hooks.instead(self._forward, endless=endless),
        ):
            yield


def callback_class(keras: Library, forward: FastForward) -> type:
    """The callback that ends a fit, derived from the job's own Keras."""

    base: Any = keras.callbacks.Callback

    class ShortenedFit(base):  # type: ignore[misc]
        """Ends a fit after `most` epochs, once the first loop was observed."""

        def __init__(self, most: int = EPOCHS) -> None:
            base.__init__(self)
            self.most = most
            self.epochs = 0
            self.stopped = self._leaves = False
            self._taken, self.steps = 0, tuple[int, ...]()
            """Of an epoch that was left: how many were taken, and how many there are."""
            self._before: list[tuple[Any, int | None]] = []

        def on_epoch_begin(self, epoch: object, logs: object = None) -> None:  # noqa: ARG002
            barrier.attempt("fit on_epoch_begin", forward.new_pass)
            self._before = barrier.attempt("counters", forward.counts) or []
            self._taken = privates.steps_taken(self.model.optimizer) or 0
            forward.on_enough = self._leave

        def _leave(self) -> None:
            """So many steps of this epoch were answered that the others tell no more."""
            known = self.params.get("steps") is not None
            if known and not self.model.stop_training and interventions.allowed(EPOCHS_OF_FIT):
                self.model.stop_training = self._leaves = True
                interventions.note(EPOCHS_OF_FIT)

        def _left(self) -> None:
            """Go on behind an epoch, as if all of its steps had been taken."""
            forward.move_counters()
            taken = (privates.steps_taken(self.model.optimizer) or 0) - self._taken
            self.steps = self.steps or (taken, self.params["steps"])
            forward.catch_up(self._before, self.params["steps"] / max(taken, 1))

        def on_test_begin(self, logs: object = None) -> None:  # noqa: ARG002
            forward.on_enough = lambda: None

        def on_epoch_end(self, epoch: object, logs: object = None) -> None:  # noqa: ARG002
            self.on_test_begin()
            self.epochs += 1
            model = self.model
            if self._leaves:
                model.stop_training = self._leaves = False
                barrier.attempt("steps of an epoch", self._left)
            # A fit already ended by the job's own callback was not shortened by us.
            enough = forward.training_too and self.epochs >= self.most
            if enough and not model.stop_training and interventions.allowed(EPOCHS_OF_FIT):
                model.stop_training = self.stopped = True
                interventions.note(EPOCHS_OF_FIT)

    return ShortenedFit


def length_is_unknown(data: Any) -> bool:
    """Whether the number of batches is known only by reading the data."""
    if getattr(data, "cardinality", None) is not None:
        return cardinality.known(data) == cardinality.UNKNOWN
    # Keras 3's PyDataset; None where unknown or endless.
    if hasattr(data, "num_batches"):
        return data.num_batches is None
    return hasattr(data, "__next__")


def fill_history(history: Any, epochs: int, validated: Any = 1) -> None:
    """Repeat a fit history's last values up to the requested epochs.

    `validated` is Keras' validation_freq: scripts plot one curve over the other, and values
    validated every other epoch are half as many.
    """
    first = history.epoch[0] if history.epoch else 0
    history.epoch.extend(range(first + len(history.epoch), first + epochs))
    numbers = range(first + 1, first + epochs + 1)
    if isinstance(validated, int):
        validations = sum(number % validated == 0 for number in numbers)
    else:
        validations = sum(number in validated for number in numbers)
    for name, values in history.history.items():
        wanted = validations if name.startswith("val_") else epochs
        values.extend([values[-1]] * (wanted - len(values)) if values else [])
