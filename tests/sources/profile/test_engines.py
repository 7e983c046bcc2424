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


def test_megabytes_are_told_as_hosts_are_read() -> None:
    told: list[tuple[str, int | None, int | None]] = []

    def mapped(files: Sequence[str], span: str | None = None) -> Iterator[tuple[int, str]]:
        assert files == RUN.files and span == "train"
        yield 1, "b: damaged"
        yield 0, "a: damaged"
        raise KeyboardInterrupt

    def on_phase(phase: str) -> None:
        assert isinstance(phase, Phase)
        told.append((str(phase), phase.done, phase.total))

    answers, interrupted = engines.read(RUN, mapped, "train", on_phase)
    assert interrupted and answers.by_place == {1: "b: damaged", 0: "a: damaged"}
    assert [done for _, done, _ in told] == [0, 1, 4] and {total for *_, total in told} == {6}
    assert told[-1][0] == "reading 3 hosts, 2 done"


def test_without_a_host_there_is_nothing_to_show() -> None:
    def mapped(_: Sequence[str], __: str | None = None) -> Iterator[tuple[int, str]]:
        yield from ()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        engines.read(RUN, mapped)


def test_of_a_small_file_no_part_is_told() -> None:
    told: list[str] = []

    def on_phase(phase: str) -> None:
        assert isinstance(phase, Phase)
        told.append(f"{phase}{phase.how_far}")

    def mapped(_: Sequence[str], __: str | None = None) -> Iterator[tuple[int, str]]:
        yield 0, "a: damaged"

    engines.read(Run("run", "folder", ("a",), (900_000,), 0.0), mapped, None, on_phase)
    assert set(told) == {"reading the profile"}
