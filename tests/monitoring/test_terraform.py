"""Terraform of several jobs and channels in one folder: no two names are alike."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tpudiag.monitoring.alert_rules import Limits
from tpudiag.monitoring.cloud import dashboards
from tpudiag.monitoring.cloud.policies import policies
from tpudiag.monitoring.cloud.terraform import terraform

JOBS = ("a-b", "a_b", "A-b", "1", "_1", "tpudiag", "日本", "韓国", 'a "${job}"\b')
CHANNELS = ("team mail", "team_mail", "Team mail", "team-mail", "メール", "電話", "1")
BLOCK = re.compile(r'^(resource|data) "(\w+)" "([^"]*)" \{$', re.MULTILINE)


def made(job: str, channels: tuple[str, ...] = CHANNELS) -> str:
    board = dashboards.as_json(job)
    return terraform(policies(job, Limits()), job, channels, board)


def test_no_two_blocks_of_a_folder_are_called_alike() -> None:
    blocks = [block for job in JOBS for block in BLOCK.findall(made(job))]
    assert len(blocks) == len(JOBS) * (7 + 1 + len(CHANNELS))
    assert len(set(blocks)) == len(blocks)
    assert all(re.fullmatch(r"[a-z_][a-z0-9_-]*", name) for *_, name in blocks)


@pytest.mark.parametrize("job", JOBS)
def test_what_policies_refer_to_is_there(job: str) -> None:
    text = made(job)
    there = {name for kind, _, name in BLOCK.findall(text) if kind == "data"}
    named = set(re.findall(r"data\.google_monitoring_notification_channel\.([\w-]+)\.name", text))
    assert named == there
    assert "\\b" not in text


def test_channels_by_resource_name_are_not_looked_up_and_none_is_named_twice() -> None:
    channel = "projects/p/notificationChannels/7"
    text = made("j", (channel, "mail", "mail", channel))
    assert text.count('data "google_monitoring_notification_channel"') == 1
    assert text.count(f'notification_channels = ["{channel}", data.') == 7


def test_the_dashboard_is_there() -> None:
    text = made("j")
    assert 'resource "google_monitoring_dashboard" "tpudiag_j_dashboard" {' in text
    assert '"legendTemplate" : "steps_per_second $${metric.labels.worker}"' in text


@pytest.mark.skipif(shutil.which("terraform") is None, reason="terraform is not installed")
@pytest.mark.parametrize("channels", [CHANNELS, ()])
def test_terraform_itself_would_lay_it_out_alike(tmp_path: Path, channels: tuple[str, ...]) -> None:
    path = tmp_path / "alerts.tf"
    path.write_text(made("bert", channels), encoding="utf-8")
    done = subprocess.run(
        ["terraform", "fmt", "-check", "-diff", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
