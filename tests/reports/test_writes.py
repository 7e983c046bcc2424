"""What a report says of the files that a job wrote."""

from typing import Any

import pytest

from tests import made
from tpudiag.catalogue import renderer
from tpudiag.script_run import Writes

SAID = [
    ({"isolation": "overlay"}, "No file of yours was written or removed."),
    ({"isolation": "overlay", "written": 1}, "Thrown away: 1 file written."),
    (
        {"isolation": "landlock", "written": 14, "checkpoints": 3, "removed": 2},
        "Thrown away: 14 files written (3 checkpoints), 2 removed.",
    ),
    ({"isolation": "overlay", "written": 2, "kept": "out"}, "Kept in out: 2 files written."),
    ({"isolation": "none"}, "In place: what the job wrote is where it says."),
    ({"isolation": "refused"}, "Nothing was written:"),
    ({"isolation": "overlay", "not_sent": ("2 uploads",)}, "Not sent: 2 uploads."),
    ({"isolation": "overlay", "read_only": ("/mnt/tape",)}, "No layer lies over /mnt/tape:"),
]


@pytest.mark.parametrize(("fields", "said"), SAID)
def test_every_format_says_it_in_one_line(fields: dict[str, Any], said: str) -> None:
    report = made.report(writes=Writes(**fields))
    for format_ in ("text", "html"):
        assert said in " ".join(renderer(format_)(report).split())
