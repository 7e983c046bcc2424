import json
from pathlib import Path

import pytest

from tests.sources.profile import spaces
from tpudiag.sources.profile.xprof import LIMIT_S, parse, query

pytestmark = pytest.mark.slow


def test_says_what_the_real_profile_lacks(real: Path) -> None:
    before = set(real.parent.iterdir())
    with query([real]) as asking:
        said = asking()
    assert said.failure is None
    assert dict(said.figures)["device duty cycle"] == "86.5%"
    assert any("No step marker observed" in text for text in said.statements)
    assert set(real.parent.iterdir()) == before, "XProf's caches stay out of the log folder"


def test_figures_of_steps_only_where_there_are_steps(real: Path, tmp_path: Path) -> None:
    file = spaces.write(spaces.training(), tmp_path)
    with query([file]) as asking:
        figures = dict(asking().figures)
    assert figures["average step time, ms"] == "20.50"
    with query([real]) as asking:
        assert "average step time, ms" not in dict(asking().figures)


def test_no_answer_is_a_failure(tmp_path: Path) -> None:
    file = tmp_path / "a.xplane.pb"
    file.write_bytes(b"no profile")
    with query([file]) as asking:
        said = asking()
    assert said.failure is not None
    assert (said.figures, said.statements) == ((), ())


def test_is_stopped_after_its_time(tmp_path: Path) -> None:
    file = spaces.write(spaces.training(), tmp_path)
    with query([file], limit_s=0) as asking:
        assert "stopped" in str(asking().failure)


@pytest.mark.parametrize("page", [b"", b"{}", b"[1]", b'[{"p": 3}]', b"\xff"])
def test_a_page_of_another_form_is_a_failure(page: bytes) -> None:
    assert parse(page).failure


def test_markup_is_taken_out() -> None:
    page = [{"p": {"statement": 'See <a href="x">this</a> &amp;\n that.'}}]
    assert parse(json.dumps(page).encode()).statements == ("See this & that.",)
    assert LIMIT_S > 0
