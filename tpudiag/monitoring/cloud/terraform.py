"""The alert policies and the dashboard as Terraform, for the google provider."""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence

from tpudiag.monitoring.alert_rules import Rule
from tpudiag.monitoring.cloud.policies import Json, as_json, slug

CHANNEL = re.compile(r"projects/[^/]+/notificationChannels/[^/]+")
"""A notification channel by its resource name."""


def terraform(
    wanted: Sequence[Rule], job: str, channels: Sequence[str], board: Json | None = None
) -> str:
    """A file with a resource for each policy, and one for the dashboard.

    Channels are display names, which Terraform looks up, or resource names. No two names in it are
    alike, and none is another job's: the files of several jobs may lie in one folder.
    """
    channels = list(dict.fromkeys(channels))
    called = {name: _channel_name(name, job) for name in channels if not CHANNEL.fullmatch(name)}
    looked_up = "google_monitoring_notification_channel"
    parts = [
        f'data "{looked_up}" {_quoted(own)} {{\n  display_name = {_quoted(name)}\n}}\n'
        for name, own in called.items()
    ]
    referred = ", ".join(
        f"data.{looked_up}.{called[name]}.name" if name in called else _quoted(name)
        for name in channels
    )
    more = {"notification_channels": f"[{referred}]"} if channels else {}
    for policy in wanted:
        head = f'resource "google_monitoring_alert_policy" {_quoted(_identifier(job, policy.id))}'
        parts.append("\n".join(_block(head, as_json(policy, job), more)) + "\n")
    parts += [_dashboard(board, job)] if board is not None else []
    return "\n".join(parts)


def _channel_name(name: str, job: str) -> str:
    """The name of a channel in the file; unlike that of every other channel and job."""
    plain = re.sub(r"[^a-z0-9-]", "-", name.lower())
    # Display names are free text: two that differ in a space would be one name in HCL.
    own = plain if plain == name else f"{plain}-{hashlib.sha1(name.encode()).hexdigest()[:8]}"
    return _identifier(job, own)


def _dashboard(board: Json, job: str) -> str:
    """The dashboard of the job; Terraform's own comparison ignores what the service adds."""
    text = _escaped(
        json.dumps(board, indent=2, ensure_ascii=False, separators=(",", " : "))
    ).replace("\n", "\n  ")
    return (
        f'resource "google_monitoring_dashboard" {_quoted(_identifier(job, "dashboard"))} {{\n'
        f"  dashboard_json = jsonencode({text})\n}}\n"
    )


def _block(head: str, made: Json, more: dict[str, str], indent: int = 0) -> Iterator[str]:
    """The API's JSON as a block: what is an object there is a block here, but for the labels."""
    own = {name: value for name, value in made.items() if isinstance(value, str | bool)}
    plain = {_snake(name): _quoted(value) for name, value in own.items()} | more
    yield f"{' ' * indent}{head} {{"
    width = max(map(len, plain), default=0)  # below each other, as `terraform fmt` aligns them
    yield from (f"{' ' * indent}  {name:<{width}} = {value}" for name, value in plain.items())
    for name, value in made.items():
        inner = _snake(name) + (" =" if name == "userLabels" else "")
        for each in value if isinstance(value, list) else [value]:  # pyright: ignore
            if isinstance(each, dict):
                yield from _block(inner, each, {}, indent + 2)  # pyright: ignore
    yield f"{' ' * indent}}}"


def _snake(name: str) -> str:
    """A name of the API's JSON as Terraform writes it."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def _quoted(text: str | bool) -> str:
    """A string of HCL, or a truth."""
    return _escaped(json.dumps(text, ensure_ascii=False))


def _escaped(text: str) -> str:
    """JSON as HCL: `${` and `%{` would begin a template, and it knows no \\b and \\f."""
    plain = text.replace("${", "$${").replace("%{", "%%{")
    numbered = {"b": "\\u0008", "f": "\\u000c"}
    return re.sub(r"(?<!\\)((?:\\\\)*)\\([bf])", lambda m: m[1] + numbered[m[2]], plain)


def _identifier(job: str, what: str) -> str:
    """A name of HCL; jobs' slugs are unlike each other, and `what` has no underscore."""
    return f"tpudiag_{slug(job)}_{what}"
