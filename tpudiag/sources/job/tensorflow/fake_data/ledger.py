"""What was stood in for, as the report says it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from tpudiag.script_run import InterventionKind
from tpudiag.sources.job.points import interventions

if TYPE_CHECKING:
    from tpudiag.signals import StandInKind

MARKER = "tpudiag-fake:"
"""How every stand-in for the content of a file begins."""
RECORDS = 512
"""Records of each file that is stood in for."""
SIZE = 512
"""Height and width of a picture."""
WORDS = "the step reads a batch of records and the loss falls while it learns from what is there"
"""Words of which texts are made."""
FEWEST_RECORDS = 48
"""Records of each file at least: few, for scripts decode all of a test set."""
MOST_PASSED_OVER = 20
FILES = 24
"""Files that a pattern is answered with."""
CLASSES = ("0_0", "1_1")
"""Folders that a pattern is answered with, and parts of the records' own names: numbers, whole or
split."""
TEXTS = tuple(f"{MARKER}/{name}/{number} {WORDS}" for number, name in enumerate(CLASSES))
"""Records or lines that say that they are none; they can be taken for paths, or for words."""


class Ledger:
    """Notes each thing that was stood in for, once, and tells the parent."""

    def __init__(self, folder: str, put: Callable[..., None]) -> None:
        self.folder = folder
        self._put = put
        self.records = RECORDS
        """Records that each file holds."""
        self._expected = False
        self._things: list[str] = []
        self._asked, self._chosen = set[int](), set[int]()
        self._kinds: set[StandInKind] = set()
        self._lost: dict[str, list[str]] = {"passed_over": [], "failed_on_stand_ins": []}
        """The statements that the script went on without, by the name of their fact."""

    @property
    def any(self) -> bool:
        """Whether anything was stood in for so far."""
        return bool(self._things)

    def note(self, thing: str, kind: StandInKind = "data") -> None:
        """One thing was stood in for."""
        interventions.note(InterventionKind.DATA)
        if thing not in self._things:
            self._things.append(thing)
            self._kinds.add(kind)
            self._put(stood_in=tuple(self._things), stand_in_kinds=sorted(self._kinds))

    def ask(self, shape: Sequence[int | None]) -> None:
        """The script itself says the shape of what is stood in for."""
        self._asked.update(size for size in shape if size)
        self._put(asked_sizes=sorted(self._asked))

    def choose(self, sizes: Iterable[int]) -> None:
        """Nothing says these sizes of what is stood in for: they are ours."""
        if not self._chosen.issuperset(sizes):
            self._chosen.update(sizes)
            self._put(chosen_sizes=sorted(self._chosen))

    def tell_own(self, error: Exception) -> None:
        """No stand-in has a part in an error."""
        self._put(own_error=str(error).partition("\n")[0])

    def pass_over(self, statement: str, wanting: bool) -> None:
        """The script went on without a statement that failed.

        `wanting`: for lack of data; else on what stands in for them, or by its own fault.
        """
        self.note("what statements that were passed over would have set")
        passed = self._lost["passed_over" if wanting else "failed_on_stand_ins"]
        place = statement.partition("`")[0]  # of a function, it may fail for one path after another
        if len(passed) < MOST_PASSED_OVER and not any(each.startswith(place) for each in passed):
            passed.append(statement)
            self._put(**self._lost)

    def expect(self, examples: int) -> int:
        """The records that each file holds, where all together are to give so many examples.

        They stay as many as were told first: names of files and lengths of splits say it.
        """
        if not self._expected:
            self._expected = True
            self.records = min(RECORDS, max(FEWEST_RECORDS, -(-examples // FILES)))
        return self.records
