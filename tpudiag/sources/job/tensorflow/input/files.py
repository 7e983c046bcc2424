"""The files that a pipeline opens, read from the dataset that names them."""

import re
from collections.abc import Callable
from contextlib import suppress
from itertools import chain
from typing import TypeVar

from tpudiag.signals import FilesRead
from tpudiag.sources.job.points import privates
from tpudiag.sources.job.points.library_objects import Dataset

SHOWN = 3
_Result = TypeVar("_Result")
_READER = re.compile(r"(TFRecord|TextLine|FixedLengthRecord|Csv)$")
_FILES = re.compile(r"(TFRecord|TextLine|FixedLengthRecord)Dataset")
_OPENS = re.compile(r"(TFRecord|TextLine|FixedLengthRecord|CSV)Dataset|ReadFile$")


def opens(kind: str, op_types: list[str]) -> bool:
    """Whether a transformation opens files: a reader, or a function with one."""
    return bool(_READER.match(kind)) or any(map(_OPENS.match, op_types))


def one_by_one(dataset: object, kind: str, op_types: list[str]) -> bool:
    """Whether a transformation reads several files one after the other."""
    if _READER.match(kind):
        # TFRecordDataset contains a ParallelInterleave over its files with num_parallel_reads, and
        # a FlatMap, which reads them one by one, without.
        inner = privates.READER.of(dataset, None) or privates.HELD.of(dataset, None)
        return "FlatMap" in type(inner).__name__
    return kind in ("FlatMap", "Interleave") and any(map(_FILES.match, op_types))


def named(dataset: Dataset) -> FilesRead | None:
    """The files named by a dataset's sources; None where none names them in advance."""
    names = all_named(dataset)
    return FilesRead(len(names), tuple(names[:SHOWN])) if names else None


def all_named(dataset: Dataset, known: dict[int, list[str]] | None = None) -> list[str]:
    """The most files of one source; concatenated sources count together. `known`: by a dataset."""
    known = {} if known is None else known
    if id(dataset) in known:
        return known[id(dataset)]
    known[id(dataset)] = []
    parents: list[Dataset] = [*(tried(privates.INPUTS.of(dataset, tuple)) or ())]
    files = privates.FILE_NAMES.of(dataset, None)
    if not parents and hasattr(files, privates.INPUTS.name):
        parents = [files]
    of_sources = [all_named(parent, known) for parent in parents] or [_strings(dataset)]
    follow = privates.CONCATENATED.names(dataset)
    known[id(dataset)] = [*chain(*of_sources)] if follow else max(of_sources, key=len)
    return known[id(dataset)]


def _strings(source: object) -> list[str]:
    tensors = privates.TENSORS.of(source, None)
    if not tensors or len(tensors) != 1 or tensors[0].dtype.name != "string":
        return []
    values: list[bytes] = tried(lambda: tensors[0].numpy().reshape(-1).tolist()) or []
    return [value.decode(errors="replace") for value in values]


def tried(call: Callable[[], _Result]) -> _Result | None:
    """The result of a call into tf.data, None where this version fails."""
    with suppress(Exception):
        return call()
    return None


def cache_file(dataset: object) -> str:
    """The file of a cache, empty for one in memory."""
    with suppress(AttributeError, NotImplementedError, ValueError):
        return bytes(privates.CACHE_FILE.of(dataset).numpy()).decode()
    return ""
