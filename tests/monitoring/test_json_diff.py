"""Where two messages of the Cloud Monitoring API differ."""

from __future__ import annotations

from tpudiag.monitoring.cloud.json_diff import differences


def test_what_the_service_leaves_out_or_sets_itself_is_no_difference() -> None:
    before: dict[str, object] = {"enabled": False, "labels": {}, "duration": "0s", "etag": "a"}
    after = {"etag": "b", "mutationRecord": {"mutateTime": "2026-01-01T00:00:00Z"}}
    assert list(differences(before, after)) == []


def test_a_field_deep_inside_is_named_by_its_path() -> None:
    before = {"conditions": [{"threshold": {"value": 0.2}}, {"name": "x"}]}
    after = {"conditions": [{"threshold": {"value": 0.3}}, {"name": "x"}]}
    assert list(differences(before, after)) == ["conditions.threshold.value: 0.2 -> 0.3"]


def test_lists_of_other_lengths_differ_as_a_whole() -> None:
    assert list(differences({"on": [1]}, {"on": [1, 2]})) == ["on: [1] -> [1, 2]"]
