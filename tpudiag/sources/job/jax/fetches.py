"""Lines that ask for a result of the step, for which the host waits."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from tpudiag.model import Location
from tpudiag.signals import ResultFetch
from tpudiag.sources.job.points import hooks, table, user_lines


class FetchWatch:
    """After how many steps which line of the job's waits for a result."""

    def __init__(self, results: Callable[[], dict[int, Any]], steps: Callable[[], int]) -> None:
        self._results, self._steps = results, steps
        self._at: dict[Location, set[int]] = {}

    def watch(self, jax: Any) -> None:
        """Hook what asks for values."""
        hooks.before(table.JAX_ARRAY_ASKED, partial(self._asked, True), jax)
        hooks.before(table.JAX_VALUES_ASKED, partial(self._asked, False), jax)
        self._leaves = jax.tree_util.tree_leaves

    def _asked(self, one: bool, value: Any, *_: object, **__: object) -> None:
        """Count the step after which a line of the job's asks for its result."""
        results = self._results()
        leaves = (value,) if one else self._leaves(value)
        if not results or not any(id(leaf) in results for leaf in leaves):
            return
        location = user_lines.caller()
        if location is not None and user_lines.direct_caller() is not None:
            self._at.setdefault(location, set()).add(self._steps())

    def facts(self) -> tuple[ResultFetch, ...]:
        """Each line that asked, with the steps after which it did."""
        total = self._steps()
        return tuple(ResultFetch("result", len(at), total, line) for line, at in self._at.items())
