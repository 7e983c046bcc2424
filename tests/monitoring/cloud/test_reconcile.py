"""What becomes of the policies that a project has."""

# pyright: reportPrivateUsage=false
from typing import Any

import pytest

from tpudiag.monitoring.alert_rules import Limits
from tpudiag.monitoring.cloud.policies import as_json, policies
from tpudiag.monitoring.cloud.reconcile import _conditions, _merged, differences

DROP, NO_POINTS = policies("bert", Limits())[:2]


def test_what_people_added_stays_and_what_is_ours_is_made_anew() -> None:
    there: dict[str, Any] = as_json(DROP, "bert", ("channels/1",))
    there["conditions"][0]["name"] = "policies/9/conditions/1"
    there["conditions"].append({"displayName": "theirs", "name": "policies/9/conditions/2"})
    there |= {"enabled": False, "combiner": "AND", "name": "policies/9"}
    there["userLabels"]["team"] = "vision"
    there["alertStrategy"] = {"autoClose": "3600s"}
    there["severity"] = "WARNING"
    there["documentation"]["links"] = [{"displayName": "book", "url": "https://example.org"}]
    made = as_json(DROP, "bert", ("channels/1", "channels/2"))
    merged = _merged(there, made)
    assert not [*differences(merged, _merged(merged, made))], "it is settled"
    assert merged["documentation"] == {
        **made["documentation"],
        "links": there["documentation"]["links"],
    }
    assert merged["enabled"] is False and merged["combiner"] == "AND"
    assert merged["severity"] == "ERROR", "the severity is ours"
    assert merged["notificationChannels"] == ["channels/1", "channels/2"]
    assert merged["alertStrategy"] == {"autoClose": "3600s"}
    labels: Any = merged["userLabels"]
    assert labels["team"] == "vision" and len(labels) == 4
    conditions: Any = merged["conditions"]
    assert [each["name"][-1] for each in conditions] == ["1", "2"]


def test_our_condition_is_known_by_its_title_or_its_metrics() -> None:
    made: Any = as_json(DROP, "bert")
    (condition,) = made["conditions"]
    other_limit = condition | {"displayName": "throughput fell by 35%", "name": "a"}
    renamed = condition | {"displayName": "slow again", "name": "b"}
    theirs = {"displayName": "theirs", "name": "c"}
    assert _conditions([theirs, other_limit], condition) == [theirs, condition | {"name": "a"}]
    assert _conditions([theirs, renamed], condition) == [theirs, condition | {"name": "b"}]
    assert _conditions([theirs], condition) == [theirs, condition]
    made = as_json(NO_POINTS, "bert")
    (absent,) = made["conditions"]
    (named,) = _conditions([absent | {"displayName": "x", "name": "d"}], absent)
    assert named == absent | {"name": "d"}


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ({"on": False, "labels": {}, "for": "0s", "etag": "a"}, {"etag": "b"}, []),
        (
            {"conditions": [{"threshold": {"value": 0.2}}, {"name": "x"}]},
            {"conditions": [{"threshold": {"value": 0.3}}, {"name": "x"}]},
            ["conditions.threshold.value: 0.2 -> 0.3"],
        ),
        ({"on": [1]}, {"on": [1, 2]}, ["on: [1] -> [1, 2]"]),
    ],
)
def test_where_two_messages_differ(before: object, after: object, said: list[str]) -> None:
    assert [*differences(before, after)] == said
