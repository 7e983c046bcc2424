"""Watches the callbacks of Keras that act by a metric, and what each epoch reports."""

from typing import Any

from tpudiag.model import Location
from tpudiag.signals.training_loop import Monitor
from tpudiag.sources.job.points import Library, hooks, table, user_lines
from tpudiag.sources.job.tensorflow.watches.keras import fit_arguments


class MonitorWatch:
    """Hooks the callbacks that monitor a metric, and fit."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[object, Location | None]] = {}
        """Each callback, kept alive so that its id is not reused, and the line that made it."""
        self._seen: dict[int, Monitor] = {}
        self._validates = False
        """Whether the last fit has data for validation, of which not each epoch may tell."""

    def watch_keras(self, keras: Library) -> None:
        """Hook a Keras."""
        hooks.before(table.FIT, self._fit, keras)
        hooks.after(table.MONITOR_MADE, self._note_made, keras)
        hooks.before(table.MONITOR_ASKED, self._epoch_ends, keras)

    def facts(self) -> tuple[Monitor, ...]:
        """Each that an epoch ended for."""
        return tuple(self._seen.values())

    def _fit(self, _: object, *args: object, **kwargs: object) -> None:
        given = fit_arguments(args, kwargs)
        self._validates = given.get("validation_data") is not None or bool(
            given.get("validation_split")
        )

    def _note_made(self, callback: object, *_: object, **__: object) -> None:
        self._made[id(callback)] = callback, user_lines.caller()

    def _epoch_ends(self, callback: Any, epoch: object = None, logs: Any = None) -> None:  # noqa: ARG002
        # Only the best model is chosen by a metric; between the epochs others are reported.
        best_alone = getattr(callback, "save_best_only", True)
        if not best_alone or getattr(callback, "save_freq", "epoch") != "epoch":
            return
        name, reported = str(callback.monitor), tuple(map(str, logs or ()))
        found, made = name in reported, self._made.get(id(callback))
        validated = any(each.startswith("val_") for each in reported)
        if made is None or not (found or validated or not self._validates):
            return
        if self._seen.get(id(callback)) is None or found:
            self._seen[id(callback)] = Monitor(type(callback).__name__, name, reported, made[1])
