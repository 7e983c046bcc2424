"""Which keys of a LayoutMap the paths of variables match."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tpudiag.sources.job.jax.layouts import Layouts
from tpudiag.sources.job.points import hooks


class LayoutMap(dict[str, Any]):
    """As Keras has it: a path has the layout of the key that it is or matches."""

    def __getitem__(self, path: str) -> Any:
        return next((layout for key, layout in self.items() if re.fullmatch(key, path)), None)

    def __setitem__(self, key: str, layout: Any) -> None:
        super().__setitem__(key, layout)


def test_a_key_that_shares_out_and_matches_no_path_is_told_with_its_line() -> None:
    watch, layouts, unused = Layouts(), LayoutMap(), LayoutMap()
    keras: Any = SimpleNamespace(distribution=SimpleNamespace(LayoutMap=LayoutMap))
    watch.watch_keras(keras)
    layouts[".*items/embeddings"] = layouts["item_table/embeddings"] = ("model", None)
    layouts["of_none/kernel"] = (None, None)
    unused["item_table/embeddings"] = ("model", None)
    assert layouts["net/items/embeddings"] and not layouts["net/dense/kernel"]
    hooks.undo()
    (missed,) = watch.facts()
    assert (missed.key, missed.rank) == ("item_table/embeddings", 2)
    line = Path(__file__).read_text().splitlines()[(missed.location.line or 0) - 1]
    assert line.strip().startswith("layouts[")
