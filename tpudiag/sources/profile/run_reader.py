"""Signals from the files of a run: a summary of each host, then a merge."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tpudiag.errors import UnreadableInput
from tpudiag.signals import ProfileFacts, StepTimes, UnreadHost
from tpudiag.sources.profile import locate
from tpudiag.sources.profile.host_summary import HostSummary, OnBytes, attempted
from tpudiag.sources.profile.merge_hosts import merged
from tpudiag.sources.profile.operations import OpTotals, fold
from tpudiag.sources.profile.programs import ProgramHlo

Answer = HostSummary | str
"""A host's summary, or the reason in one line why its file cannot be read."""
HostMapper = Callable[[Sequence[str], str | None], Iterator[tuple[int, Answer]]]
"""Summaries in any order, each with its file's index: from this process, or from workers."""
NOT_READ = "interrupted before it was read"


@dataclass
class Answers:
    """The files' summaries so far; what the hosts share, which run the same programs, once."""

    files: Sequence[str]
    by_place: dict[int, Answer] = field(default_factory=dict[int, Answer])
    ops: OpTotals = field(default_factory=OpTotals)
    programs: dict[str, ProgramHlo] = field(default_factory=dict[str, ProgramHlo])

    def add(self, place: int, answer: Answer) -> None:
        """Take one file's result."""
        if isinstance(answer, HostSummary):
            fold(self.ops, answer.ops.values())
            self.programs = answer.programs | self.programs
            answer = replace(answer, ops={}, programs={})
        self.by_place[place] = answer

    def add_all(self, answers: Iterable[tuple[int, Answer]]) -> Answers:
        """Take several files' results; returns itself."""
        for place, answer in answers:
            self.add(place, answer)
        return self

    def merged(self, missing: Sequence[UnreadHost] = ()) -> tuple[ProfileFacts, StepTimes | None]:
        """The facts of the run; hosts in `missing` are listed beside the unreadable ones.

        Raises UnreadableInput where no host could be read.
        """
        summaries: list[HostSummary] = []
        unread: list[UnreadHost] = list(missing)
        failures: list[str] = []
        for place, file in enumerate(self.files):
            answer = self.by_place.get(place)
            name = Path(file).name.removesuffix(locate.ENDING)
            if isinstance(answer, HostSummary):
                summaries.append(answer)
            elif answer is None:
                failures.append(f"{file}: {NOT_READ}")
                unread.append(UnreadHost(name, NOT_READ, interrupted=True))
            else:
                failures.append(answer)
                unread.append(UnreadHost(name, answer.removeprefix(f"{file}: ")))
        if not summaries:
            more = "" if len(failures) == 1 else f" (nor can any of the {len(failures)} hosts)"
            raise UnreadableInput(failures[0] + more)
        return merged(summaries, self.ops, self.programs, unread)


def here(
    files: Sequence[str],
    span: str | None = None,
    moved: OnBytes = lambda _: None,
    training: frozenset[str] = frozenset(),
) -> Iterator[tuple[int, Answer]]:
    """The summaries, one file after the other; `moved` is called with the bytes read."""
    for place, file in enumerate(files):
        yield place, attempted(file, moved, training, span)


def facts(
    path: str | Path, run: str | None = None, training: frozenset[str] = frozenset()
) -> tuple[ProfileFacts, StepTimes | None]:
    """What the profile at a path holds: its newest run, or the one called `run`.

    The path is a TensorBoard log folder, a run folder or one *.xplane.pb, local or a URL.
    Step times are None where no step is marked and none can be recovered; `training` are the
    functions known to train, otherwise recognised by name. Raises UnreadableInput where no host
    can be read; single ones that cannot are in `unread`.
    """
    chosen = locate.choose(locate.runs(str(path)), str(path), run)
    return Answers(chosen.files).add_all(here(chosen.files, training=training)).merged()
