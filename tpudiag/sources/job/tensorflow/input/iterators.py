"""Lets go of dataset iterators beside the job, which would wait for them at the end of an epoch.

TensorFlow cancels the thread that tunes a pipeline (Model::OptimizeLoop) by a call that wakes it
before it marks the cancellation (CancellationManager::StartCancel). A thread that looks in between
sleeps on, up to a minute, and who drops the iterator waits for it; with eight replicas on few cores
nine such threads made that the rule. Met with TensorFlow 2.16 to 2.21.

Private attributes in use: `_iterator_resource` and `_dataset` of tf.data's iterators; where they
are missing the job lets go by itself.
"""

from __future__ import annotations

import threading
import weakref
from queue import SimpleQueue

from tpudiag.sources.job.points import Library, hooks, privates, table


class IteratorRelease:
    """Keeps what an iterator holds until a thread of its own has let go of it."""

    def __init__(self, tf: Library) -> None:
        self._tf = tf
        self._dropped: SimpleQueue[tuple[object, ...]] = SimpleQueue()
        hooks.after(table.DATASET_READ, self._iterated, gives=True)
        self._begun = False

    def _iterated(self, iterator: object, _: object) -> None:
        """Hold what an eager iterator owns beyond its own life."""
        if self._tf.executing_eagerly():
            if not self._begun:  # not before: a process of one thread can be copied
                self._begun = True
                threading.Thread(target=self._let_go, name="tpudiag-iterators", daemon=True).start()
            owned = (
                privates.ITERATOR_RESOURCE.of(iterator, None),
                privates.HELD.of(iterator, None),
            )
            weakref.finalize(iterator, self._dropped.put, owned).atexit = False

    def _let_go(self) -> None:
        """Drop one after another; TensorFlow waits without Python's lock."""
        while True:
            self._dropped.get()
