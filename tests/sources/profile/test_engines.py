"""Who reads the files of a run, and how far it is."""

from collections.abc import Iterator, Sequence

import pytest

from tpudiag.errors import UsageError
from tpudiag.phases import Phase
from tpudiag.sources.profile import engines
from tpudiag.sources.profile.locate import Run
from tpudiag.sources.profile.run_reader import here

RUN = Run("run", "folder", ("a", "b", "c"), (3_000_000, 1_000_000, 2_000_000), 0.0)


def test_the_words_for_an_engine() -> None:
    assert engines.engine("local") is here
    for word in ("spark", "dask://", "dask://scheduler"):
        with pytest.raises(UsageError, match=r"--engine .*neither local nor dask"):
            engines.engine(word)


def read(
    run: Run, *answers: tuple[int, str], interrupted: bool = False
) -> tuple[dict[int, object], bool, list[Phase]]:
    """What is read of a run whose hosts answer so, whether it was stopped, and what was told."""
    told: list[Phase] = []

    def mapped(files: Sequence[str], span: str | None = None) -> Iterator[tuple[int, str]]:
        assert files == run.files and span == "train"
        yield from answers
        if interrupted:
            raise KeyboardInterrupt

    def on_phase(phase: str) -> None:
        assert isinstance(phase, Phase)
        told.append(phase)

    found, stopped = engines.read(run, mapped, "train", on_phase)
    return dict(found.by_place), stopped, told


def test_megabytes_are_told_as_hosts_are_read() -> None:
    answers = {1: "b: damaged", 0: "a: damaged"}
    found, interrupted, told = read(RUN, *answers.items(), interrupted=True)
    assert interrupted and found == answers
    assert [phase.done for phase in told] == [0, 1, 4] and {phase.total for phase in told} == {6}
    assert str(told[-1]) == "reading 3 hosts, 2 done"


def test_without_a_host_there_is_nothing_to_show() -> None:
    with pytest.raises(KeyboardInterrupt):
        read(RUN, interrupted=True)


def test_of_a_small_file_no_part_is_told() -> None:
    _, _, told = read(Run("run", "folder", ("a",), (900_000,), 0.0), (0, "a: damaged"))
    assert {f"{phase}{phase.how_far}" for phase in told} == {"reading the profile"}
