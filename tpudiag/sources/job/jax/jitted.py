"""One function that jax.jit or jax.pmap made, and the record of its calls."""

from __future__ import annotations

import functools
import re
import weakref
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from itertools import chain
from types import MethodType
from typing import Any, Protocol, cast

from tpudiag.model import Location
from tpudiag.signals import ArgumentChange, Retrace, StepArgument
from tpudiag.sources.job.jax import signatures
from tpudiag.sources.job.jax.state_values import StateValues
from tpudiag.sources.job.points import Args, Kwargs, Library, bindings, hooks, privates, user_lines
from tpudiag.sources.job.points.bindings import parameters
from tpudiag.sources.job.tensorflow.watches.function_record import CalledFunction

MOST_KEPT = 40
"""Compilations of one function of which the arguments are kept."""
RAN_AGAIN = 3
"""Calls of what was compiled before, from which on what its trace drew stands still."""
LARGE = 2**20
"""Bytes of a result from which on it matters whether the job keeps it."""


class Calls(Protocol):
    """Where the calls of all followed functions go."""

    jit: Callable[..., Any]
    """The library's own jax.jit."""
    mesh_made: bool

    def called(self, jitted: Jitted, compiled: Any, args: Args, kwargs: Kwargs) -> object:
        """A call of the job's."""

    def lowered(self, jitted: Jitted, compiled: Any, args: Args, kwargs: Kwargs) -> object:
        """The job lowers it."""


@dataclass
class Record(CalledFunction):
    """What was seen of one function, however often jax.jit was called on it."""

    given_at: dict[str, Location | None] = field(default_factory=dict[str, "Location | None"])
    """The lines before it that made what it takes, by name."""
    made: int = 0
    """Times that jax.jit was called on it."""
    last: signatures.Signature | None = None
    values: StateValues | None = None
    """Of the arguments, where it trains."""
    restarts: Counter[str] = field(default_factory=Counter[str])
    """How often what goes from call to call was begun anew while the rest went on, by its path."""
    starts: int = 0
    """Calls that were given nothing which one before had given: where training begins."""
    twice: set[str] = field(default_factory=set[str])
    """Where it was given an array that it was given elsewhere, too, by the paths."""
    results: list[list[weakref.ref[Any]]] = field(default_factory=list["list[weakref.ref[Any]]"])
    """Where it trains, the large arrays that each call gave."""

    def gave(self, leaves: list[Any]) -> None:
        """A call of it gave these arrays."""
        self.results.append([weakref.ref(leaf) for leaf in leaves if leaf.nbytes >= LARGE])

    def held(self) -> tuple[int, int]:
        """If of each call before the last two the job has a result still: the calls, the bytes."""
        given = [[ref() for ref in refs] for refs in self.results[:-2]]
        alive = [[a.nbytes for a in made if a is not None and not a.is_deleted()] for made in given]
        return (len(alive), sum(map(sum, alive))) if all(alive) else (0, 0)

    def made_first(self, arguments: Sequence[StepArgument]) -> Location | None:
        """The line that made the first of some arguments."""
        lines = (self.given_at.get(re.split(r"\W", each.name)[0]) for each in arguments)
        return next((line for line in lines if line is not None), None)

    def runs_again(self) -> bool:
        """Whether what it drew while it was traced is used by further calls."""
        return self.trains or self.calls - self.traces >= RAN_AGAIN


@dataclass
class StepCall:
    """The call of the training step that ran last: what lowers it once more."""

    jitted: Jitted
    record: Record
    arguments: tuple[Args, Kwargs]
    """Positional and keyword arguments, arrays as their shapes, dtypes and shardings."""
    state: frozenset[str] | None = None
    """Arguments that were results of the step before; None where it was not run."""
    resent: frozenset[str] = frozenset()
    """Arguments that were the same NumPy array as in the call before."""
    anew: frozenset[str] | None = None
    """Arguments that were other objects than in the call before; None where there was none."""
    fed: bool = False
    """Whether it was given what it gave the call before."""
    calls: int = 1


class Jitted:
    """A function that jax.jit or jax.pmap made; calls go through the watch."""

    def __init__(
        self,
        compiled: Any,
        function: Callable[..., object],
        watch: Calls,
        record: Record,
        options: Kwargs | None = None,
        mapped: bool = False,
    ) -> None:
        """`options` are those that jax.jit was given, or, if it is `mapped`, jax.pmap."""
        options = options or {}
        # First: what is made of one of these (jax.vmap, jax.grad) has a copy of its attributes.
        functools.update_wrapper(self, function)
        self._compiled, self.watch, self.record = compiled, watch, record
        self.mapped = mapped
        """Whether jax.pmap made it."""
        self.donates = several(options.get("donate_argnums")) if mapped else ()
        """The places of the arguments that it may overwrite; those of jax.jit its trace tells."""
        self.in_shardings = options.get("in_shardings")
        self.placed_at = user_lines.caller() if self.in_shardings is not None else None
        """The line that gave them."""
        self.out_shardings = options.get("out_shardings")
        names = ("static_argnums", "static_broadcasted_argnums", "static_argnames")
        given = (several(options.get(name)) for name in names)
        self.statics = frozenset[object](chain.from_iterable(given))
        """Places and names of the arguments that are part of the program."""
        self.is_new, self.filled = record.made > 1, False
        """Whether it was made anew; whether its last call was given something in place of data."""
        self.python_function: Any = user_lines.unwrapped(function)
        self.names = parameters(function)

    def static(self, path: Sequence[object]) -> bool:
        """Whether a leaf of (args, kwargs) is part of the program."""
        place = getattr(path[1], "idx", getattr(path[1], "key", None))
        name = self.names[place] if isinstance(place, int) and place < len(self.names) else place
        return place in self.statics or name in self.statics

    def ran(self, jax: Library, args: Args, kwargs: Kwargs, new: bool, took_ms: float) -> None:
        """Count a call, and say why it compiled."""
        record, is_new, self.is_new = self.record, self.is_new, False
        record.calls += 1
        record.traces += new
        if record.called_at is None:
            record.called_at = user_lines.caller()
            record.given_at = {name: bindings.made_at(self.names, name) for name in self.names}
        if not new and record.last is not None:
            return
        now = signatures.signature(jax, self.names, args, kwargs)
        last, record.last = record.last, now
        if last is None or not new or len(record.retraces) >= MOST_KEPT:
            return
        # A new function compiles whatever it is given.
        another = ArgumentChange(record.name, "a function", "another", "new function")
        differ = () if self.filled else signatures.changes(last, now)  # sizes that we chose
        differ = (another,) if is_new else differ
        # No argument differs where only the place of arrays does (those of the first step lie on
        # one device): it comes once and is no matter of the job's.
        if differ:
            caller, made = user_lines.caller(), bindings.shaped_at(self.names, differ)
            record.retraces.append(Retrace(record.calls, took_ms, differ, caller, made))

    def __call__(self, *args: object, **kwargs: object) -> object:
        """The job's own call."""
        return self.watch.called(self, self._compiled, args, kwargs)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        """A method, as functions are."""
        return self if instance is None else MethodType(self, instance)

    def __getattr__(self, name: str) -> object:
        return getattr(self.__dict__["_compiled"], name)

    def lower(self, *args: object, **kwargs: object) -> object:
        """As jax.jit's: what is compiled of it ahead is called as the function itself is."""
        return _Ahead(self, self.watch.lowered(self, self._compiled, args, kwargs))

    def trace(self, *args: object, **kwargs: object) -> Any:
        """As jax.jit's; jax.pmap's has none in all releases."""
        if self.mapped:
            static = sorted(each for each in self.statics if isinstance(each, int))
            return self.watch.jit(self._compiled, static_argnums=static).trace(*args, **kwargs)
        return self._compiled.trace(*args, **kwargs)

    def of_device(self, whole: Any, args: Args, kwargs: Kwargs) -> Callable[..., Any]:
        """What lowers it: of jax.pmap, where that is an operation of its own, what a device runs.

        Some releases trace that; those after them only lower it.
        """
        equations = whole.jaxpr.jaxpr.eqns
        if not any(str(each.primitive) == privates.PMAP for each in equations):
            return cast("Callable[..., Any]", whole.lower)
        if hasattr(self._compiled, "trace"):
            return cast("Callable[..., Any]", self._compiled.trace(*args, **kwargs).lower)
        return functools.partial(self._lowered_for, args, kwargs)

    def _lowered_for(self, args: Args, kwargs: Kwargs, lowering_platforms: object) -> Any:
        module = import_module(privates.PMAP_LOWERED_IN)
        lower: Any = getattr(module, privates.PMAP_LOWERED_BY)

        def for_these(*own: object, **named: object) -> Any:
            return lower(*own, **named | {"lowering_platforms": lowering_platforms})

        with hooks.instead(module, **{privates.PMAP_LOWERED_BY: for_these}):
            return self._compiled.lower(*args, **kwargs)


class _Ahead:
    """A function of jax.jit lowered by the job, or compiled, before it calls it."""

    def __init__(self, jitted: Jitted, stage: Any) -> None:
        self._jitted, self._stage = jitted, stage

    def __getattr__(self, name: str) -> object:
        return getattr(self.__dict__["_stage"], name)

    def compile(self, *args: object, **kwargs: object) -> object:
        """As that of what is lowered."""
        return _Ahead(self._jitted, self._stage.compile(*args, **kwargs))

    def __call__(self, *args: object, **kwargs: object) -> object:
        """The job's own call of what it compiled."""
        return self._jitted.watch.called(self._jitted, self._stage, args, kwargs)


def several(given: Any) -> tuple[Any, ...]:
    """One or several places or names of arguments, or none."""
    if given is None:
        return ()
    return (given,) if isinstance(given, (int, str)) else tuple(given)
