"""What lines of the job send to the devices: how often the same NumPy array, and where to."""

import importlib
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from tpudiag.model import Location
from tpudiag.signals import SentAgain
from tpudiag.sources.job.points import Library, bindings, hooks, table, user_lines

SAMPLE = 1024
"""Values of an array by which it is known again."""
MOST_KEPT = 1000
"""Arrays that are looked for again."""


class SendWatch:
    """What lines of the job's give to jax.device_put, or make an array of JAX of."""

    def __init__(self, steps: Callable[[], int]) -> None:
        self._steps = steps
        self._seen: dict[tuple[Location, int], tuple[weakref.ref[object], int, bytes]] = {}
        """A weak reference to the array, for another may get its id, its bytes, and some of its
        values, for it may be filled anew."""
        self._again: dict[tuple[Location, int], set[int]] = {}
        self._placed: dict[tuple[object, object], Location] = {}
        """The line that sent an array of a shape, and where to."""
        self._chosen: dict[Location, Location | None] = {}
        """Of each such line the one that made what it sends to."""

    def watch(self, jax: Library) -> None:
        """Hook what sends."""
        self._jax, self._of_host = jax, importlib.import_module("numpy").ndarray
        hooks.before(table.JAX_SENT, self._sent, jax)

    def _sent(self, value: object, device: object = None, *_: object, **__: object) -> None:
        """Count the steps before which a line sends what it has sent before."""
        location = user_lines.direct_caller()
        if location is None:
            return
        to_sharding = isinstance(device, self._jax.sharding.Sharding)
        if to_sharding and location not in self._chosen:
            self._chosen[location] = bindings.made_at(("x", "device"), "device")
        for leaf in self._jax.tree_util.tree_leaves(value):
            if to_sharding:
                self._placed[getattr(leaf, "shape", None), device] = location
            # Of a single number nothing is sent that counts, and nothing can be kept track of.
            if not (isinstance(leaf, self._of_host) and leaf.ndim):
                continue
            key = location, id(leaf)
            known, values = self._seen.get(key), leaf.flat[:: leaf.size // SAMPLE + 1].tobytes()
            if known is not None and known[0]() is leaf and known[2] == values:
                self._again.setdefault(key, set()).add(self._steps())
            elif known is not None or len(self._seen) < MOST_KEPT:
                self._seen[key] = weakref.ref(leaf), int(leaf.nbytes), values

    def placed_at(self, arrays: Iterable[Any]) -> Location | None:
        """The line that placed the first of some arrays, or made a sharding that only it uses."""
        known = (self._placed.get((each.shape, each.sharding)) for each in arrays)
        sent = next(filter(None, known), None)
        chosen = self._chosen.get(sent) if sent is not None else None
        return chosen if chosen and [*self._chosen.values()].count(chosen) == 1 else sent

    def facts(self) -> tuple[SentAgain, ...]:
        """Each array that was sent again, with the steps before which it was."""
        return tuple(
            SentAgain(self._seen[key][1], len(steps), self._steps(), key[0])
            for key, steps in self._again.items()
        )
