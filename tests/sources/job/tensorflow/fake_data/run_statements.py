"""Runs a script of a test, each of whose statements is tried."""

from __future__ import annotations

import linecache
from pathlib import Path
from typing import Any

from tpudiag.sources.job.points import script_text
from tpudiag.sources.job.tensorflow.fake_data.ledger import Ledger
from tpudiag.sources.job.tensorflow.fake_data.statements import Statements


def ran(
    tmp_path: Path, text: str, trained: bool = False, **known: Any
) -> tuple[dict[str, Any], list[str]]:
    """What a script has set, and what was stood in for."""
    noted: list[str] = []
    file = str(tmp_path / "job.py")
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)

    def put(**facts: Any) -> None:
        noted[:] = facts.get("passed_over", ())

    ledger = Ledger(str(tmp_path), put)
    space: dict[str, Any] = {"__name__": "__main__", **known}
    statements = Statements(ledger)
    statements.trained.append(lambda: trained)
    tree = statements.tried(script_text.tree_of(text, file), file, space, 0)
    exec(compile(tree, file, "exec", dont_inherit=True), space)
    return space, noted


def of_keras(text: str, file: str = "src/trainer.py", **known: Any) -> dict[str, Any]:
    """What code of Keras' defines."""
    exec(compile(text, f"/lib/keras/{file}", "exec"), known)
    return known
