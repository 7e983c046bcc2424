"""Data hold some batches of the size that a script has named by then."""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownLambdaType=false
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tpudiag.sources.job.points import user_lines
from tpudiag.sources.job.tensorflow.fake_data import batch_sizes
from tpudiag.sources.job.tensorflow.fake_data.holes import batched


class Settings:
    """As a script keeps them."""

    __module__ = "__main__"
    batch_size = 256
    steps_per_batch = 9000


@pytest.mark.parametrize(
    ("names", "batch"),
    [
        ({"BATCH_SIZE": 128 * 8, "num_batches": 9000}, 1024),
        ({"C": Settings}, 256),
        ({"config": {"train_batch_size": 64, "batch_sizes": "many", "test_batch_size": 500}}, 64),
        ({"own": SimpleNamespace(batch_size=64), "batch": object()}, 64),
        ({"batch": 8, "of_another": batched(64)}, 8),
        ({"batch_bytes": 2**40, "batch_dim": True}, 0),
    ],
)
def test_the_largest_batch_that_has_a_name(
    monkeypatch: pytest.MonkeyPatch, names: dict[str, Any], batch: int
) -> None:
    main = ModuleType("__main__")
    vars(main).update(names)
    monkeypatch.setitem(sys.modules, "__main__", main)
    monkeypatch.setattr(user_lines, "is_user_file", lambda _: False)
    assert batch_sizes.examples() == batch_sizes.BATCHES * batch
