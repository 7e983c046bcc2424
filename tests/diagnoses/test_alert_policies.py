"""Alerts as text: of which job, which of them, for whom."""

import json

import pytest

from tpudiag.diagnoses.alert_policies import AlertRequest, Form, Limits, exported
from tpudiag.errors import UsageError

BERT = AlertRequest(job="bert", limits=Limits())


def test_single_policies_come_without_the_dashboard() -> None:
    assert BERT.with_dashboard
    one = AlertRequest(job="bert", limits=Limits(), policies=("no-step",))
    assert not one.with_dashboard
    (policy,) = json.loads(exported(one, "json"))
    assert policy["userLabels"]["tpudiag_policy"] == "no-step"
    assert "google_monitoring_dashboard" in exported(BERT, "terraform")
    assert "google_monitoring_dashboard" not in exported(one, "terraform")


@pytest.mark.parametrize("form", ["json", "terraform", "dashboard"])
def test_cloud_monitoring_needs_a_job(form: Form) -> None:
    with pytest.raises(UsageError, match="needs --job"):
        exported(AlertRequest(limits=Limits()), form)


def test_prometheus_needs_none_and_tells_nobody_itself() -> None:
    everybody = AlertRequest(limits=Limits())
    assert "TpuChipMemoryHigh" in exported(everybody, "prometheus")
    assert json.loads(exported(everybody, "grafana"))["title"] == "tpudiag"
    with pytest.raises(UsageError, match="Alertmanager notifies"):
        exported(AlertRequest(limits=Limits(), notify=("pager",)), "prometheus")


def test_what_is_not_there_is_named() -> None:
    with pytest.raises(
        UsageError, match="slow: no such policy; there are check-failed, throughput-drop"
    ):
        exported(AlertRequest(job="bert", limits=Limits(), policies=("slow",)), "json")


def test_channels_are_looked_up_or_named_whole() -> None:
    whole = AlertRequest(job="bert", limits=Limits(), notify=("projects/p/notificationChannels/1",))
    assert json.loads(exported(whole, "json"))[0]["notificationChannels"] == [*whole.notify]
    with pytest.raises(UsageError, match="give --project"):
        exported(AlertRequest(job="bert", limits=Limits(), notify=("pager",)), "json")
