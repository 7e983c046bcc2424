"""Reduces each batch of a pipeline to the examples that are used.

A rehearsal with fewer replicas, or with the first examples of each batch, would otherwise decode
and augment whole global batches to discard most of them. The transformations below the last batch
are repeated over the used examples, with their traced functions; those above it, which may rely on
the batch size, get a full batch of repeated examples. So does a step whose results are no longer
used.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from tpudiag.sources.job.points import Args, Call, Library, privates
from tpudiag.sources.job.points.library_objects import Dataset, Tensor
from tpudiag.sources.job.tensorflow.input.dataset_reader import kind_of, own
from tpudiag.sources.job.tensorflow.input.pipelines import NOT_RUN

_BATCHES = ("Batch", "ParallelBatch")
_MADE_OF = "_tpudiag_made_of"


class _NotThin(Exception):
    """A pipeline whose batches must be complete."""


LEAST, SPARED = 8, 8
"""The least examples made of a batch that is filled up, and of how many one is made."""


def few_of(examples: int) -> int:
    """How many of so many examples represent all."""
    return max(-(-examples // SPARED), min(LEAST, examples))


@dataclass(frozen=True)
class _Part:
    """The examples made of each batch, and those used."""

    made: int
    batch: int
    used: int
    whole: bool = False
    """Whether an incomplete last batch is dropped, and nothing follows it."""

    def of(self, examples: int) -> int:
        """The used ones of so many consecutive examples; endless and unknown stay as they are."""
        if examples <= 0:
            return examples
        rest = 0 if self.whole else min(examples % self.batch, self.made)
        return examples // self.batch * self.made + rest


_WHOLE = _Part(1, 1, 1)


def thinned(
    tf: Library,
    dataset: Dataset,
    used: Callable[[int], int],
    made: Callable[[int], int] = lambda used: used,
) -> Dataset | None:
    """The dataset with the first examples of each batch only; None where all must be made.

    `used` returns how many of a batch of that size are used, the first dimension of each part.
    `made` returns how many of those are made, and repeated to that number.
    """
    if not tf.executing_eagerly():
        return None
    try:
        above, batch = _split(dataset)
        size = int(privates.BATCH_SIZE.of(batch))
        drops, below = bool(privates.DROP_REMAINDER.of(batch)), own(privates.inputs(batch)[0])
        # A next pass or part follows an incomplete batch's examples.
        goes_on = _holds(below, "Repeat", "Concatenate")
        part = _Part(made(used(size)), size, used(size), drops and not goes_on)
        fewer = 0 < part.made < size and _holds(below, "Map", "ParallelMap")
        # Data of less than a batch are shared out as they are: none would be left to spare.
        fewer &= not 0 < int(below.cardinality()) < size
        if not (fewer and _are_tensors(tf, batch.element_spec)):
            return None
        thin = _below(tf, below, part)
    except _NotThin:
        return None
    thin = thin.batch(part.made, drop_remainder=drops)
    seen = any("Map" in kind_of(each) or kind_of(each) == "Filter" for each in above)
    if seen or part.made < part.used:
        thin = _mapped(tf, thin.map(_filled_up(tf, part)), above, part)
    else:
        thin = _again(tf, above, thin)
    return thin.with_options(dataset.options())


def _split(dataset: Dataset) -> tuple[list[Dataset], Dataset]:
    """The transformations above the last batch, upwards, and that batch."""
    above: list[Dataset] = []
    dataset = own(dataset)
    while kind_of(dataset) not in _BATCHES:
        inputs = privates.inputs(dataset)
        if len(inputs) != 1 or kind_of(dataset) not in _AGAIN:
            raise _NotThin
        above.insert(0, dataset)
        dataset = own(inputs[0])
    if any(getattr(each, NOT_RUN, False) for each in (*above, dataset)):
        raise _NotThin
    return above, dataset


def _holds(dataset: Dataset, *kinds: str) -> bool:
    """Whether a transformation of these kinds makes the examples."""
    kind = kind_of(dataset)
    known = kind in _AGAIN or kind in ("Zip", "Concatenate")
    inputs = privates.inputs(dataset) if known else ()
    return kind in kinds or any(_holds(own(each), *kinds) for each in inputs)


def _below(tf: Library, dataset: Dataset, part: _Part, zipped: bool = False) -> Dataset:
    """A dataset of examples reduced to those used."""
    dataset = own(dataset)
    kind = kind_of(dataset)
    if kind == "Zip":
        side = partial(_below, tf, part=part, zipped=True)
        sides = tf.nest.map_structure(side, privates.ZIPPED.of(dataset))
        both: Dataset = tf.data.Dataset.zip(sides)
        return both
    if kind == "Concatenate":
        first, second = privates.inputs(dataset)
        return _below(tf, first, part, zipped).concatenate(_below(tf, second, part, zipped))
    # Both sides of a pair must keep the same elements.
    again = kind in _AGAIN and not getattr(dataset, NOT_RUN, False)
    if again and not (zipped and kind == "Filter"):
        return _AGAIN[kind](
            tf, dataset, _below(tf, privates.inputs(dataset)[0], part, zipped), part
        )
    return _first_of_each(tf, dataset, part)


def _first_of_each(tf: Library, dataset: Dataset, part: _Part) -> Dataset:
    """The first examples of each batch's length, repeatedly."""

    def is_used(number: int, _: object) -> object:
        return number % part.batch < part.made

    def example(_: object, value: object) -> object:
        return value

    def first(*window: object) -> object:
        return tf.data.Dataset.zip(as_element(window)).take(part.made)

    as_written = tf.autograph.experimental.do_not_convert
    if part.whole:
        return dataset.window(part.batch, drop_remainder=True).flat_map(as_written(first))
    return dataset.enumerate().filter(as_written(is_used)).map(as_written(example))


def _again(tf: Library, above: list[Dataset], dataset: Dataset) -> Dataset:
    """Repeat the transformations above a batch over it."""
    for each in above:
        dataset = _AGAIN[kind_of(each)](tf, each, dataset, _WHOLE)
    return dataset


def _mapped(tf: Library, dataset: Dataset, above: list[Dataset], part: _Part) -> Dataset:
    """The same where functions see the batch: their results are cut to the used part."""

    def first(tensor: Any) -> object:
        return tensor[: part.used] if tensor.shape.rank else tensor

    dataset = _again(tf, above, dataset)
    if part.used == part.batch:
        return dataset
    if not _are_tensors(tf, dataset.element_spec):
        raise _NotThin
    return dataset.map(tf.autograph.experimental.do_not_convert(by_part(tf, first)))


def _filled_up(tf: Library, part: _Part) -> Call:
    """Repeats the examples to the batch size for which the functions above were traced."""

    def filled(tensor: Tensor) -> object:
        size = tensor.shape[0]
        # The last batch of uneven data is smaller.
        full = tf.shape(tensor)[0] == part.made if size is None else size == part.made
        count = tf.where(full, part.batch, tf.shape(tensor)[0])
        made = tf.gather(tensor, tf.range(count) % part.made)
        return tf.ensure_shape(made, [part.batch if size else None, *tensor.shape[1:]])

    as_written: Call = tf.autograph.experimental.do_not_convert(by_part(tf, filled))
    return as_written


def by_part(tf: Library, change: Callable[[Any], object]) -> Call:
    """Changes each part of an element of a dataset."""

    def changed(*element: object) -> object:
        return as_element(tf.nest.map_structure(change, element))

    return changed


def as_element(parts: Args) -> object:
    """A function's result for its parts."""
    return parts[0] if len(parts) == 1 else parts


def _are_tensors(tf: Library, spec: object) -> bool:
    """Whether all parts of an element are plain tensors of known rank."""
    return all(
        isinstance(each, tf.TensorSpec) and each.shape.rank is not None
        for each in tf.nest.flatten(spec)
    )


def _map(tf: Library, dataset: Dataset, given: Dataset, _: _Part) -> Dataset:
    function = privates.MAP_FUNCTION.of(dataset).function
    named = {
        "input_dataset": privates.VARIANT.of(given),
        "other_arguments": function.captured_inputs,
        "f": function,
        "preserve_cardinality": privates.KEEPS_CARDINALITY.of(dataset),
        **privates.FLAT_STRUCTURE.of(dataset),
    }
    if kind_of(dataset) == "Map":
        variant = tf.raw_ops.MapDataset(**named)
    else:
        calls = privates.PARALLEL_CALLS.of(dataset)
        variant = tf.raw_ops.ParallelMapDatasetV2(num_parallel_calls=calls, **named)
    return _held(variant, dataset, given)


def _filter(tf: Library, dataset: Dataset, given: Dataset, _: _Part) -> Dataset:
    function = privates.PREDICATE.of(dataset).function
    variant = tf.raw_ops.FilterDataset(
        input_dataset=privates.VARIANT.of(given),
        other_arguments=function.captured_inputs,
        predicate=function,
        **privates.FLAT_STRUCTURE.of(dataset),
    )
    return _held(variant, dataset, given)


def _held(variant: object, dataset: Dataset, given: Dataset) -> Dataset:
    """A dataset from a variant, which keeps its origins alive, functions included."""
    made: Dataset = privates.VARIANT_DATASET.get()(variant, dataset.element_spec)
    setattr(made, _MADE_OF, (dataset, given))
    return made


def _shuffle(_: Library, dataset: Dataset, given: Dataset, part: _Part) -> Dataset:
    """A shuffle whose buffer holds the same share of the data."""
    buffer = int(privates.BUFFER_SIZE.of(dataset))
    # TensorFlow keeps a pair: zeros where none was given.
    seed = int(privates.SEED_2.of(dataset)) or None
    again = privates.RESHUFFLES.of(dataset)
    return given.shuffle(
        max(buffer * part.made // part.batch, 1), seed=seed, reshuffle_each_iteration=again
    )


_AGAIN: dict[str, Callable[[Library, Dataset, Any, _Part], Dataset]] = {
    "Map": _map,
    "ParallelMap": _map,
    "Filter": _filter,
    "Shuffle": _shuffle,
    "Repeat": lambda _, dataset, given, __: given.repeat(int(privates.COUNT.of(dataset))),
    "Prefetch": lambda _, dataset, given, __: given.prefetch(int(privates.BUFFER_SIZE.of(dataset))),
    "Cache": lambda _, __, given, ___: given.cache(),
    "Take": lambda _, dataset, given, part: given.take(part.of(int(privates.COUNT.of(dataset)))),
    "Skip": lambda _, dataset, given, part: given.skip(part.of(int(privates.COUNT.of(dataset)))),
    # Options are set once, at the end; the number of elements has changed.
    "Options": lambda _, __, given, ___: given,
    "AssertCardinality": lambda _, __, given, ___: given,
}
"""Repeats a transformation over a dataset with only a part of the examples."""
