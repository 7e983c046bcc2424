"""Protobuf's numbers beside what protobuf's own encoding of them says."""

import numpy as np

from tests.wire_bytes import varint
from tpudiag.sources.profile.varints import numbers


def test_each_number_of_up_to_eight_bytes_is_read_whatever_follows() -> None:
    values = [0, 1, 127, 128, 300, 16_383, 16_384, 2**28 - 1, 2**35, 2**49 - 1, 2**56 - 1]
    words = [int.from_bytes((varint(v) + b"\xff" * 8)[:8], "little") for v in values]
    read, sizes = numbers(np.array(words, np.uint64))
    assert read.tolist() == values
    assert sizes.tolist() == [len(varint(value)) for value in values]


def test_one_that_is_longer_than_a_word_has_no_size() -> None:
    words = [int.from_bytes(varint(2**63)[:8], "little"), 5]
    read, sizes = numbers(np.array(words, np.uint64))
    assert sizes.tolist() == [0, 1]
    assert read[1] == 5
