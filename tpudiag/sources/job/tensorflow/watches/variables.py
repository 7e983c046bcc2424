"""Watches the creation of variables: inside strategy.scope() or not, and at which line."""

import re
import weakref
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, cast

from tpudiag.location import Location
from tpudiag.signals import VariableSeen
from tpudiag.sources.job.points import Library, barrier, hooks, privates, table, user_lines
from tpudiag.sources.job.points.library_objects import Variable
from tpudiag.sources.job.tensorflow.devices import unwritten_variables

MOST_COUNTERS = 128
LARGE_BYTES = 256 << 20
"""A variable so large that it may limit the number of replicas on this machine."""
MANY = 134
"""Trainable variables from which on not all replicas are traced in bearable time: behind the
line that made so many, no more need be made for eight (`host_memory.VARIABLES_TO_TRACE`)."""


class VariableWatch:
    """A variable creator in the outermost scope, which sees every new variable.

    Without `write`, large ones get no values: for a job whose steps do not run.
    """

    def __init__(self, tf: Library, write: bool = True) -> None:
        self._tf, self._write = tf, write
        self.after_large: Callable[[], None] = lambda: None
        self.on_trained: Callable[[object], None] = lambda _: None
        self._seen: dict[str, VariableSeen] = {}
        self._counters: list[weakref.ref[Variable]] = []
        self._made: dict[int, tuple[weakref.ref[Variable], str]] = {}
        """By identity: a variable, and its entry."""
        self._trained: set[str] = set()
        """Entries of variables that a step trains."""
        self._trained_names: set[str] = set()
        """Names of those whose object was not seen as it was made."""
        self._trainable = self.made = 0
        self._many_at: list[Location | None] = []
        """Which lines made the last of `MANY`, and the next after them."""
        self.closed = False
        """Past the observed steps, where variables belong to other models."""
        self.on_made: Callable[[Variable], None] = lambda _: None
        """Called with each variable, of each replica."""
        self._scopes: list[AbstractContextManager[object]] = []
        self._enter_scope()
        # The scope belongs to the default graph, which Keras' clear_session discards.
        hooks.after(table.GRAPH_RESET, self._enter_scope)

    def _enter_scope(self) -> None:
        self._scopes.append(self._tf.variable_creator_scope(self._create))
        # Never left, so that it also covers variables made at Keras' first call.
        self._scopes[-1].__enter__()

    def facts(self) -> tuple[VariableSeen, ...]:
        """One entry per variable, replicas counted once.

        Where only a name is known of what is trained, the last one of that name is.
        """
        last = {_plain(seen.name): key for key, seen in self._seen.items()}
        trained = self._trained | {last.get(name) for name in self._trained_names}
        return tuple(
            replace(seen, trained=key in trained) if trained else seen
            for key, seen in self._seen.items()
        )

    def trains(self, sources: Iterable[object]) -> None:
        """A step takes gradients for these."""
        for source in sources:
            held = [each for each in (source, privates.VALUE.of(source, None)) if each is not None]
            entries = {entry for each in held if (entry := self._entry(each))}
            self._trained |= entries
            if not entries:
                paths = (getattr(source, "path", None), *(getattr(it, "name", 0) for it in held))
                self._trained_names.update(_plain(path) for path in paths if isinstance(path, str))

    def _entry(self, variable: object) -> str | None:
        """The entry of a variable, or of the replicas' copies that it stands for."""
        copies: Any = getattr(variable, "values", None)
        held = cast("tuple[object, ...]", copies) if isinstance(copies, tuple) else ()
        for each in (variable, *held):
            made, entry = self._made.get(id(each), (None, ""))
            if made is not None and made() is each:
                return entry
        return None

    def counters(self) -> list[Variable]:
        """The integer variables, of each replica: they count steps."""
        alive = (counter() for counter in self._counters)
        return [variable for variable in alive if variable is not None]

    def _create(self, next_creator: Callable[..., Variable], **kwargs: object) -> Variable:
        self.made += 1
        value, dtype = kwargs.get("initial_value"), kwargs.get("dtype")
        if not self._write and callable(value):
            lazy = barrier.attempt(
                "initial_value", unwritten_variables.initial, self._tf, value, dtype
            )
            kwargs["initial_value"] = lazy or value
        variable = next_creator(**kwargs)
        barrier.attempt("variable_creator_scope", self._note, variable)
        hooks.quietly(self.on_made, variable)
        return variable

    def _note(self, variable: Variable) -> None:
        name = re.sub(r"/replica_\d+", "", variable.name)
        replica_copy = "/replica_" in variable.name
        shape: tuple[Any, ...] = tuple(variable.shape)
        # optimizer.iterations, a global step, an epoch counter: loops use them to decide when to
        # end.
        if shape == () and variable.dtype.is_integer and len(self._counters) < MOST_COUNTERS:
            self._counters.append(weakref.ref(variable))
        if not replica_copy and None not in shape and not self.closed:
            if getattr(variable, "trainable", False):
                self.on_trained(variable)
            in_scope = bool(self._tf.distribute.has_strategy())
            # Names repeat: each model of a loop has its own `dense/kernel`.
            key = f"{name}#{len(self._seen)}"
            self._made[id(variable)] = weakref.ref(variable), key
            seen = self._seen[key] = VariableSeen(
                name=name,
                dtype=variable.dtype.base_dtype.name,
                shape=shape,
                bytes=variable.dtype.base_dtype.size * int(variable.shape.num_elements() or 0),
                in_scope=in_scope,
                trainable=bool(getattr(variable, "trainable", False)),
                optimizer=made_by(".optimizers"),
                location=user_lines.caller(),
            )
            if seen.bytes >= LARGE_BYTES or (seen.trainable and self._ends_many(seen.location)):
                self.after_large()

    def _ends_many(self, at: Location | None) -> bool:
        """Whether a trainable variable is the first behind the line that made many."""
        self._trainable += 1
        if self._trainable >= MANY and len(self._many_at) < 2 and at not in self._many_at:
            self._many_at.append(at)
            return len(self._many_at) == 2
        return False


def _plain(name: str) -> str:
    return re.sub(r"/replica_\d+", "", name).partition(":")[0]


def made_by(part: str) -> bool:
    """Whether this part of Keras is on the stack."""
    modules = (str(frame.f_globals.get("__name__")) for frame in user_lines.frames())
    return any("keras" in module and part in module for module in modules)
