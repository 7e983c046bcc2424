"""The tab in a real TensorBoard, looked at with a real browser."""

import gzip
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Generator
from html import unescape
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import parse_qs, urljoin, urlsplit
from urllib.request import urlopen

import pytest
from playwright.sync_api import sync_playwright

from tests.sources.profile import spaces
from tpudiag.diagnoses.profile import ProfileRequest, diagnose
from tpudiag.settings import Settings

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)

pytestmark = pytest.mark.slow


def made(folder: Path) -> None:
    """Two runs of a log folder: the newer is slower."""
    for run, step_ms in (("2025_05_01_00_00_00", 20.0), ("2025_05_02_00_00_00", 26.0)):
        spaces.write(spaces.training(devices=2, steps=12, step_ms=step_ms), folder, run)


@pytest.fixture(scope="module")
def log_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("logs")
    made(folder)
    return folder


@pytest.fixture(scope="module")
def url(log_dir: Path) -> Generator[str]:
    command = [sys.executable, "-m", "tensorboard.main", "--logdir", str(log_dir), "--port", "0",
               "--host", "127.0.0.1", "--load_fast", "false"]  # fmt: skip
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr
            found = next(filter(None, (re.search(r"http://\S+:\d+/", x) for x in server.stderr)))
            yield found[0]
        finally:
            server.terminate()


def asked(url: str, route: str) -> Any:
    with urlopen(f"{url}data/plugin/tpudiag/{route}", timeout=800) as answer:
        return answer.read().decode()


def test_the_runs_and_their_reports(url: str, log_dir: Path) -> None:
    before = sorted(log_dir.rglob("*"))
    listed = json.loads(urlopen(f"{url}data/plugins_listing", timeout=800).read())
    assert listed["tpudiag"]["enabled"]
    newer, older = json.loads(asked(url, "runs"))
    assert (newer, older) == ("2025_05_02_00_00_00", "2025_05_01_00_00_00")
    report = asked(url, f"report?run={newer}")
    assert "Where the step time goes" in report
    compared = asked(url, f"compare?a={older}&b={newer}")
    assert "Regressed by more than" in compared
    assert "No profile answers" in report
    for route, page, run in (("report", report, newer), ("compare", compared, older)):
        links = [unescape(x) for x in re.findall(r'href="(\.\./[^"]+)"', page)]
        of_run = [link for link in links if f"run={run}" in link or f"run%3D{run}" in link]
        assert any("view_start=" in link for link in of_run), "the profile plugin beside it"
        for link in of_run[:2]:
            assert urlopen(urljoin(f"{url}data/plugin/tpudiag/{route}", link), timeout=800).status
    for route in ("report?run=/etc", f"compare?a={newer}"):
        with pytest.raises(HTTPError, match="404"):
            asked(url, route)
    assert sorted(log_dir.rglob("*")) == before, "nothing is written into the user's folder"


def test_a_finding_is_linked_to_its_step_in_xprofs_trace_viewer(url: str, log_dir: Path) -> None:
    found = diagnose(ProfileRequest(path=str(log_dir), xprof_limit_s=0, xprof=(url,)), Settings())
    links = [f.xprof_link for outcome in found.outcomes for f in outcome.findings if f.xprof_link]
    link = next(link for link in links if "trace_viewer" in link)
    assert link.startswith(url)
    assert urlopen(link, timeout=800).status == 200
    asked_for = {name: value for name, (value,) in parse_qs(urlsplit(link).query).items()}
    start_ms, end_ms = float(asked_for["view_start"]), float(asked_for["view_end"])
    data = f"{url.rstrip('/')}{asked_for['trace_data_url']}"
    trace = json.loads(gzip.decompress(urlopen(data, timeout=800).read()))
    inside = [
        event["name"]
        for event in trace["traceEvents"]
        if event.get("ph") == "X"
        and abs(event["ts"] / 1e3 - start_ms) < 0.01
        and abs((event["ts"] + event["dur"]) / 1e3 - end_ms) < 0.01
    ]
    assert inside, "the range is that of a step, on XProf's own scale"


@pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on the PATH")
def test_the_tab_in_a_browser(url: str) -> None:
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        page = browser.new_page()
        complaints: list[str] = []
        page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
        page.goto(f"{url}#tpudiag", timeout=60_000)
        tab = page.frame_locator("iframe").first
        report = tab.frame_locator('iframe[title="tpudiag\'s report"]')
        report.get_by_role("heading", name="Where the step time goes").first.wait_for(
            timeout=60_000
        )
        tab.get_by_label("compared with the earlier").select_option("2025_05_01_00_00_00")
        report.get_by_text("Regressed by more than").first.wait_for(timeout=60_000)
        browser.close()
    assert not [text for text in complaints if "Content Security Policy" in text]
