"""`tpudiag explain`: checks, known errors, and logs of any size, at once."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands.called import called, refused
from tests.sources.job.programs import printed
from tpudiag.catalogue import checks
from tpudiag.known_errors.catalogue import known_errors
from tpudiag.known_errors.model import Match, with_values
from tpudiag.known_errors.reader import in_text

NOISE = "2026-01-02 03:04:05: I trainer.py:12] epoch 3, step 1234, loss 0.12, 1900 images/s\n"
BY_ID = {error.id: error for error in known_errors()}


def said(*arguments: str) -> str:
    done = called("explain", *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("id_", [check.id for check in checks()])
def test_a_check_is_explained_under_all_its_headings(id_: str) -> None:
    rows = said(id_).splitlines()
    check = next(check for check in checks() if check.id == id_)
    assert rows[:2] == [
        f"{id_} {check.name} ({check.severity.value})",
        check.doc.partition("\n")[0],
    ]
    headings = ["What it sees", "Why it costs", "What to do", "Source"]
    places = [rows.index(heading) for heading in headings]
    assert places == sorted(places)
    assert all(rows[place + 1].strip() for place in places)
    assert "```" not in "\n".join(rows)


def test_a_name_does_too_and_the_page_of_xprof_is_named() -> None:
    assert said("input-bound") == said("tpu201")
    assert "In XProf\n  Input Pipeline Analysis" in said("TPU201")


def test_all_checks_and_families_are_listed() -> None:
    ids = [row.split()[0] for row in said().splitlines()]
    assert ids == [check.id for check in checks()]
    family = [row.split()[0] for row in said("TPU2").splitlines()]
    assert family == [id_ for id_ in ids if id_.startswith("TPU2")]


def test_a_known_error_is_explained_by_its_id() -> None:
    text = said("e19")
    assert BY_ID["E19"].cause in " ".join(text.split())
    assert all(row.strip() in text for row in BY_ID["E19"].fix.splitlines())
    assert "<<" not in said("P24")


@pytest.mark.parametrize("each", [20, pytest.param(1, marks=pytest.mark.slow)])
def test_the_text_of_an_error_gives_cause_fix_and_citation(each: int) -> None:
    # What any program may say is answered only where something beside it speaks for the case.
    for known in [each for each in BY_ID.values() if not each.common][::each]:
        found = in_text(known.example)[0]
        assert isinstance(found, Match)
        text = said("--error", known.example)
        assert text.startswith(f"{known.id} (")
        assert ("which of them is not known" in text) is found.undecided
        reading = found.reading
        own_words = found.settled or (reading is not None and reading.whole)
        cause = with_values(known.cause, found.values)
        assert own_words or cause in " ".join(text.split())
        last = with_values(known.fix, {}).splitlines()[-1].strip()
        alone = found.settled or (reading is not None and reading.alone)
        assert last in text or known.rivals or alone
        assert all(citation in text for citation in known.citations)


def test_the_best_comes_first_with_line_and_count(tmp_path: Path) -> None:
    consequence, cause = BY_ID["E28"].example, BY_ID["E26"].example
    log = tmp_path / "train.log"
    log.write_text(NOISE * 4 + f"{consequence}\n{NOISE}{cause}\n" * 2, encoding="utf-8")
    text = said("--log", str(log))
    heads = [row for row in text.splitlines() if row[:1] == "E"]
    assert [head.split()[0] for head in heads] == ["E26", "E28"]
    assert "2 times, lines" in heads[0]
    assert heads[1].endswith("follows from another error here")


def test_json_for_programs() -> None:
    (found,) = json.loads(said("--error", BY_ID["E01"].example, "--format", "json"))
    assert (found["id"], found["line"], found["secondary"]) == ("E01", 1, False)
    one = json.loads(said("TPU101", "--format", "json"))
    assert list(one["sections"]) == ["What it sees", "Why it costs", "What to do", "Source"]
    assert one["xprof_page"] == "Trace Viewer"
    every = json.loads(said("--format", "json"))
    assert [each["id"] for each in every] == [check.id for check in checks()]


@pytest.mark.parametrize(
    ("arguments", "cause"),
    [
        (["TPU999"], "TPU999: no check or known error"),
        (["TPU9"], "TPU9: no check"),
        (["train.log"], "train.log is a file, not an id; try: tpudiag explain --log train.log"),
        (["--error", "train.log"], "is a file, not a text; try: tpudiag explain --log train.log"),
        (["--log", "nowhere.log"], "nowhere.log: No such file"),
        (["--log", "."], ".: Is a directory"),
        (["--error", "all is well"], "none of the"),
        (["--error", ""], "none of the"),
        (["TPU101", "--error", "x"], "not allowed with"),
    ],
)
def test_what_cannot_be_explained_is_one_line_and_exit_code_2(
    arguments: list[str], cause: str, tmp_path: Path
) -> None:
    (tmp_path / "train.log").write_text(NOISE)
    assert cause in refused(called("explain", *arguments, cwd=tmp_path))


def test_error_that_is_not_known_is_shown_whole_with_what_to_do_next() -> None:
    done = called("explain", "--error", "InvalidArgumentError: the widget is odd [Op:OddOp]")
    assert done.returncode == 2
    assert done.stdout.startswith("not known (error) INVALID_ARGUMENT\n")
    assert "the widget is odd" in done.stdout and "Next" in done.stdout
    assert done.stderr.count("\n") == 1 and "none of the" in done.stderr


def test_a_log_is_read_from_a_pipe_whatever_its_bytes() -> None:
    odd = b"\xff\xfe\x00\x1b[31mred\rprogress\r" * 10 + b"\n"
    log = odd + BY_ID["E01"].example.encode() + b"\n"
    command = [sys.executable, "-m", "tpudiag", "explain", "--log", "-"]
    done = subprocess.run(command, input=log, capture_output=True, timeout=800, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(b"E01 (error) line 2\n")
    assert b"\x1b" not in done.stdout


@pytest.mark.slow
def test_memory_stays_bounded_by_a_log_of_one_endless_line(tmp_path: Path) -> None:
    """The peak of a child that reads 64 MB hardly differs from that of one that reads 1 MB."""

    def peak_kb(size: int) -> int:
        log = tmp_path / f"{size}.log"
        with log.open("wb") as stream:
            for _ in range(size >> 20):
                stream.write(b"x" * (1 << 20))
            stream.write(b" " + BY_ID["E01"].example.encode())
        code = (
            "import resource, sys; from tpudiag.cli import main;"
            f"code = main(['explain', '--log', {str(log)!r}]);"
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss); sys.exit(code)"
        )
        said = printed(code)
        assert said.startswith("E01")
        return int(said.split()[-1])

    assert peak_kb(64 << 20) < peak_kb(1 << 20) + 16_000
