from tpudiag.model import Evidence, Finding, Judgement, Severity, check
from tpudiag.signals import IteratorUse, Signals

from ._loop import FEWEST_STEPS, loop_of

LIMIT = 2.0
"""Training steps between two starts of an iterator up to which it counts as one a step; two where
a generator and a discriminator take turns."""
EPOCHS = 3
"""Datasets that a line must have read to be called rebuilt."""


@check("TPU211", Severity.WARNING)
def iterator_rebuilt(signals: Signals, limit: float = LIMIT) -> Judgement:
    """The loop restarts its dataset for each step, or rebuilds it in each epoch.

    ## What it sees
    Each line that calls `iter` on a dataset: how often, how many training steps lie in between,
    whether it is the same dataset or a new one, whether it has more elements than the loop takes,
    whether a cache in memory is lost with it, and how long a start took on this host.

    ## Why it costs
    `next(iter(dataset))` in the loop makes an iterator for one element: the pipeline starts, fills
    its shuffle and prefetch buffers, gives the first batch and is discarded. Without a shuffle each
    step gets the same batch. A dataset that is rebuilt in each epoch loses its cache.

    ## What to do
    ```python
    iterator = iter(distributed)          # once, before the loop
    for step in range(steps):
        train_step(next(iterator))
    ```

    ## Source
    https://www.tensorflow.org/tutorials/distribute/input
    """
    loop = loop_of(signals, FEWEST_STEPS)
    for use in loop.iterators:
        if _each_step(use, limit):
            yield _of_steps(use, limit)
        # Read before any step, one after the other, they are several datasets, and no epochs.
        elif use.cached and use.steps_between and EPOCHS <= use.datasets == use.times:
            yield Finding(
                f"the pipeline was built {use.datasets} times, once for each pass: what its cache "
                "held is thrown away each time.",
                "dataset = make_dataset()  # once, before the loop over the epochs",
                (
                    Evidence("datasets read by this line", use.datasets, "datasets", 1),
                    Evidence("passes", use.times, "passes"),
                ),
                use.location,
            )
    yield Evidence("iterators started again", sum(use.times for use in loop.iterators), "times")
    yield Evidence("dispatches of training steps", loop.dispatches, "dispatches")


def _each_step(use: IteratorUse, limit: float) -> bool:
    """Whether iterators are started for a step or two and then dropped."""
    # 0 steps in between: it is no loop of training that starts it (a look at the first batch, an
    # evaluation).
    if use.times < FEWEST_STEPS or not 0 < use.steps_between <= limit:
        return False
    # An iterator that was used up is no waste: a dataset of one or two batches must be started for
    # each pass. -1 is an endless one.
    return use.asks_once or use.cardinality == -1 or use.cardinality > limit


def _of_steps(use: IteratorUse, limit: float) -> Finding:
    what = "a new dataset" if use.datasets > use.times / 2 else "the dataset"
    return Finding(
        f"{what} is iterated anew for each step: {use.times} iterators, each dropped after "
        f"{use.steps_between:.0f}; a start takes {use.start_ms:.0f} ms here, without its first "
        "batch.",
        "iterator = iter(distributed)  # once, before the loop\nbatch = next(iterator)",
        (
            Evidence("iterators", use.times, "iterators", 1),
            Evidence("steps between two", use.steps_between, "steps", limit),
            Evidence("start of one", round(use.start_ms, 1), "ms"),
        ),
        use.location,
        cost_ms_per_step=use.start_ms / max(use.steps_between, 1.0),
    )
