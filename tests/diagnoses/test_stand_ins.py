"""Crashes that synthetic data may have caused."""

from __future__ import annotations

import pytest

from tpudiag.diagnoses.stand_ins import may_be_to_blame
from tpudiag.known_errors.catalogue import known_errors

EXAMPLES = {error.id: error.example for error in known_errors()}
DATA = ("gs://bucket/*.tfrec",)


@pytest.mark.parametrize(
    ("id_", "to_blame"),
    [
        ("E130", True),  # a parse function's features
        ("E576", True),  # no texts behind a slice
        ("E733", True),  # fields of records
        ("E122", True),  # weights of other shapes
        ("E163", True),  # numbers of another type
        ("E139", False),  # a model outside the scope
        ("E142", False),  # a call in the wrong context
        ("E134", False),  # Python in a pipeline for a worker, whatever it reads
        ("E950", False),  # a draw without a seed, which tracing refuses
    ],
)
def test_of_known_errors_those_that_values_sizes_and_types_bring_about(
    id_: str, to_blame: bool
) -> None:
    assert may_be_to_blame(EXAMPLES[id_], DATA) is to_blame
    assert not may_be_to_blame(EXAMPLES[id_], ())


def test_of_files_those_that_were_stood_in_for() -> None:
    missing = "words_converter/{saved_model.pbtxt|saved_model.pb}"
    error = f"OSError: SavedModel file does not exist at: {missing}"
    assert may_be_to_blame(error, ("https://example.org/models/words_converter.zip",))
    assert not may_be_to_blame(error, ("https://example.org/models/other_converter.zip",))
    inside = "IsADirectoryError: [Errno 21] Is a directory: '/tmp/job-1/fake-data/archives/a'"
    assert may_be_to_blame(inside, ("a.zip",))


def test_errors_that_nobody_knows_unless_they_are_of_the_code() -> None:
    assert may_be_to_blame("AttributeError: 'NoneType' object has no attribute 'group'", DATA)
    assert may_be_to_blame("KeyError: 'f7'", DATA)
    assert not may_be_to_blame("NameError: name 'i' is not defined", DATA)
    assert not may_be_to_blame("AttributeError: module 'tensorflow' has no attribute 'x'", DATA)
    gone = "Triggering __jax_array__() during abstractification is no longer supported."
    assert not may_be_to_blame(f"ValueError: {gone} To avoid this error, convert it.", DATA)
    assert may_be_to_blame("ValueError: the row is longer than 8", DATA)
