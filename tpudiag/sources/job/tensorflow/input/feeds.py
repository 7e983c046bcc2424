"""Finds where each dataset's elements went: to a training step, another function, or none.

A function gets an iterator as its argument, or reads one of the script's during tracing, or gets an
element read in Python. Where a script changes a batch before training, the dataset read last
between two steps is assumed. A dataset whose elements reach no function was only inspected.
"""

import contextlib
import weakref
from collections.abc import Iterable
from dataclasses import dataclass

from tpudiag.model import Location
from tpudiag.sources.job.points import Args, Call, Kwargs, Library, hooks, table, user_lines
from tpudiag.sources.job.points.library_objects import Dataset

_MARK = "_tpudiag_feed"
MOST_PENDING = 8
"""Reads in Python remembered until a training step follows."""


@dataclass(eq=False)
class Feed:
    """A dataset, and the use of its elements."""

    dataset: Dataset
    location: Location | None = None
    """The line that first read it."""
    trains: bool = False
    evaluates: bool = False
    """Passed to a function that takes no gradients."""


class FeedWatch:
    """Follows iterators from their datasets to the functions that consume them."""

    def __init__(self, tf: Library) -> None:
        self._tf = tf
        self._feeds: dict[int, Feed] = {}
        self._pending: list[tuple[Feed, list[weakref.ref[object]]]] = []
        self.consumed: list[Feed] = []
        """Read by the active call."""
        self._matched: list[Feed] = []
        self._depth = 0
        self._trained = False
        """A training step ran: later reads were not made before it."""

    def of(self, dataset: Dataset) -> Feed:
        """The feed of a dataset."""
        return self._feeds.setdefault(id(dataset), Feed(dataset))

    def read_by(self, iterator: object, feed: Feed) -> None:
        """An iterator over a dataset was made."""
        feed.location = feed.location or user_lines.caller()
        self.mark(iterator, feed)
        for at in (table.ITERATOR_NEXT, table.ITERATOR_OPTIONAL):
            hooks.around(at, self._next, type(iterator))

    def mark(self, carrier: object, feed: Feed) -> None:
        """An iterator or a strategy's dataset reads from a feed; some accept no attribute."""
        with contextlib.suppress(AttributeError, TypeError):
            setattr(carrier, _MARK, feed)

    def feed_of(self, distributed: object) -> Feed | None:
        """The feed behind an iterator or a strategy's dataset."""
        feed: Feed | None = getattr(distributed, _MARK, None)
        return feed

    def _next(self, original: Call, iterator: object, *args: object, **kwargs: object) -> object:
        """One element, read in Python or in a function's trace; calls may be nested."""
        self._depth += 1
        try:
            element = original(iterator, *args, **kwargs)
        finally:
            self._depth -= 1
        feed = self.feed_of(iterator)
        # `next` calls get_next of the same iterator, and a strategy's one for each worker: count
        # one read.
        if feed is not None and not self._depth:
            if self._tf.executing_eagerly():
                self._pending.append((feed, _references(self._tf.nest.flatten(element))))
                # Otherwise validation data read between two steps for pictures would pile up.
                del self._pending[:-MOST_PENDING]
            else:
                self.consumed.append(feed)
        return element

    def calling(self, args: Args, kwargs: Kwargs) -> None:
        """A function is about to be called, outside any other."""
        self.consumed = []
        self._matched = []
        for leaf in self._tf.nest.flatten((args, kwargs)):
            feed = self.feed_of(leaf)
            if feed is not None:
                self.consumed.append(feed)
            elif isinstance(leaf, self._tf.data.Dataset):
                self.consumed.append(self.of(leaf))
            else:
                self._matched += [
                    feed
                    for feed, references in self._pending
                    if any(reference() is leaf for reference in references)
                ]

    def called(self, trains: bool) -> None:
        """The function returned; `trains`: gradients are taken in it."""
        feeds = [*self.consumed, *self._matched]
        if trains:
            if not feeds and self._trained:
                # A batch changed in Python (numpy, a random crop) is another object: most likely it
                # was read last.
                feeds = [feed for feed, _ in self._pending[-1:]]
            for feed in feeds:
                feed.trains = True
            self._trained = True
            self._pending.clear()
        else:
            for feed in feeds:
                feed.evaluates = True

    def training(self) -> list[Feed]:
        """The known feeds of the training step."""
        return [feed for feed in self._feeds.values() if feed.trains]


def _references(leaves: Iterable[object]) -> list[weakref.ref[object]]:
    references: list[weakref.ref[object]] = []
    for leaf in leaves:
        with contextlib.suppress(TypeError):
            references.append(weakref.ref(leaf))
    return references
