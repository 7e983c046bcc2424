"""[tool.tpudiag], and what the command line does to it."""

from pathlib import Path

import pytest

from tpudiag.errors import UsageError
from tpudiag.settings import Settings, load


def written(folder: Path, text: str) -> Settings:
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    return load(folder)


@pytest.mark.parametrize(
    ("select", "ignore", "runs"),
    [
        ((), (), {"TPU101", "TPU201", "TPU202"}),
        (("TPU2",), (), {"TPU201", "TPU202"}),
        (("TPU2", "TPU101"), ("TPU202",), {"TPU101", "TPU201"}),
        (("TPU201",), ("TPU2",), set[str]()),
        ((), ("TPU1",), {"TPU201", "TPU202"}),
    ],
)
def test_ids_and_families_choose_the_checks(
    select: tuple[str, ...], ignore: tuple[str, ...], runs: set[str]
) -> None:
    settings = Settings(select, ignore)
    assert {id_ for id_ in ("TPU101", "TPU201", "TPU202") if settings.selects(id_)} == runs


def test_the_command_line_selects_instead_and_ignores_as_well() -> None:
    settings = Settings(("TPU1",), ("TPU101",)).narrowed(("TPU2",), ("TPU201",))
    assert (settings.select, settings.ignore) == (("TPU2",), ("TPU101", "TPU201"))
    assert Settings(("TPU1",)).narrowed((), ()).select == ("TPU1",)


def test_the_section_is_read(tmp_path: Path) -> None:
    settings = written(
        tmp_path,
        '[tool.tpudiag]\nselect = ["TPU1", "TPU2"]\n'
        '[tool.tpudiag.ignore]\nTPU203 = "one file only"\n'
        "[tool.tpudiag.limits]\nTPU201 = 0.1\n",
    )
    assert settings == Settings(("TPU1", "TPU2"), ("TPU203",), {"TPU201": 0.1})


def test_the_nearest_section_above_counts(tmp_path: Path) -> None:
    written(tmp_path, '[tool.tpudiag]\nselect = ["TPU1"]\n')
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "a" / "pyproject.toml").write_text("[project]\nname = 'x'\n", encoding="utf-8")
    assert load(inner).select == ("TPU1",)


def test_no_section_means_every_check(tmp_path: Path) -> None:
    assert written(tmp_path, "[tool]\nx = 1\n").selects("TPU101")


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ('[tool.tpudiag.ignore]\nTPU203 = " "', "TPU203 needs a reason"),
        ('[tool.tpudiag]\nignore = ["TPU203"]', "ignore"),
        ('[tool.tpudiag.limits]\nTPU201 = "much"', "limits"),
        ("[tool.tpudiag", "pyproject.toml"),
        ('[tool.tpudiag]\nselct = ["TPU1"]\n', "selct"),
    ],
)
def test_wrong_settings_are_refused_by_name(tmp_path: Path, text: str, cause: str) -> None:
    with pytest.raises(UsageError, match=r"pyproject\.toml") as caught:
        written(tmp_path, text)
    assert cause in str(caught.value)
    assert "\n" not in str(caught.value)
