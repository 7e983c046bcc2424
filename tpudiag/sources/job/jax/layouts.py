"""Keys of Keras' LayoutMaps by which no variable was laid out."""

import re
from typing import Any

from tpudiag.model import Location
from tpudiag.signals import UnmatchedLayout
from tpudiag.sources.job.points import Call, Library, hooks, table, user_lines


class Layouts:
    """The keys that lines of the job's gave, and which of them a variable's path has asked for."""

    def __init__(self) -> None:
        self._given: list[tuple[Any, str, int, Location]] = []
        self._asked_of, self._used = set[int](), set[int]()

    def watch_keras(self, keras: Library) -> None:
        """Hook what gives a layout to a key, and asks for that of a path."""
        hooks.before(table.LAYOUT_GIVEN, self._give, keras)
        hooks.around(table.LAYOUT_ASKED, self._ask, keras)

    def _give(self, layouts: object, key: str, layout: Any) -> None:
        axes, location = getattr(layout, "axes", layout), user_lines.direct_caller()
        if location is not None and any(axes):
            self._given.append((layouts, key, len(axes), location))

    def _ask(self, original: Call, layouts: object, path: str) -> object:
        layout = original(layouts, path)
        self._asked_of.add(id(layouts))
        for n, (of, key, *_) in enumerate(self._given if layout is not None else ()):
            # Several keys may have one layout.
            matches = of is layouts and (key == path or re.search(key, path))
            if matches and original(layouts, key) is layout:
                self._used.add(n)
        return layout

    def facts(self) -> tuple[UnmatchedLayout, ...]:
        """The keys that no path matched, of what was asked at all."""
        return tuple(
            UnmatchedLayout(key, rank, location)
            for n, (of, key, rank, location) in enumerate(self._given)
            if n not in self._used and id(of) in self._asked_of
        )
