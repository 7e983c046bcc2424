"""`tpudiag alerts` against Cloud Monitoring on loopback: idempotent, honest about changes."""

import argparse
import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.commands.called import Done, called, refused
from tests.monitoring.emulator import Emulator
from tpudiag.monitoring.cloud import connection
from tpudiag.options.kinds import percent

pytestmark = pytest.mark.slow

IDS = [
    "check-failed", "hbm-high", "input-bound", "no-first-step", "no-points", "no-step",
    "throughput-drop",
]  # fmt: skip
api: Any = import_module("google.cloud.monitoring_v3")
grpc: Any = import_module("grpc")


class Project:
    """A project on loopback, and the command line against it."""

    def __init__(self) -> None:
        self.service = Emulator()
        for number, name in enumerate(("team mail", "pager", "twice", "twice")):
            self.service.channels.append(
                api.NotificationChannel(
                    name=f"projects/p/notificationChannels/{number}", display_name=name
                )
            )

    def alerts(self, action: str, *arguments: str, job: str | None = "bert") -> Done:
        named = [] if job is None else ["--job", job]
        return run(
            action, *arguments, *named, "--project", "p", "--endpoint", self.service.endpoint
        )

    def policies(self, job: str = "bert") -> dict[str, Any]:
        return {
            policy.user_labels["tpudiag_policy"]: policy
            for policy in self.service.policies.values()
            if policy.user_labels.get("tpudiag_job") == job
        }

    def writes(self) -> list[str]:
        return [
            method for _, method, _ in self.service.calls
            if method.endswith("AlertPolicy") and method != "GetAlertPolicy"
        ]  # fmt: skip


def run(*arguments: str) -> Done:
    return called("alerts", *arguments)


@pytest.fixture
def project() -> Iterator[Project]:
    made = Project()
    yield made
    made.service.close()


def test_apply_creates_all_policies_and_again_changes_nothing(project: Project) -> None:
    first = project.alerts("apply", "--notify", "team mail")
    assert (first.returncode, first.stderr) == (0, "")
    assert sorted(project.policies()) == IDS
    for policy in project.policies().values():
        assert list(policy.notification_channels) == ["projects/p/notificationChannels/0"]
        assert "tpudiag " in policy.documentation.content.partition("Next: ")[2]
    before = list(project.writes())
    again = project.alerts("apply", "--notify", "team mail")
    assert [row.split()[0] for row in again.stdout.splitlines()] == ["="] * (len(IDS) + 1)
    assert project.writes() == before


def test_the_drop_is_judged_against_the_baseline_that_the_watch_knows(project: Project) -> None:
    project.alerts("apply", "--drop", "30%")
    condition = project.policies()["throughput-drop"].conditions[0]
    query = condition.condition_prometheus_query_language.query
    assert "custom_googleapis_com:tpudiag_baseline_ratio" in query
    assert '{monitored_resource="generic_task",job="bert"}[5m]) < 0.707' in query


def test_a_dry_run_says_what_would_change_and_changes_nothing(project: Project) -> None:
    dry = project.alerts("apply", "--dry-run")
    assert dry.returncode == 1
    assert [row.split()[:3] for row in dry.stdout.splitlines()] == [
        ["+", "would", "create"] for _ in [*IDS, "dashboard"]
    ]
    assert not project.writes()
    assert not project.service.descriptors
    project.alerts("apply")
    assert project.alerts("apply", "--dry-run").returncode == 0
    changed = project.alerts("apply", "--dry-run", "--hbm-share", "90")
    assert changed.returncode == 1
    assert "~ would update hbm-high" in changed.stdout
    assert "> 0.95" in changed.stdout
    assert '> 0.9"' in changed.stdout
    assert changed.stdout.count("~") == 1


def test_an_update_keeps_the_policy_and_what_people_added(project: Project) -> None:
    project.alerts("apply")
    policy = project.policies()["input-bound"]
    name, condition = policy.name, policy.conditions[0].name
    policy.user_labels["team"] = "vision"
    policy.notification_channels.append("projects/p/notificationChannels/1")
    policy.enabled = False
    done = project.alerts("apply", "--input-share", "50")
    assert f"~ update input-bound  {name}" in done.stdout
    after = project.policies()["input-bound"]
    assert "~ update" not in project.alerts("apply", "--input-share", "50").stdout, "it is settled"
    assert (after.name, after.conditions[0].name) == (name, condition)
    assert "> 0.5" in after.conditions[0].condition_prometheus_query_language.query
    assert after.user_labels["team"] == "vision"
    assert list(after.notification_channels) == ["projects/p/notificationChannels/1"]
    assert after.enabled is False


def test_charts_that_people_added_stay(project: Project) -> None:
    project.alerts("apply")
    (board,) = project.service.dashboards.values()
    tiles = board.mosaic_layout.tiles
    count = len(tiles)
    tiles[0].height = 20
    tiles.append({"y_pos": 48, "width": 12, "height": 8, "widget": {"title": "theirs"}})
    assert "= keep dashboard" in project.alerts("apply").stdout
    del tiles[1]
    project.alerts("apply")
    (after,) = project.service.dashboards.values()
    places = [
        (tile.widget.title, tile.x_pos, tile.y_pos, tile.width, tile.height)
        for tile in after.mosaic_layout.tiles
    ]
    assert len(places) == count + 1
    assert places[0] == ("Throughput", 0, 0, 24, 20)
    assert ("theirs", 0, 48, 12, 8) in places
    assert places[-1][2] >= 56, "below all that was there"


def test_jobs_and_other_peoples_policies_do_not_meet(project: Project) -> None:
    foreign = api.AlertPolicy(name="projects/p/alertPolicies/1", display_name="theirs")
    project.service.policies[foreign.name] = foreign
    project.alerts("apply", job="bert")
    project.alerts("apply", job="Bert")
    assert len(project.service.policies) == 1 + 2 * len(IDS)
    deleted = project.alerts("delete", job="bert")
    assert deleted.stdout.count("- delete") == len(IDS) + 1
    assert foreign.name in project.service.policies
    assert len(project.service.policies) == 1 + len(IDS)


def test_list_show_and_delete_of_one(project: Project) -> None:
    project.alerts("apply")
    listed = project.alerts("list", job=None)
    assert [row.split()[1] for row in listed.stdout.splitlines()] == IDS
    shown: list[dict[str, Any]] = json.loads(project.alerts("show", "no-points").stdout)
    query = shown[0]["conditions"][0]["conditionPrometheusQueryLanguage"]["query"]
    assert query.endswith("[10m])")
    assert project.alerts("delete", "no-points", "--dry-run").returncode == 1
    assert sorted(project.policies()) == IDS
    assert project.alerts("delete", "no-points").returncode == 0
    assert sorted(project.policies()) == [id_ for id_ in IDS if id_ != "no-points"]
    assert "no such policy" in refused(project.alerts("show", "no-points"))


def test_the_dashboard_is_made_once_and_updated_in_place(project: Project) -> None:
    first = project.alerts("apply")
    assert "+ create dashboard  projects/p/dashboards/0" in first.stdout
    (board,) = project.service.dashboards.values()
    tiles = board.mosaic_layout.tiles
    queries = [
        data.time_series_query.prometheus_query
        for tile in tiles for data in tile.widget.xy_chart.data_sets
    ]  # fmt: skip
    assert all('job="bert"' in query for query in queries)
    board.display_name = "changed by hand"
    assert 'displayName: "changed by hand" -> "tpudiag bert"' in project.alerts("apply").stdout
    assert [b.display_name for b in project.service.dashboards.values()] == ["tpudiag bert"]
    assert "= keep dashboard" in project.alerts("apply").stdout
    assert project.alerts("apply", "no-points").stdout.count("dashboard") == 0
    project.alerts("delete")
    assert not project.service.dashboards
    exported: dict[str, Any] = json.loads(
        run("export", "--job", "bert", "--format", "dashboard").stdout
    )
    assert len(exported["mosaicLayout"]["tiles"]) == len(tiles)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("apply", "--notify", "nobody"), "no channels of that name (there: pager, team mail"),
        (("apply", "--notify", "twice"), "2 channels of that name"),
        (("apply", "no-such"), "there are check-failed, throughput-drop"),
        (("apply", "--drop", "100"), "below 100 %"),
        (("apply", "--absence", "1"), "2 minutes or more"),
        (("apply", "--absence", "1411"), "1410 minutes (23.5 hours) or less"),
        (("apply", "--silence", "0.4"), "at least 1 minute"),
        (("apply", *(word for n in range(17) for word in ("--notify", f"c{n}"))), "16 channels"),
        (("export", "--format", "json", "--notify", "team_mail"), "no channels of that name"),
    ],
)
def test_what_a_user_gets_wrong_changes_nothing(
    project: Project, arguments: tuple[str, ...], why: str
) -> None:
    assert why in refused(project.alerts(*arguments))
    assert not project.service.policies


def test_errors_of_the_service_are_one_line(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "CALL_S", 0.5)
    project.service.fail_with = refuse
    said = refused(project.alerts("apply"))
    assert said == "tpudiag: projects/p: PERMISSION_DENIED: on demand"
    assert "UNAVAILABLE" in refused(run("list", "--project", "p", "--endpoint", "127.0.0.1:1"))


def refuse(method: str) -> Any:
    del method
    return grpc.StatusCode.PERMISSION_DENIED


def test_export_needs_no_project_and_is_what_apply_makes(project: Project, tmp_path: Path) -> None:
    exported: list[dict[str, Any]] = json.loads(run("export", "--job", "bert").stdout)
    project.alerts("apply")
    shown: list[dict[str, Any]] = json.loads(project.alerts("show").stdout)
    for policy in shown:
        policy.pop("name")
        policy["conditions"][0].pop("name")
    assert sorted(exported, key=str) == sorted(
        [policy for policy in shown if policy["userLabels"]["tpudiag_job"] == "bert"], key=str
    )
    file = tmp_path / "alerts.tf"
    done = run("export", "--job", 'a "${job}"', "--format", "terraform", "-o", str(file))
    assert (done.returncode, done.stdout) == (0, "")
    text = file.read_text()
    assert text.count('resource "google_monitoring_alert_policy"') == len(IDS)
    assert text.count("{") == text.count("}")
    assert text.count("${") == text.count("$${"), "none begins a template"
    assert 'display_name = "tpudiag a \\"$${job}\\": ' in text


def test_a_jobs_name_that_no_policy_can_hold() -> None:
    assert "at most 400 characters" in refused(run("export", "--job", "x" * 401))


def test_json_holds_channels_by_their_resource_names(project: Project) -> None:
    channel = "projects/p/notificationChannels/7"
    given = json.loads(run("export", "--job", "j", "--notify", channel).stdout)
    assert all(policy["notificationChannels"] == [channel] for policy in given)
    looked_up = json.loads(project.alerts("export", "--notify", "team mail").stdout)
    names = {tuple(policy["notificationChannels"]) for policy in looked_up}
    assert names == {("projects/p/notificationChannels/0",)}
    assert "--project" in refused(run("export", "--job", "j", "--notify", "team mail"))


def test_a_share_in_the_place_of_a_percentage_is_refused() -> None:
    assert (percent("20"), percent("20%"), percent("0.2%")) == (20, 20, 0.2)
    with pytest.raises(argparse.ArgumentTypeError, match="less than 1 %: write 20 for a fifth"):
        percent("0.2")
