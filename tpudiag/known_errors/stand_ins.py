"""Whether data that were stood in for may be to blame for a crash, and not the script."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from .model import Kind, Match, Phase

_FAMILIES = (
    "data-adapter",
    "shape-conflict",
    "numpy-conversion",
    "index-out-of-range",
    "slice-out-of-range",
    "string-for-number",
    "integers-into-layer",
    "vocabulary-layer",
    "vocabulary-layers",
    "lookup-table",
    "transformers-inputs",
    "hub-layer",
    "layer-input",
    "rank-mismatch",
    "metric-shapes",
    "sequence-lengths",
    "empty-reduction",
    "negative-size",
    "top-k",
    "ctc-labels",
    "scikit-learn",
    "none-object",
    "nan",
    "assertion",
    "callback-data",
    "cast-without-kernel",
    "class-weight",
    "collective-of-other-shapes",
    "condition-not-boolean",
    "function-arguments",
    "infeed-shape",
    "input-structure",
    "list-element-shape",
    "loop-variable-changes",
    "no-kernel",
    "none-value",
    "not-built",
    "optimizer-shapes",
    "partition-lengths",
    "range-arguments",
    "rnn-kernel",
    "scatter-shapes",
    "static-shape-wanted",
    "strings-to-replicas",
    "tensor-array",
    "transposed-convolution-size",
    "two-unknown-sizes",
    "types-do-not-match",
    "uneven-replica-batches",
    "unknown-shape",
    "variable-of-another-form",
    "wrong-arguments",
    # Weights, checkpoints and models are stood in for as well.
    "checkpoint-damaged",
    "checkpoint-mismatch",
    "checkpoint-not-whole",
)
"""Beside what fails while data are read, what those that were stood in for may well be to blame
for: values, sizes and types that real ones have. What follows a stand-in is marked by that: where
things were stood in for, an error of these is told as theirs, not as the script's."""
_WIRING = (
    "accelerate-batches",
    "captured-dataset",
    "captured-strings",
    "data-service",
    "data-service-arguments",
    "dataset-function",
    "dataset-misused",
    "distributed-dataset",
    "generator-as-tensor",
    "generator-threads",
    "gs-scheme",
    "iterator-on-tpu",
    "local-files",
    "message-too-large",
    "python-in-pipeline",
    "seqio-task",
    "sharded-by-elements",
)
"""What is wrong with how a pipeline is built, whatever data it reads."""
_SHORTEST_STEM = 8
"""Letters of a file's name below which it may be any word."""
_MARKS = ("/fake-data/", "tpudiag-fake:")
"""What names a stand-in: its file, or its content."""
OF_CODE = re.compile(
    r"(NameError|UnboundLocalError|ImportError|ModuleNotFoundError|SyntaxError|IndentationError)\b|"
    r"AttributeError: module '"
)
"""Exceptions that no data and no length of a loop brings about."""


def may_be_of(hit: Match, error: str, stood_in: Sequence[str]) -> bool:
    """Whether a known error of an exception may be due to what was stood in for.

    Always where the error names a stand-in, or is Python's own, whose cause the text does not tell.
    """
    if any(mark in error for mark in (*_MARKS, *_stems(stood_in))):
        return True
    if hit.error.phase is Phase.READING:
        return hit.error.family not in _WIRING
    return hit.error.family in _FAMILIES or (
        hit.error.kind is Kind.BROAD and hit.error.phase is Phase.ANY
    )


def may_be_to_blame(error: str, stood_in: Sequence[str]) -> bool:
    """Whether an exception may be due to what was stood in for: where no known error tells else."""
    from .search import match

    if not stood_in or OF_CODE.match(error):
        return False
    return all(may_be_of(hit, error, stood_in) for hit in match(error) if _tells(hit))


def _tells(hit: Match) -> bool:
    """Whether a known error tells of a cause, and does not follow from another one."""
    known = hit.error
    return not (hit.secondary or known.noise or known.kind in (Kind.CONSEQUENCE, Kind.FORM))


def _stems(stood_in: Sequence[str]) -> Iterator[str]:
    """The names of files that were stood in for, as scripts go on to name what they unpack."""
    for thing in stood_in:
        stem = thing.split(" ")[0].rpartition("/")[2].partition(".")[0]
        if len(stem) >= _SHORTEST_STEM:
            yield stem
