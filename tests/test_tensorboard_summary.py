"""The report in TensorBoard: an event file that its own reader reads."""

from dataclasses import replace
from pathlib import Path

import pytest
from tensorboard import plugin_util
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from tests import made
from tpudiag import tensorboard_summary
from tpudiag.model import Evidence, Finding, Subject, Verdict

pytestmark = pytest.mark.slow

FINDING = Finding("It costs ~3 $.", "prefetch()", (Evidence("wait", 3.0, "ms", 1.0),))
REPORT = made.report(
    made.outcome("TPU201", Verdict.FAILED, FINDING),
    made.outcome(
        "TPU503", Verdict.SKIPPED, name="straggler", reason="one host", how_to_measure="profile 3"
    ),
    subject=Subject("profile", "logs"),
    headline="Bound by its input.",
    next_command="xprof --logdir logs",
)


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    for run in ("2026_01_02_03_04_05", "2026_01_03_03_04_05"):
        folder = tmp_path / "logs" / "plugins" / "profile" / run
        folder.mkdir(parents=True)
        (folder / "host.xplane.pb").write_bytes(b"x")
    return tmp_path / "logs"


def shown(folder: Path) -> str:
    """What TensorBoard's reader finds in the folder."""
    reader = EventAccumulator(str(folder))
    reader.Reload()
    (event,) = reader.Tensors(tensorboard_summary.TAG)
    assert reader.summary_metadata[tensorboard_summary.TAG].plugin_data.plugin_name == "text"
    text: bytes = event.tensor_proto.string_val[0]
    return text.decode()


def test_tensorboard_reads_the_report_beside_its_run(logs: Path) -> None:
    written = tensorboard_summary.write_beside(REPORT, str(logs))
    assert written is not None
    assert written.parent == logs / "tpudiag" / "2026_01_03_03_04_05"
    assert shown(written.parent) == tensorboard_summary.markdown(REPORT)
    older = tensorboard_summary.write_beside(REPORT, str(logs), "2026_01_02_03_04_05")
    assert older is not None and older.parent.name == "2026_01_02_03_04_05"


def test_a_report_of_any_length_has_the_right_checksum(logs: Path) -> None:
    for size in (1, 100, 200_000):
        report = replace(REPORT, headline="é" * size)
        written = tensorboard_summary.write_beside(report, str(logs))
        assert written is not None
        assert "é" * size in shown(written.parent)


def test_a_new_report_takes_the_place_of_the_old_one(logs: Path) -> None:
    first = tensorboard_summary.write_beside(REPORT, str(logs))
    second = tensorboard_summary.write_beside(replace(REPORT, headline="Now well."), str(logs))
    assert first is not None and second is not None and first != second
    assert list(second.parent.iterdir()) == [second]
    assert "Now well." in shown(second.parent)


def test_its_markdown_is_what_tensorboard_renders() -> None:
    html = plugin_util.markdown_to_safe_html(tensorboard_summary.markdown(REPORT))
    assert "&lt;" not in html and "\\" not in html
    assert html.count("<table>") >= 3
    assert "In XProf: <strong>Input Pipeline Analysis</strong>" in html
    assert "It costs ~3 $." in html


def test_where_it_cannot_be_written_nothing_is(tmp_path: Path, logs: Path) -> None:
    bare = tmp_path / "bare" / "host.xplane.pb"
    bare.parent.mkdir()
    bare.write_bytes(b"x")
    assert tensorboard_summary.write_beside(REPORT, str(bare)) is None
    assert tensorboard_summary.write_beside(REPORT, str(tmp_path / "nowhere")) is None
    (logs / "tpudiag").write_text("in the way", encoding="utf-8")
    assert tensorboard_summary.write_beside(REPORT, str(logs)) is None


def test_a_read_only_folder_stays_as_it_is(logs: Path) -> None:
    logs.chmod(0o555)
    assert tensorboard_summary.write_beside(REPORT, str(logs)) is None
    assert [file.name for file in logs.iterdir()] == ["plugins"]
    logs.chmod(0o755)
