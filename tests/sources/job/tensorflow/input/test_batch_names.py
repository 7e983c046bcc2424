"""What the user's code calls a number, in the frames of this test."""

from dataclasses import dataclass
from typing import Any

from tpudiag.sources.job.tensorflow.input import batch_names


@dataclass
class Options:
    batch_size: int = 3_331
    shuffle: bool = True


class Lazy(dict[str, int]):
    def items(self) -> Any:
        return ["batch_size"]


def test_a_number_is_known_by_the_users_names() -> None:
    options, _lazy = Options(), Lazy(batch_size=2)
    rows = options.batch_size
    assert batch_names.names_of(rows) == ("options.batch_size", "rows")


def test_a_truth_or_a_one_is_no_batch() -> None:
    only_one = 1
    assert "only_one" not in batch_names.names_of(only_one)
    assert batch_names.names_of(True) == ()


def test_two_global_batches_are_none() -> None:
    global_batch = 1_024
    assert batch_names.global_batch() == global_batch
    eval_global_bs = 2_048
    assert batch_names.global_batch() is None, eval_global_bs


def test_a_product_with_the_replicas_is_the_batch_of_all_of_them() -> None:
    replicas = 8
    batch = 413 * replicas  # of all
    size = batch
    assert batch_names.names_of(size) == ("batch = 413 * replicas", "size")
