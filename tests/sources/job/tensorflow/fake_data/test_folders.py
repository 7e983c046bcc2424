"""Folders that a notebook host mounts."""

from __future__ import annotations

import pytest

from tpudiag.sources.job.tensorflow.fake_data.folders import lists_folders


@pytest.mark.parametrize(
    ("text", "nested"),
    [
        ("for c in os.listdir(p):\n  for f in os.listdir(p + c):\n    print(f)", True),
        ("for c in os.listdir(p):\n  n = len(glob.glob(c + '/*'))", True),
        ("for f in os.listdir(p):\n  read(f)", False),
        ("names = os.listdir(p)\nfor n in names:\n  read(n)", False),
        ("for (", False),
    ],
)
def test_folders_of_folders_are_listed_in_a_loop_of_a_loop(text: str, nested: bool) -> None:
    assert lists_folders([text]) is nested
