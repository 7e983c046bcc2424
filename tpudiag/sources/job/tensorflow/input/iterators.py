"""Releases dataset iterators in a thread, for which the job would wait at an epoch's end.

TensorFlow cancels a pipeline's tuning thread (Model::OptimizeLoop) by a call that wakes it before
marking the cancellation (CancellationManager::StartCancel). A thread that checks in between sleeps
on, up to a minute, while the iterator's owner waits; with eight replicas on few cores nine such
threads made that the rule. Seen with TensorFlow 2.16 to 2.21.
Where the private names moved, the job releases them itself.
"""

import threading
import weakref
from queue import SimpleQueue

from tpudiag.sources.job.points import Library, hooks, privates, table


class IteratorRelease:
    """Holds an iterator's resources until a thread of its own has released them."""

    def __init__(self, tf: Library) -> None:
        self._tf = tf
        self._dropped: SimpleQueue[tuple[object, ...]] = SimpleQueue()
        hooks.after(table.DATASET_READ, self._iterated, gives=True)
        self._begun = False

    def _iterated(self, iterator: object, _: object) -> None:
        """Keep an eager iterator's resources beyond its life."""
        if self._tf.executing_eagerly():
            if not self._begun:  # not earlier: only a process with one thread can be copied
                self._begun = True
                threading.Thread(target=self._let_go, name="tpudiag-iterators", daemon=True).start()
            owned = (
                privates.ITERATOR_RESOURCE.of(iterator, None),
                privates.HELD.of(iterator, None),
            )
            weakref.finalize(iterator, self._dropped.put, owned).atexit = False

    def _let_go(self) -> None:
        """Release one after another; TensorFlow waits without Python's lock."""
        while True:
            self._dropped.get()
