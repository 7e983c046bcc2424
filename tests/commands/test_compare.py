import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import made
from tests.commands.called import Done, called, refused, told
from tests.sources.profile import spaces
from tpudiag import report_json
from tpudiag.diagnoses.changes import changes
from tpudiag.model import Report
from tpudiag.report_figures import Measurement
from tpudiag.statistics import LEAST, difference

pytestmark = pytest.mark.slow


def compare(*arguments: str | Path) -> Done:
    return called("compare", *arguments)


def profile(
    file: Path,
    step_ms: float,
    seed: int,
    steps: int = 60,
    noise: float = 0.03,
    slow_every: int = 0,
    stats: dict[str, Any] | None = None,
) -> Path:
    """Steps of about a length, one after the other."""
    chance, at = random.Random(seed), 50.0
    spans: list[tuple[float, float]] = []
    for number in range(steps):
        length = step_ms * (1 + chance.gauss(0, noise))
        length *= 2 if slow_every and number % slow_every == slow_every - 1 else 1
        spans.append((at, length))
        at += length
    made = spaces.space("vm")
    ops = (("infeed.1", "infeed", 1.0), ("fusion.7", "loop fusion", None))
    spaces.add_steps(made, 0, spans, ops, stats=stats)
    file.write_bytes(made.SerializeToString())
    return file


@pytest.fixture
def runs(tmp_path: Path) -> dict[str, Path]:
    lengths = {"old": 20.0, "same": 20.0, "slow": 22.0, "fast": 18.0}
    return {
        name: profile(tmp_path / f"{name}.xplane.pb", length, seed)
        for seed, (name, length) in enumerate(lengths.items())
    }


def test_a_regression_fails_the_gate(runs: dict[str, Path]) -> None:
    done = compare(runs["old"], runs["slow"], "--fail-on-regression", "5%", "--format", "json")
    found = told(done, 1)
    assert found["headline"].startswith("Regressed by more than 5.0%: step_time_ms +")
    change = found["measurements"]["step_time_ms_change"]
    assert change["value"] == pytest.approx(10, abs=1.5)
    assert "more than noise (95 % interval" in change["source"]
    assert any("Mann-Whitney" in note for note in found["notes"])
    utilisation = found["measurements"]["mxu_utilization_change"]
    assert utilisation["value"] == pytest.approx(-9, abs=2), "it regresses by its steps"
    assert "more than noise" in utilisation["source"]


def test_a_regression_below_the_limit_passes(runs: dict[str, Path]) -> None:
    assert compare(runs["old"], runs["slow"], "--fail-on-regression", "25").returncode == 0
    assert compare(runs["old"], runs["slow"]).returncode == 0, "no gate was asked for"


def test_noise_and_improvement_pass(runs: dict[str, Path]) -> None:
    done = compare(runs["old"], runs["same"], "--fail-on-regression", "0%")
    assert done.returncode == 0
    assert "no more than noise" in " ".join(done.stdout.split())
    done = compare(runs["old"], runs["fast"], "--fail-on-regression", "0%")
    assert done.returncode == 0
    assert "Improved: step_time_ms -" in done.stdout


def test_reports_compare_as_their_profiles_do(runs: dict[str, Path], tmp_path: Path) -> None:
    for name in ("old", "slow"):
        out = tmp_path / f"{name}.json"
        called("read", runs[name], "--xprof-limit", "0", "-o", out)
    from_reports = compare(tmp_path / "old.json", tmp_path / "slow.json", "--format", "json")
    from_profiles = compare(runs["old"], runs["slow"], "--format", "json")
    tables = [told(done)["tables"][0]["rows"] for done in (from_reports, from_profiles)]
    steps = [next(row for row in rows if row[0] == "step_time_ms") for rows in tables]
    assert steps[0] == steps[1]
    gate = compare(tmp_path / "old.json", runs["slow"], "--fail-on-regression", "5%")
    assert gate.returncode == 1


def test_a_checks_verdict_that_changed_is_shown(runs: dict[str, Path], tmp_path: Path) -> None:
    waits = profile(tmp_path / "waits.xplane.pb", 5.0, 1)
    rows = told(compare(runs["slow"], waits, "--format", "json"))["tables"][1]["rows"]
    assert ["TPU201", "input-bound", "passed", "failed"] in rows


def report(**figures: tuple[float, str]) -> Report:
    measured = {n: Measurement(value, unit, "job") for n, (value, unit) in figures.items()}
    return made.report(measurements=measured)


def saved(file: Path, **figures: tuple[float, str]) -> Path:
    file.write_text(report_json.dumps(report(**figures)))
    return file


def test_one_value_each_is_taken_as_it_is(tmp_path: Path) -> None:
    files = [
        saved(tmp_path / f"{rate}.json", examples_per_second=(rate, "examples/s"))
        for rate in (1000.0, 900.0)
    ]
    done = compare(*files, "--fail-on-regression", "5%")
    assert done.returncode == 1
    assert "untested" in done.stdout
    assert compare(*reversed(files), "--fail-on-regression", "5%").returncode == 0


def test_nothing_to_compare_is_no_pass(tmp_path: Path, runs: dict[str, Path]) -> None:
    empty = saved(tmp_path / "empty.json")
    said = refused(compare(empty, runs["old"], "--fail-on-regression", "5%"))
    assert "share no figure" in said
    assert "none.json" in refused(compare(tmp_path / "none.json", runs["old"]))
    assert compare(runs["old"], runs["same"], "--fail-on-regression", "-3").returncode == 2
    assert compare(runs["old"], runs["same"], "--fail-on-regression", "x").returncode == 2


def test_a_run_that_was_not_read_whole_is_no_pass(tmp_path: Path) -> None:
    for run in ("a", "b"):
        for host in ("x", "y"):
            spaces.write(spaces.pod_host(host), tmp_path / run, host=host)
    broken = next((tmp_path / "b").rglob("y.xplane.pb"))
    broken.write_bytes(broken.read_bytes()[:-7])
    done = compare(tmp_path / "a", tmp_path / "b", "--fail-on-regression", "5%")
    assert done.returncode == 1
    assert "1 of 2 hosts could not be read: y" in done.stderr


@settings(max_examples=30)
@given(st.integers(0, 10_000))
def test_noise_alone_seldom_counts(seed: int) -> None:
    random_ = np.random.default_rng(seed)
    a, b = random_.normal(20, 1, (2, 60))
    found = difference(a.tolist(), b.tolist())
    assert found
    assert found.low <= found.change <= found.high
    if found.significant:
        assert abs(found.change) > 0.01


def test_too_few_steps_decide_nothing() -> None:
    assert difference([1.0] * (LEAST - 1), [2.0] * 60) is None
    assert difference([0.0] * 60, [2.0] * 60) is None


def test_memory_that_grew_regresses() -> None:
    before = report(peak_memory_bytes=(100, "bytes"), compute_share=(50, "%"))
    after = report(peak_memory_bytes=(120, "bytes"), compute_share=(70, "%"))
    memory, share = changes((before,), (after,))
    assert memory.regressed(0.05)
    assert not share.regressed(0.05), "a share of the step is no figure that can regress"


def test_a_figure_that_the_second_lacks_is_no_pass(tmp_path: Path) -> None:
    memory = (100.0, "bytes")
    a = saved(tmp_path / "a.json", step_time_ms=(20.0, "ms"), peak_memory_bytes=memory)
    b = saved(tmp_path / "b.json", peak_memory_bytes=memory)
    done = compare(a, b, "--fail-on-regression", "5%")
    assert done.returncode == 1
    assert f"{b} does not tell step_time_ms" in done.stderr
    assert compare(a, b).returncode == 0, "no gate was asked for"
    assert compare(b, a, "--fail-on-regression", "5%").returncode == 0


def test_too_few_steps_give_no_verdict(tmp_path: Path) -> None:
    few = [profile(tmp_path / f"{n}.xplane.pb", n, 1, steps=LEAST - 1) for n in (20, 25)]
    done = compare(*few, "--fail-on-regression", "5%", "--format", "json")
    found = told(done)
    assert "not tested" in done.stderr
    assert found["headline"].startswith("Not tested: step_time_ms +25")
    source = found["measurements"]["step_time_ms_change"]["source"]
    assert source == f"{LEAST - 1} and {LEAST - 1} steps are too few to test ({LEAST})"
    assert compare(*few, "--fail-on-regression", "5%", "--strict").returncode == 1


def test_one_slow_step_in_eight_regresses_by_the_mean(tmp_path: Path) -> None:
    even = profile(tmp_path / "a.xplane.pb", 20.0, 1, noise=0.005)
    bumpy = profile(tmp_path / "b.xplane.pb", 20.0, 2, noise=0.005, slow_every=8)
    found = told(compare(even, bumpy, "--fail-on-regression", "5%", "--format", "json"), 1)
    assert "step_time_mean_ms +1" in found["headline"]
    rows = {row[0]: row for row in found["tables"][0]["rows"]}
    assert rows["step_time_mean_ms"][5] == "REGRESSED"
    assert rows["step_time_ms"][5] != "REGRESSED"


def test_other_hardware_is_refused(runs: dict[str, Path], tmp_path: Path) -> None:
    v5e = {"device_type_string": "TPU v5 lite", "peak_teraflops_per_second": 197.0}
    other = profile(tmp_path / "v5e.xplane.pb", 40.0, 1, stats=spaces.V6E | v5e)
    said = refused(compare(runs["old"], other, "--fail-on-regression", "5%"))
    assert "different hardware" in said and "--across-hardware" in said
    done = compare(runs["old"], other, "--across-hardware", "--format", "json")
    figures = told(done)["measurements"]
    assert "mxu_utilization_change" in figures
    assert "step_time_ms_change" not in figures


def test_a_profile_without_a_tpu_is_other_hardware(runs: dict[str, Path], tmp_path: Path) -> None:
    made = spaces.space()
    spaces.add_host(made, [100.0 + 25 * n for n in range(10)])
    file = tmp_path / "cpu.xplane.pb"
    file.write_bytes(made.SerializeToString())
    said = refused(compare(runs["old"], file))
    assert "a TPU on one side, none on the other" in said


def test_several_runs_a_side(tmp_path: Path) -> None:
    def side(name: str, *lengths: float) -> list[Path]:
        return [
            profile(tmp_path / f"{name}{n}.xplane.pb", ms, n, noise=0.002)
            for n, ms in enumerate(lengths)
        ]

    before, noise = side("a", 20.0, 21.5, 19.0), side("b", 21.0, 19.5, 22.0)
    done = compare(*before, "--", *noise, "--fail-on-regression", "2%", "--format", "json")
    found = told(done)  # passes, though each pair differs by more than the noise within a run
    assert any("Between runs of one side" in note for note in found["notes"])
    slower = side("c", 30.0, 31.5, 29.0)
    done = compare("--fail-on-regression", "5%", *before, "--", *slower)
    assert done.returncode == 1
    assert "A1 A2 -- B1 B2" in compare(*before).stderr
