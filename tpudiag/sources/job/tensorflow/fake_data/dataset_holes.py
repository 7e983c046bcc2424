"""Holes that are handed to tf.data, or to a strategy: before any other subscriber sees them.

A dataset made from a hole is a hole that records its calls; a strategy is given fake data, so that
later subscribers see a dataset. A generator that fails for lack of data gives what its signature
says.
"""

from collections.abc import Callable, Iterator
from functools import partial, wraps
from itertools import islice, repeat
from typing import Any

from tpudiag.sources.job.points import Call, Library, hooks, table

from . import batch_sizes, missing_data_errors
from .asking import by_user, taken_at_will
from .holes import BATCHES, Hole, batched, is_open, joined, used
from .model_holes import simplest

_ENDS = "_tpudiag_ends"
"""Marks what stands in for data that are distributed: a strategy's, of no end of their own."""


def install(tf: Library, batches: Callable[[Hole], object], note: Callable[[str], object]) -> None:
    """Hook them; `batches` gives data as a model asks for them."""

    def recorded(
        is_hole: Callable[[object], bool], original: Call, /, *args: object, **kwargs: object
    ) -> object:
        """A dataset of what holds such a hole is one; so is one of arrays of another length."""
        parts = tf.nest.flatten((args, kwargs))
        hole: Any = next((each for each in parts if isinstance(each, Hole)), None)
        if not any(map(is_hole, parts)):
            try:
                return original(*args, **kwargs)
            except ValueError:
                if hole is None:
                    raise
        alike = not args or isinstance(args[0], list)  # a list is of datasets that are alike
        return used(hole, "joined") if alike else joined(args, hole)

    def generated(
        original: Call, generator: Callable[..., Iterator[object]], *args: object, **kwargs: object
    ) -> object:
        signature = kwargs.get("output_signature") or _of_types(tf, *args[:2], **kwargs)

        @wraps(generator)
        def whole(*given: object) -> Iterator[object]:
            try:
                yield from generator(*given)
            except Exception as error:
                if not missing_data_errors.is_absent(error):
                    raise
                hooks.quietly(note, "what a generator gives, as its signature says")
                one = tf.nest.map_structure(partial(simplest, first=0), signature)
                yield from repeat(one, BATCHES * batch_sizes.of(None))

        return original(generator if signature is None else whole, *args, **kwargs)

    def distributed(
        original: Call, strategy: object, dataset: object, *args: object, **kwargs: object
    ) -> object:
        if not isinstance(dataset, Hole):
            return original(strategy, dataset, *args, **kwargs)
        filled: Any = batches(dataset)
        if filled is None:  # a model may come later
            filled = batched(batch_sizes.of(dataset, 0) or None)
            filled.tpudiag_shared = lambda of: original(strategy, of, *args, **kwargs)  # pyright: ignore
            return filled
        made = original(strategy, filled, *args, **kwargs)
        setattr(made, _ENDS, True)
        return made

    def gone_over(original: Call, dataset: object) -> object:
        """A loop of the script's own, which would have no end."""
        own = getattr(dataset, _ENDS, False) and tf.executing_eagerly() and by_user()
        batches: Any = original(dataset)
        return islice(batches, BATCHES) if own and not taken_at_will() else batches

    # Arrays of a shape that nobody asked for would be no data of the model's.
    hooks.around(table.ARRAYS_SLICED, partial(recorded, is_open))
    hooks.around(table.GENERATOR_GIVEN, generated)
    hooks.around(table.DATASETS_JOINED, partial(recorded, lambda each: isinstance(each, Hole)))
    hooks.around(table.STRATEGY_DISTRIBUTES, distributed)
    hooks.around(table.DISTRIBUTED_DATASETS, gone_over)


def _of_types(
    tf: Library, output_types: Any = None, output_shapes: Any = None, **_: object
) -> object:
    """What a generator gives by its types and shapes, as an older interface tells them."""
    if output_types is None or output_shapes is None:
        return None
    if hasattr(output_types, "items"):
        return {key: _of_types(tf, each, output_shapes[key]) for key, each in output_types.items()}
    if hasattr(output_types, "__len__"):
        return tuple(map(partial(_of_types, tf), output_types, output_shapes))
    return tf.TensorSpec(output_shapes, output_types)
