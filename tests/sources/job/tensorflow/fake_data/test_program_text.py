"""The classes that a script's text tells."""

from __future__ import annotations

import pytest

from tpudiag.sources.job.tensorflow.fake_data import paths, text_files
from tpudiag.sources.job.tensorflow.fake_data.program_text import CLASSES, classes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('CLASS_NAMES = ["HEALTHY", "ILL"]', ("HEALTHY", "ILL")),
        ("labels = ('daisy', 'rose', 'tulip')", ("daisy", "rose", "tulip")),
        ('n = len([f for f in files if "ILL" in f])', ("ILL", "other")),
        ('if "gpu" in devices: pass', CLASSES),
        ('classes = ["daisy", 3]', CLASSES),
        ("x = (", CLASSES),
    ],
)
def test_classes_are_listed_or_looked_for(text: str, expected: tuple[str, ...]) -> None:
    assert classes([text]) == expected


def test_names_of_files_and_records_carry_them() -> None:
    names = paths.matching("gs://bucket/train/*/*", ("ILL", "WELL"))
    assert {name.split("/")[-2] for name in names} == {"ILL", "WELL"}
    assert text_files.marked(1, ("ILL", "WELL")).split("/")[-2] == "WELL"
