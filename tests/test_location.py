"""Places as text, and back."""

import pytest

from tpudiag.location import Location, parsed


@pytest.mark.parametrize("place", [Location("train.py", 12), Location("C:/job/train.py", 3)])
def test_a_line_is_read_as_it_is_written(place: Location) -> None:
    assert parsed(str(place)) == place


@pytest.mark.parametrize(
    "text", [None, "", "train.py", "train.py:", ":12", "a:x", f"a:{'9' * 5000}"]
)
def test_what_names_no_line_is_none(text: str | None) -> None:
    assert parsed(text) is None


def test_a_cell_is_said() -> None:
    assert str(Location("job.ipynb", 3, 7)) == "job.ipynb, cell 7, line 3"
