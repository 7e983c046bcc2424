"""The one way to hook a library: each place is hooked once.

Subscribers are notified of its calls, in the order set in `order.py`. All hooks can be removed
again.
"""

import contextlib
import functools
import inspect
import sys
import types
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from tpudiag.sources.job.points import Call, barrier, order
from tpudiag.sources.job.points.point import Point, Way, resolved

_ABSENT = object()
_Result = TypeVar("_Result")
_UNBOUND: Any = (staticmethod, classmethod)


class _Subscriber(NamedTuple):
    rank: int
    heard: Call
    """The subscriber, as it was passed."""
    call: Call
    """Its wrapped form, with everything inside it as first argument."""
    sends: barrier.Sends | None


@dataclass(eq=False)
class _Hook:
    owner: object
    name: str
    original: Call
    observes: bool = False
    """Whether subscribers only observe calls and return nothing: in the user's own process."""
    subscribers: list[_Subscriber] = field(default_factory=list[_Subscriber])
    """The innermost first."""
    outer: tuple[_Subscriber | None, Call] = field(init=False)
    """The outermost subscriber, and everything inside it."""
    holds: Callable[[], bool] = lambda: True
    """Whether the place still has this hook, with nothing else put over it."""
    undo: Callable[[], None] = lambda: None

    def __post_init__(self) -> None:
        self.outer = None, self.original

    @property
    def title(self) -> str:
        """Its name where it fails."""
        name = getattr(self.owner, "__name__", None) or type(self.owner).__name__
        return f"{name}.{self.name}"

    def subscribe(self, new: _Subscriber) -> None:
        """Be notified of each call from now on, once."""
        if any(each.heard == new.heard for each in self.subscribers):
            return
        self.subscribers.append(new)
        self.subscribers.sort(key=lambda each: each.rank)
        self._link()

    def leave(self, heard: Call) -> None:
        """Stop being notified; the last one removes the hook."""
        self.subscribers = [each for each in self.subscribers if each.heard != heard]
        self._link()
        if not self.subscribers and self.holds():
            self.undo()

    def _link(self) -> None:
        inner = self.original
        for each in self.subscribers[:-1]:
            inner = _like(self.original, _linked(self.title, each, inner))
        self.outer = (self.subscribers[-1] if self.subscribers else None), inner


_hooks: list[_Hook] = []
_undone: list[Callable[[], None]] = []
"""Removes everything that is no hook with subscribers."""


def around(point: Point, call: Call, of: Any = None, sends: barrier.Sends | None = None) -> None:
    """Replace the calls of a point by `call(original, *args, **kwargs)`.

    A failure in `call` but not in the original is ours: the original is called then, unless it
    `sends`. `of`: see `Point.places`.
    """
    _subscribe(point, call, call, of, sends)


def before(point: Point, note: Call, of: object = None) -> None:
    """Call `note` with the arguments before each call."""

    def call(original: Call, *args: object, **kwargs: object) -> object:
        note(*args, **kwargs)
        return original(*args, **kwargs)

    _subscribe(point, note, call, of)


def after(point: Point, note: Call, of: Any = None, *, gives: bool = False) -> None:
    """Call `note` with the arguments after each returned call; `gives`: with its result first."""

    def call(original: Call, *args: object, **kwargs: object) -> object:
        result = original(*args, **kwargs)
        note(*((result,) if gives else ()), *args, **kwargs)
        return result

    _subscribe(point, note, call, of)


def span(point: Point, begun: Callable[..., Callable[[], None] | None], of: object = None) -> None:
    """Call `begun` with the arguments before each call, and its result once that has ended.

    For points of the user's own process, which have no other subscribers.
    """
    _subscribe(point, begun, begun, of)


def stand_in(point: Point, value: object, of: object = None) -> None:
    """Replace a point's value."""
    place = _put_everywhere if point.way is Way.EVERYWHERE else put
    for owner, name in point.places(of):
        _undone.append(place(owner, name, value))


def added(point: Point, value: object) -> None:
    """Add to a class what other releases, or similar classes, have."""
    for path in point.owners:
        owner = resolved(path)
        for name in point.names:
            if owner is not None and not hasattr(owner, name):
                _undone.append(put(owner, name, value))


def leave(heard: Call) -> None:
    """Remove a subscriber; places without subscribers are restored."""
    for hook in [h for h in _hooks if any(each.heard == heard for each in h.subscribers)]:
        hook.leave(heard)
        if not hook.subscribers:
            _hooks.remove(hook)


def undo() -> None:
    """Restore every library."""
    while _hooks:
        hook = _hooks.pop()
        if hook.holds():
            hook.undo()
    while _undone:
        _undone.pop()()


def put(owner: object, name: str, value: object) -> Callable[[], None]:
    """Set a name to another value; returns a function that restores it."""
    known: Any = owner.__dict__.get(name, _ABSENT)
    setattr(owner, name, value)

    def back() -> None:
        if known is _ABSENT:
            delattr(owner, name)
        else:
            setattr(owner, name, known)

    return back


@contextlib.contextmanager
def instead(owner: object, **values: object) -> Generator[None, None, None]:
    """Temporarily set names to other values; on an instance they shadow its class's methods."""
    with contextlib.ExitStack() as stack:
        for name, value in values.items():
            stack.callback(put(owner, name, value))
        yield


def always(_args: object, _kwargs: object) -> bool:
    """For a call that always sends."""
    return True


def quietly(call: Callable[..., _Result], *args: object, **kwargs: object) -> _Result | None:
    """Our call's result; None where it fails, which is recorded as our defect."""
    return barrier.attempt(getattr(call, "__qualname__", "hook"), call, *args, **kwargs)


def _subscribe(
    point: Point, heard: Call, call: Call, of: object, sends: barrier.Sends | None = None
) -> None:
    for owner, name in point.places(of):
        hook = _hook(point, owner, name)
        if hook is not None:
            hook.subscribe(_Subscriber(order.rank(heard), heard, call, sends))
    if point.owners and not point.releases:
        for name in point.lacking(of):
            barrier.note(point.name, AttributeError(f"there is no {name}"))


def _hook(point: Point, owner: object, name: str) -> _Hook | None:
    """A place's hook, created if necessary; None where that is not possible."""
    function = getattr(owner, name) if point.way is Way.CODE else None
    if point.way is Way.CODE:
        owner, name = function, "__code__"
        if not isinstance(function, types.FunctionType) or function.__closure__:
            return None
    for known in _hooks:
        same = known.owner is owner and known.name == name and known.observes == point.observes
        if same and known.holds():
            return known
    made = _with_code(function) if function is not None else _with_value(point, owner, name)
    _hooks.append(made)
    return made


def _with_value(point: Point, owner: object, name: str) -> _Hook:
    """Set a name to another value of the same kind."""
    known: Any = inspect.getattr_static(owner, name, None)
    original: Any = getattr(owner, name)
    make: Callable[[Call], Any] = lambda wrapped: wrapped  # noqa: E731
    if isinstance(known, _UNBOUND):
        original, make = known.__func__, known.__class__
    elif isinstance(known, property):
        original, make = known.fget, known.getter
    hook = _Hook(owner, name, original, point.observes)
    value = make(_observer(hook) if point.observes else _wrapper(hook))
    hook.undo = (_put_everywhere if point.way is Way.EVERYWHERE else put)(owner, name, value)
    hook.holds = lambda: owner.__dict__.get(name) is value
    return hook


def _wrapper(hook: _Hook) -> Call:
    """The replacement of a hooked function.

    It looks like the original: Keras reads constructors' signatures, and AutoGraph skips
    TensorFlow's own modules.
    """

    def wrapped(*args: object, **kwargs: object) -> object:
        outer, inner = hook.outer
        if outer is None:
            return inner(*args, **kwargs)
        return barrier.guarded(hook.title, outer.call, inner, args, kwargs, outer.sends)

    return _like(hook.original, wrapped)


def _observer(hook: _Hook) -> Call:
    """The same in the user's own process: subscribers observe, and return nothing."""

    def wrapped(*args: object, **kwargs: object) -> object:
        begun = [
            barrier.attempt(hook.title, each.call, *args, **kwargs) for each in hook.subscribers
        ]
        try:
            return hook.original(*args, **kwargs)
        finally:
            for ended in begun:
                if callable(ended):
                    barrier.attempt(hook.title, ended)

    named = _like(hook.original, wrapped)
    code = getattr(inspect.unwrap(hook.original), "__code__", None)
    if code is not None:
        # TensorFlow removes its own frames from the job's tracebacks: this one goes with them.
        wrapped.__code__ = wrapped.__code__.replace(co_filename=code.co_filename)
    return named


def _linked(title: str, each: _Subscriber, inner: Call) -> Call:
    """A subscriber with everything inside it."""

    def link(*args: object, **kwargs: object) -> object:
        return barrier.guarded(title, each.call, inner, args, kwargs, each.sends)

    return link


def _like(original: Call, wrapped: Call) -> Call:
    """The wrapper with the original's name and signature."""
    # Some names in JAX are no text.
    named = [
        each
        for each in functools.WRAPPER_ASSIGNMENTS
        if not each.endswith("name__") or isinstance(getattr(original, each, None), str)
    ]
    functools.update_wrapper(wrapped, original, named)
    # C functions and some generated ones have no signature, and work without.
    with contextlib.suppress(TypeError, ValueError):
        vars(wrapped)["__signature__"] = inspect.signature(original)
    return wrapped


def _put_everywhere(owner: object, name: str, value: object) -> Callable[[], None]:
    """Set a value under every public name of an object."""
    # `from tensorflow.distribute import TPUStrategy`, tf.compat.v1 and Keras hold the object under
    # other names: any name left out would keep the real one, which hangs without a TPU.
    original = getattr(owner, name)
    with contextlib.ExitStack() as stack:
        for module in (owner, *[m for n, m in list(sys.modules.items()) if _gives_names(n)]):
            for attribute in [a for a, known in vars(module).items() if known is original]:
                stack.callback(put(module, attribute, value))
        return stack.pop_all().close


def _gives_names(module: str) -> bool:
    """Whether a module exports names to users: the API, or a re-exporting package."""
    return module == "tensorflow" or module.startswith(
        ("tensorflow._api.", "tensorflow.compat", "tensorflow.python.distribute.cluster_resolver")
    )


def _with_code(function: types.FunctionType) -> _Hook:
    """Replace the code of a function without closures by code that calls the subscribers."""
    original = types.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__
    )
    original.__kwdefaults__ = function.__kwdefaults__
    hook = _Hook(function, "__code__", original)
    name = f"_tpudiag_{function.__name__}"
    function.__globals__[name] = _wrapper(hook)
    space: dict[str, types.FunctionType] = {}
    exec(f"def call(*args, **kwargs):\n    return {name}(*args, **kwargs)", space)
    code = function.__code__ = space["call"].__code__
    function.__kwdefaults__ = None
    hook.holds = lambda: function.__code__ is code

    def back() -> None:
        function.__code__, function.__kwdefaults__ = original.__code__, original.__kwdefaults__

    hook.undo = back
    return hook
