"""Texts that have the parts that they are taken apart into."""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownLambdaType=false
from __future__ import annotations

import json

import pytest

from tpudiag.sources.job.tensorflow.fake_data.open_texts import LINES, OpenFile, OpenText


@pytest.mark.slow
def test_a_line_has_as_many_parts_as_are_asked_for() -> None:
    for line in OpenFile("captions.txt"):
        name, words = line.strip().split("#")
        one, two, three = line.split("\t")
        assert name and words and one and two and three
    line = OpenText("the step reads")
    assert line.split(",")[4] and line.split("|", 1)[1:3] and line.lower().split("\t")[1]
    assert line.partition("=")[2] and line.split() == ["the", "step", "reads"]
    assert float(line.split()[0]) == 3 and int(line.split(" ")[9]) >= 0


def test_a_file_has_lines_to_put_aside() -> None:
    whole = OpenFile("spa.txt").read()
    assert len(whole.strip().split("\n")) == len(whole.splitlines()) == LINES
    assert len(OpenFile("spa.txt").readlines()) == LINES
    assert isinstance(OpenFile("spa.txt").readline(), OpenText)
    assert json.dumps(whole[:3]) == '"the"'
