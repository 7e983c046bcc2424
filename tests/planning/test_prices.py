"""The user's prices of a chip-hour, from TOML and JSON."""

from pathlib import Path

import pytest

from tpudiag.errors import TpudiagError, UnreadableInput, UsageError
from tpudiag.planning import prices


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("prices.toml", "[chip_hour]\nv5e = 1.2\nv6e = 2.7\n"),
        ("prices.json", '{"chip_hour": {"v5e": 1.2, "v6e": 2.7}}'),
    ],
)
def test_prices_are_kept_by_the_name_of_the_generation(
    tmp_path: Path, name: str, text: str
) -> None:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    assert prices.load(file) == {"v5e": 1.2, "v6e": 2.7}


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("[chip_hour]\nv5e = 0\n", UsageError, "v5e must be above 0"),
        ("[chip_hour]\nv5e = inf\n", UsageError, "v5e must be above 0"),
        ("[chip_hour]\nv99 = 1\n", UsageError, "v99 is no TPU generation"),
        ("[chip_hour]\nv5e = 'much'\n", UnreadableInput, r"write \[chip_hour\]"),
        ("v5e = ", UnreadableInput, r"write \[chip_hour\]"),
    ],
)
def test_what_is_no_price_is_refused_by_the_options_name(
    tmp_path: Path, text: str, error: type[TpudiagError], words: str
) -> None:
    file = tmp_path / "prices.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(error, match=f"^--cost .*{words}"):
        prices.load(file)


def test_a_file_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match="No such file"):
        prices.load(tmp_path / "none.toml")
