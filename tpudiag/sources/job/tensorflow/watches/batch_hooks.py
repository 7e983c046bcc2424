"""User callbacks that count batches and set the learning rate by the count."""

from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from tpudiag.model import Location
from tpudiag.signals import BatchCallback
from tpudiag.sources.job.points import Call, Kwargs, Library, hooks, table, user_lines
from tpudiag.sources.job.tensorflow.watches.keras import fit_arguments

_State: TypeAlias = tuple[dict[str, int], float]
"""A callback's integers, and the learning rate."""
_HOOKS = ("on_train_batch_begin", "on_train_batch_end", "on_batch_begin", "on_batch_end")
FOLLOWED = 50
"""The most calls of one hook that are examined."""


@dataclass
class _Seen:
    location: Location
    calls: int = 0
    counted: int = 0
    """Calls that incremented one of the callback's numbers."""
    counter: str = ""
    rates: int = 0
    """Calls that changed the learning rate."""


class BatchHookWatch:
    """Hooks fit, and wraps the user's batch hooks."""

    def __init__(self) -> None:
        self._seen: dict[str, _Seen] = {}

    def watch_keras(self, keras: Library) -> None:
        """Hook a Keras."""
        hooks.before(table.FIT, self._fit, keras)

    def facts(self) -> tuple[BatchCallback, ...]:
        """Callbacks that set the rate by their own count."""
        return tuple(
            BatchCallback(name=name, counter=s.counter, calls=s.calls, location=s.location)
            for name, s in self._seen.items()
            if s.rates and s.calls > 1 and s.counted == s.calls
        )

    def _fit(self, model: object, *args: object, **kwargs: object) -> None:
        given: object = fit_arguments(args, kwargs).get("callbacks", ())
        several = cast("list[object]", given) if isinstance(given, (list, tuple)) else [given]
        for callback in several:
            for name in _HOOKS:
                own = getattr(callback, name, None)
                location = user_lines.of_function(getattr(own, "__func__", own))
                if own is not None and location is not None:
                    title = f"{type(callback).__name__}.{name}"
                    seen = self._seen.setdefault(title, _Seen(location))
                    setattr(callback, name, _followed(own, callback, model, seen))


def _followed(own: Call, callback: object, model: object, seen: _Seen) -> object:
    """The hook, with its changes recorded."""
    if getattr(own, "followed_by_tpudiag", False):
        return own

    def call(*args: object, **kwargs: object) -> object:
        if seen.calls >= FOLLOWED:
            return own(*args, **kwargs)
        before = hooks.quietly(_state, callback, model)
        result = own(*args, **kwargs)
        hooks.quietly(_compare, seen, before, hooks.quietly(_state, callback, model))
        return result

    call.followed_by_tpudiag = True  # type: ignore[attr-defined]
    return call


def _state(callback: object, model: Any) -> _State:
    own = {k: v for k, v in cast("Kwargs", vars(callback)).items() if type(v) is int}
    rate = model.optimizer.learning_rate
    # Keras 3 wraps a TensorFlow variable, whose `value` is no method.
    held = getattr(rate, "value", rate)
    held = rate if callable(held) else held
    return own, float(held.numpy() if hasattr(held, "numpy") else held)


def _compare(seen: _Seen, before: _State | None, after: _State | None) -> None:
    if before is None or after is None:
        return
    seen.calls += 1
    raised = [k for k, v in after[0].items() if v == before[0].get(k, v) + 1]
    if raised:
        seen.counted, seen.counter = seen.counted + 1, raised[0]
    seen.rates += after[1] != before[1]
