"""Which keys of a LayoutMap the paths of variables match."""

import re
from collections import UserDict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tpudiag.sources.job.jax.layouts import Layouts
from tpudiag.sources.job.points import hooks


class LayoutMap(UserDict[str, "tuple[str | None, ...] | None"]):
    """As Keras has it: a path has the layout of the key that it is or matches."""

    def __getitem__(self, key: str) -> tuple[str | None, ...] | None:
        exact = self.data.get(key)
        return exact or next((v for k, v in self.data.items() if re.fullmatch(k, key)), None)

    def __setitem__(self, key: str, item: tuple[str | None, ...] | None) -> None:
        self.data[key] = item


def test_a_key_that_shares_out_and_matches_no_path_is_told_with_its_line() -> None:
    watch, layouts, unused = Layouts(), LayoutMap(), LayoutMap()
    keras: Any = SimpleNamespace(distribution=SimpleNamespace(LayoutMap=LayoutMap))
    watch.watch_keras(keras)
    layouts[".*items/embeddings"] = ("model", None)
    layouts["item_table/embeddings"] = ("model", None)
    layouts["of_none/kernel"] = (None, None)
    unused["item_table/embeddings"] = ("model", None)
    assert layouts["net/items/embeddings"] == ("model", None)
    assert layouts["net/dense/kernel"] is None
    hooks.undo()
    (missed,) = watch.facts()
    assert (missed.key, missed.rank) == ("item_table/embeddings", 2)
    assert (
        'layouts["item_table'
        in Path(__file__).read_text().splitlines()[(missed.location.line or 0) - 1]
    )
