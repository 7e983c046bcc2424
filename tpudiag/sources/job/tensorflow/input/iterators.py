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


def release_apart(tf: Library) -> None:
    """Hold an iterator's resources until a thread of its own has released them."""
    dropped: SimpleQueue[tuple[object, ...]] = SimpleQueue()

    def let_go() -> None:
        """Release one after another; TensorFlow waits without Python's lock."""
        while True:
            dropped.get()

    begun = False

    def iterated(iterator: object, _: object) -> None:
        """Keep an eager iterator's resources beyond its life."""
        nonlocal begun
        if tf.executing_eagerly():
            if not begun:  # not earlier: only a process with one thread can be copied
                begun = True
                threading.Thread(target=let_go, name="tpudiag-iterators", daemon=True).start()
            owned = privates.ITERATOR_RESOURCE.of(iterator, None), privates.HELD.of(iterator, None)
            weakref.finalize(iterator, dropped.put, owned).atexit = False

    hooks.after(table.DATASET_READ, iterated, gives=True)
