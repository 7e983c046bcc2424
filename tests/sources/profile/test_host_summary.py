"""Devices that are read side by side give what they give one after the other."""

from pathlib import Path

import pytest

from tests.sources.profile import spaces
from tpudiag.errors import UnreadableInput
from tpudiag.sources import profile
from tpudiag.sources.profile import host_summary


@pytest.mark.parametrize("devices", [1, 2, 5])
def test_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, devices: int) -> None:
    spaces.write(spaces.pod_host("a", steps=12, devices=devices), tmp_path)
    one_by_one = profile.facts(tmp_path)
    monkeypatch.setattr(host_summary, "LARGE_BYTES", 0)
    assert profile.facts(tmp_path) == one_by_one


def test_damage_side_by_side_is_the_same_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = spaces.pod_host("a", steps=12, devices=4)
    spaces.devices(made)[2].lines[0].events[0].duration_ps = -1
    spaces.write(made, tmp_path)
    said: list[str] = []
    for large in (host_summary.LARGE_BYTES, 0):
        monkeypatch.setattr(host_summary, "LARGE_BYTES", large)
        with pytest.raises(UnreadableInput, match="ends before it starts") as caught:
            profile.facts(tmp_path)
        said.append(str(caught.value))
    assert said[0] == said[1]
