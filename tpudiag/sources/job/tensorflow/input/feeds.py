"""Tells what the elements of each dataset were given to: a training step, another function, none.

A function gets an iterator as its argument, or reads one of the script's while it is traced, or
gets what a read from Python gave. Where a script changes a batch before it trains on it, the
dataset that was read last between two steps is taken. A dataset that was read and given to no
function was looked at.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterable
from dataclasses import dataclass

from tpudiag.model import Location
from tpudiag.sources.job.points import Args, Call, Kwargs, Library, hooks, table, user_lines
from tpudiag.sources.job.points.library_objects import Dataset

_MARK = "_tpudiag_feed"
MOST_PENDING = 8
"""Reads from Python that are remembered until a training step follows."""


@dataclass(eq=False)
class Feed:
    """A dataset, and what was done with its elements."""

    dataset: Dataset
    location: Location | None = None
    """The line that first read it."""
    trains: bool = False
    evaluates: bool = False
    """Given to a function that takes no gradients."""


class FeedWatch:
    """Follows iterators from the datasets that they read to the functions that consume them."""

    def __init__(self, tf: Library) -> None:
        self._tf = tf
        self._feeds: dict[int, Feed] = {}
        self._pending: list[tuple[Feed, list[weakref.ref[object]]]] = []
        self._consumed: list[Feed] = []
        """By the call that is under way."""
        self._matched: list[Feed] = []
        self._depth = 0
        self._trained = False
        """A training step has run: what is read from now on was not read before it."""

    def of(self, dataset: Dataset) -> Feed:
        """The feed of a dataset."""
        feed = self._feeds.get(id(dataset))
        if feed is None:
            feed = self._feeds[id(dataset)] = Feed(dataset)
        return feed

    def read_by(self, iterator: object, feed: Feed) -> None:
        """An iterator over a dataset was made."""
        feed.location = feed.location or user_lines.caller()
        _mark(iterator, feed)
        for at in (table.ITERATOR_NEXT, table.ITERATOR_OPTIONAL):
            hooks.around(at, self._next, type(iterator))

    def hands_over(self, distributed: object, feed: Feed) -> None:
        """A strategy made its own kind of dataset of one."""
        _mark(distributed, feed)

    def feed_of(self, distributed: object) -> Feed | None:
        """The feed behind an iterator or a strategy's dataset."""
        feed: Feed | None = getattr(distributed, _MARK, None)
        return feed

    def _next(self, original: Call, iterator: object, *args: object, **kwargs: object) -> object:
        """One element, in Python or in the trace of a function; one call may go through another."""
        self._depth += 1
        try:
            element = original(iterator, *args, **kwargs)
        finally:
            self._depth -= 1
        feed = self.feed_of(iterator)
        # `next` goes through get_next of the same iterator, and a strategy's through one for each
        # worker: one read counts once.
        if feed is not None and not self._depth:
            if self._tf.executing_eagerly():
                self._pending.append((feed, _references(self._tf.nest.flatten(element))))
                # Validation data that are read for pictures between two steps would else pile up.
                del self._pending[:-MOST_PENDING]
            else:
                self._consumed.append(feed)
        return element

    def calling(self, args: Args, kwargs: Kwargs) -> None:
        """A function is about to be called, outside any other."""
        self._consumed = []
        self._matched = []
        for leaf in self._tf.nest.flatten((args, kwargs)):
            feed = self.feed_of(leaf)
            if feed is not None:
                self._consumed.append(feed)
            elif isinstance(leaf, self._tf.data.Dataset):
                self._consumed.append(self.of(leaf))
            else:
                self._matched += [
                    feed
                    for feed, references in self._pending
                    if any(reference() is leaf for reference in references)
                ]

    def called(self, trains: bool) -> None:
        """The function has returned; `trains`: gradients are taken in it."""
        feeds = [*self._consumed, *self._matched]
        if trains:
            if not feeds and self._trained:
                # A batch that Python changed (numpy, a random crop) is another object: what was
                # read last is most likely it.
                feeds = [feed for feed, _ in self._pending[-1:]]
            for feed in feeds:
                feed.trains = True
            self._trained = True
            self._pending.clear()
        else:
            for feed in feeds:
                feed.evaluates = True

    def consumed(self, feed: Feed) -> None:
        """The function that is being called reads a dataset as a whole."""
        self._consumed.append(feed)

    def training(self) -> list[Feed]:
        """What is known to feed the training step."""
        return [feed for feed in self._feeds.values() if feed.trains]


def _mark(carrier: object, feed: Feed) -> None:
    """Remember the feed on an object of TensorFlow's; one that takes no attribute is let go."""
    with contextlib.suppress(AttributeError, TypeError):
        setattr(carrier, _MARK, feed)


def _references(leaves: Iterable[object]) -> list[weakref.ref[object]]:
    """Weak references, so that no batch lives longer for being watched."""
    references: list[weakref.ref[object]] = []
    for leaf in leaves:
        with contextlib.suppress(TypeError):
            references.append(weakref.ref(leaf))
    return references
