"""Finds zipped files of the same names that come in different orders."""

from collections.abc import Sequence
from itertools import combinations
from pathlib import PurePath
from typing import cast

from tpudiag.signals import DatasetOp, PartsApart
from tpudiag.sources.job.points import privates
from tpudiag.sources.job.points.library_objects import Dataset
from tpudiag.sources.job.tensorflow.input import files
from tpudiag.sources.job.tensorflow.input.dataset_reader import DatasetReader, kind_of

FEWEST = 4
"""Fewer files may have the same names by chance."""


def in_other_orders(
    reader: DatasetReader, chain: Sequence[Dataset], ops: Sequence[DatasetOp]
) -> PartsApart | None:
    """The parts of an example, as pictures and masks, that are put in order each by itself."""
    spec = chain[-1].element_spec
    whole = cast("tuple[object, ...]", spec) if isinstance(spec, tuple) else ()
    # Of one kind they may be examples of their own: pictures of two styles, or two to be blended.
    if len(whole) != 2 or whole[0] == whole[1]:
        return None
    known = {id(each): op for each, op in zip(chain, ops, strict=True)}
    for zipped in chain:
        for pair in combinations(privates.inputs(zipped) if kind_of(zipped) == "Zip" else (), 2):
            names = [files.all_named(part) for part in pair]
            stems = [[PurePath(name).stem for name in each] for each in names]
            mixes = [
                op
                for part in reversed(pair)
                for each in reader.chain(part)
                if (op := known[id(each)]).kind == "Shuffle" and not op.seeded
            ]
            if (
                len(names[0]) >= FEWEST
                and names[0] != names[1]
                and sorted(stems[0]) == sorted(stems[1])
                and (mixes or stems[0] != stems[1])
            ):
                place = mixes[0] if mixes else known[id(zipped)]
                first = names[0][0], names[1][stems[1].index(stems[0][0])]
                return PartsApart(len(names[0]), first, bool(mixes), place.location)
    return None
