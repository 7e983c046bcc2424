"""Reconciles a project's alert policies with a job's, and reports the changes."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

from tpudiag.errors import UsageError
from tpudiag.monitoring.alert_rules import Rule
from tpudiag.monitoring.cloud.connection import Service, call, client
from tpudiag.monitoring.cloud.policies import JOB, MANAGED_BY, POLICY, PROMQL, Json, as_json, slug
from tpudiag.monitoring.cloud.sender import PREFIX, describe

OF_THE_SERVICE = {"creationRecord", "mutationRecord", "etag"}
"""Fields that the service sets itself."""
DEFAULTS: tuple[Any, ...] = (None, "", "0s", False, 0, [], {})
"""What a service may leave out."""


def differences(before: Any, after: Any, path: str = "") -> Iterator[str]:
    """Each field that differs, as `field: before -> after`."""
    if before in DEFAULTS and after in DEFAULTS:
        return
    kinds: set[object] = {type(before), type(after)}
    if kinds == {dict}:
        for key in sorted({*before, *after} - OF_THE_SERVICE):
            yield from differences(before.get(key), after.get(key), f"{path}.{key}".strip("."))
    elif kinds == {list} and len(before) == len(after):
        for one, other in zip(before, after, strict=True):
            yield from differences(one, other, path)
    elif before != after:
        yield f"{path}: {json.dumps(before)} -> {json.dumps(after)}"


@dataclass(frozen=True)
class MessageKind:
    """A message of a Google client, which is imported when it is needed."""

    module: str
    name: str

    def message(self, made: Json) -> Any:
        """The API's message; a field that this version of the client lacks is left out."""
        return self._kind.from_json(json.dumps(made), ignore_unknown_fields=True)

    def json(self, message: Any) -> Json:
        """A message as JSON, without what is not set."""
        from google.protobuf import json_format

        return json_format.MessageToDict(self._kind.pb(message))

    @property
    def _kind(self) -> Any:
        return getattr(import_module(self.module), self.name)


ALERT_POLICY = MessageKind("google.cloud.monitoring_v3", "AlertPolicy")
OURS = f'user_labels.{MANAGED_BY}="tpudiag"'


@dataclass(frozen=True)
class Change:
    """The change of one policy, with each field's difference."""

    what: Literal["create", "update", "keep", "delete"]
    id: str
    name: str
    differences: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A policy of ours as the project has it."""

    id: str
    job: str
    name: str
    title: str
    enabled: bool
    json: Json


def reconciled(
    kind: MessageKind, id_: str, made: Json, before: Json | None, *,
    merge: Callable[[Json, Json], Json], create: Callable[[Any], Any],
    update: Callable[[Any], Any], dry_run: bool,
) -> Change:  # fmt: skip
    """Create what is missing, or update what differs from what is there with our parts in it."""
    if before is None:
        return Change("create", id_, "" if dry_run else str(create(kind.message(made)).name))
    message = kind.message(merge(before, made))
    changed = tuple(differences(before, kind.json(message)))
    if changed and not dry_run:
        update(message)
    return Change("update" if changed else "keep", id_, str(before["name"]), changed)


class Alerts:
    """The alert policies of a project; every call raises CloudError in one line."""

    def __init__(self, project: str, endpoint: str | None) -> None:
        self._project, self._endpoint = f"projects/{project}", endpoint
        self._client = client(Service.POLICIES, endpoint)

    def kept(self, job: str | None = None) -> list[Kept]:
        """Our policies, of one job or all, in the order of job and id."""
        listed = call(
            self._project,
            self._client.list_alert_policies,
            request={"name": self._project, "filter": OURS},
        )
        # Check again, whatever the filter returned: these may be deleted.
        labels = ((policy, policy.user_labels) for policy in listed)
        mine = [
            _kept(policy)
            for policy, marks in labels
            if marks.get(MANAGED_BY) == "tpudiag" and POLICY in marks
            if job is None or marks.get(JOB, "") == slug(job)
        ]
        return sorted(mine, key=lambda policy: (policy.job, policy.id, policy.name))

    def channels(self, names: Sequence[str]) -> tuple[str, ...]:
        """The notification channels with these display names or resource names."""
        if not names:
            return ()
        channels = client(Service.CHANNELS, self._endpoint)
        listed = list(call(self._project, channels.list_notification_channels, name=self._project))
        resources: list[str] = []
        for wanted in names:
            hits = [str(c.name) for c in listed if wanted in (c.display_name, c.name)]
            if len(hits) != 1:
                known = ", ".join(sorted(str(c.display_name) for c in listed)) or "none"
                how = "no" if not hits else f"{len(hits)}"
                raise UsageError(f"--notify {wanted}: {how} channels of that name (there: {known})")
            resources += hits
        return tuple(resources)

    def apply(
        self, job: str, wanted: Sequence[Rule], channels: tuple[str, ...], *, dry_run: bool
    ) -> Iterator[Change]:
        """Create what is missing and update what differs."""
        # Reversed, so that of two with one id (a copy made in the console) the first by name is
        # updated.
        where = self._project
        there = {kept.id: kept.json for kept in reversed(self.kept(job))}
        if not dry_run:
            # Before the policies: a condition on an undescribed metric is refused.
            call(self._project, describe, client(Service.METRICS, self._endpoint), self._project)
        create, update = self._client.create_alert_policy, self._client.update_alert_policy
        for policy in wanted:
            yield reconciled(
                ALERT_POLICY, policy.id, as_json(policy, job, channels), there.get(policy.id),
                merge=_merged, dry_run=dry_run,
                create=lambda new: call(where, create, name=where, alert_policy=new),
                update=lambda new: call(where, update, alert_policy=new),
            )  # fmt: skip

    def delete(self, doomed: Sequence[Kept], *, dry_run: bool) -> Iterator[Change]:
        """Delete policies."""
        for policy in doomed:
            if not dry_run:
                call(self._project, self._client.delete_alert_policy, name=policy.name)
            yield Change("delete", policy.id, policy.name)


def _kept(policy: Any) -> Kept:
    fields = ALERT_POLICY.json(policy)
    return Kept(
        id=policy.user_labels[POLICY],
        job=policy.user_labels.get(JOB, ""),
        name=policy.name,
        title=policy.display_name,
        enabled=fields.get("enabled", True) is not False,
        json=fields,
    )


def _merged(before: Json, made: Json) -> Json:
    """The existing policy with our parts in it; what people added or switched stays.

    Ours are the name, the text, the severity, our labels and our one condition. Other channels and
    conditions, how they combine, the automatic closing, links and switches are theirs.
    """
    merged = {**before, **made}
    for field in ("userLabels", "documentation"):
        merged[field] = {**before.get(field, {}), **made[field]}
    merged["alertStrategy"] = {**made["alertStrategy"], **before.get("alertStrategy", {})}
    merged["combiner"] = before.get("combiner") or made["combiner"]
    every = (*before.get("notificationChannels", []), *made.get("notificationChannels", []))
    if every:
        merged["notificationChannels"] = [*dict.fromkeys(every)]
    (ours,) = made["conditions"]
    merged["conditions"] = _conditions(before.get("conditions", []), ours)
    return merged


def _conditions(there: Sequence[Json], ours: Json) -> list[Json]:
    """The conditions with ours in its old place, or else at the end.

    Ours has our title, whatever its limit, or was renamed and is the first on our metrics.
    """
    titled = [n for n, each in enumerate(there) if _title(each) == _title(ours)]
    places = [*titled, *(n for n, each in enumerate(there) if PREFIX in _query(each))]
    if not places:
        return [*there, ours]
    place = places[0]
    name = there[place].get("name")
    # With its old name the service updates the condition; without, it deletes and recreates it.
    named = {**ours, "name": name} if name else ours
    return [*there[:place], named, *there[place + 1 :]]


def _title(condition: Json) -> str:
    """Its title without the limit."""
    return re.sub(r"\d+", "", str(condition.get("displayName")))


def _query(condition: Json) -> str:
    """A condition's query, with our metrics written as the API writes them."""
    query = condition.get("conditionPrometheusQueryLanguage", {}).get("query")
    absent = condition.get("conditionAbsent", {}).get("filter")
    return str(query or absent or "").replace(PROMQL, PREFIX)
