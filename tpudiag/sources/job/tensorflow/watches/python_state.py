"""Watches Python state that a trace freezes: random draws, counters, rates.

The Python code of a tf.function, or of what jax.jit made, runs only during tracing. What it drew,
counted or read then is a constant of the program.
"""

import inspect
import linecache
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from types import FrameType, MethodType
from typing import Literal, Protocol

from tpudiag.model import Location
from tpudiag.signals.training_loop import FrozenState
from tpudiag.sources.job.points import hooks, table, user_lines
from tpudiag.sources.job.points.python_slots import Numbers, Slot, unique_slots

_ONCE = re.compile(r"(tf__)?(build|__init__|add_weight|_build\w*|create_\w*|make_\w*)$")
"""Functions that make weights and layers, where a single draw is intended."""
_SEEDED = re.compile(r"\bseed\s*=")
# A counter of such a name is meant to be changed by traces only.
_COUNTS_TRACES = re.compile(r"trac(e|ing)", re.IGNORECASE)
MOST_KEPT = 20


class Function(Protocol):
    """Made by tf.function or jax.jit of a Python function."""

    python_function: Callable[..., object]


@dataclass
class _Traced:
    """The slots of one such function, and their values at its last trace."""

    function: Function
    slots: tuple[Slot, ...]
    values: Numbers = field(default_factory=Numbers)
    written: dict[tuple[int, str], FrozenState] = field(
        default_factory=dict[tuple[int, str], FrozenState]
    )
    calls: int = 0


class PythonStateWatch:
    """Hooks Python's and NumPy's random draws, and compares numbers around traced calls."""

    def __init__(
        self, tracing: Callable[[], object], counts: Callable[[object], bool] = bool
    ) -> None:
        """`tracing` says what is traced now, if anything; `counts`, in the end, if that matters."""
        self._tracing, self._counts = tracing, counts
        self._drawn: dict[tuple[str, Location], tuple[object, FrozenState]] = {}
        self._read: dict[tuple[int, str], FrozenState] = {}
        self._traced: dict[int, _Traced] = {}
        self.methods: Callable[[], tuple[object, ...]] = tuple
        """The user's own methods called by a library's traced function (train_step of a model)."""
        for at, prefix in ((table.RANDOM_DRAWN, "random"), (table.NUMPY_DRAWN, "np.random")):
            for each in at.each():
                hooks.before(each, partial(self._note, f"{prefix}.{each.names[0]}"))
                for owner, name in each.places():
                    vars(getattr(owner, name))["autograph_info__"] = {}  # AutoGraph skips it

    def facts(self) -> tuple[FrozenState, ...]:
        """The frozen state, each item once."""
        written = (state for traced in self._traced.values() for state in traced.written.values())
        drawn = (state for function, state in self._drawn.values() if self._counts(function))
        return (*drawn, *written, *self._read.values())[:MOST_KEPT]

    def _note(self, name: str, /, *_: object, **__: object) -> None:
        traced = self._tracing()
        if not traced:
            return
        frame = user_lines.frame_above(("autograph/impl/api.py",))
        location = user_lines.of_frame(frame)
        if frame is None or location is None or _meant_once(frame) or _seeds(location):
            return
        function = frame.f_code.co_name.removeprefix("tf__")  # AutoGraph's prefix
        state = FrozenState(kind="random", name=name, function=function, location=location)
        self._drawn.setdefault((name, location), (traced, state))

    def before(self, function: Function, owner: object = None) -> Numbers:
        """A traced function is about to be called: the numbers that its code uses.

        `owner`: what it is called with first, which may be the object whose method it is.
        """
        traced = self._traced.get(id(function))
        if traced is None:
            own: Callable[..., object] = function.python_function
            named = getattr(own, "__name__", "")
            if inspect.getattr_static(type(owner), named, None) is function:
                own = MethodType(own, owner)
            roots = (own, *self.methods())
            traced = _Traced(function, tuple(unique_slots(roots)))
            self._traced[id(function)] = traced
        return {slot.place: slot.get() for slot in traced.slots}

    def after(self, function: Function, before: Numbers, traced: bool) -> None:
        """The call returned."""
        known = self._traced.get(id(function))
        if known is None or not before:
            return
        after = {slot.place: slot.get() for slot in known.slots}
        name = str(getattr(function.python_function, "__name__", ""))
        if traced:
            known.calls, known.values = 0, after
            known.written = {
                slot.place: _state("written", slot, name, before, after)
                for slot in known.slots
                if slot.written
                and before[slot.place] != after[slot.place]
                and not _COUNTS_TRACES.search(slot.name)
            }
            return
        known.calls += 1
        for slot in known.slots:
            place = slot.place
            written = known.written.get(place)
            moved = before[place] != known.values.get(place) and place in known.values
            if slot.written and (moved or before[place] != after[place]):
                # What the program calls back changes it at each step: nothing of it is frozen.
                known.written.pop(place, None)
                known.slots = tuple(each for each in known.slots if each is not slot)
            elif written is not None:
                known.written[place] = replace(written, calls=known.calls)
            elif moved:
                state = _state("read", slot, name, known.values, after)
                self._read[place] = replace(state, calls=known.calls)


def _state(
    kind: Literal["written", "read"], slot: Slot, name: str, old: Numbers, new: Numbers
) -> FrozenState:
    return FrozenState(
        kind=kind,
        name=slot.name,
        function=name,
        location=slot.location,
        traced=repr(old[slot.place]),
        now=repr(new[slot.place]),
    )


def _meant_once(frame: FrameType | None) -> bool:
    """Whether weights or layers are being made, where one draw is intended."""
    names = (each.f_code.co_name for each in user_lines.frames(frame) if user_lines.of_frame(each))
    return any(map(_ONCE.match, names))


def _seeds(location: Location) -> bool:
    line = linecache.getline(location.file, location.line or 0)
    return bool(_SEEDED.search(line)) and "stateless" not in line
