"""A TPU's state from the Cloud TPU API, by its official client google-cloud-tpu.

TPU_EMULATOR_HOST=host:port names an emulator to use instead, without credentials.
"""

import os
import re
from collections.abc import Callable
from typing import Any, NamedTuple, get_args

from google.api_core import exceptions
from google.auth.exceptions import GoogleAuthError

from tpudiag.errors import NothingDiagnosed, UsageError, line_of
from tpudiag.signals import CloudTpu
from tpudiag.signals.environment import CloudTpuHealth, CloudTpuState
from tpudiag.sources import google_clients

LIMIT_S = 30.0
EMULATOR = "TPU_EMULATOR_HOST"
_RESOURCE = re.compile(r"projects/([^/]+)/locations/([^/]+)/nodes/([^/]+)")
_ALL_ZONES = "-"
_STATES: dict[str, CloudTpuState] = {word: word for word in get_args(CloudTpuState)}
_HEALTH: dict[str, CloudTpuHealth] = {word: word for word in get_args(CloudTpuHealth)}
_LOGIN = "gcloud auth application-default login"


class Place(NamedTuple):
    """The node's name, and its location; `-` is every zone."""

    name: str
    project: str
    zone: str

    @property
    def parent(self) -> str:
        """The resource under which nodes are listed."""
        return f"projects/{self.project}/locations/{self.zone}"


def ask(name: str, project: str | None, zone: str | None, limit_s: float = LIMIT_S) -> CloudTpu:
    """The TPU of this name; without a zone it is searched in all of them.

    Raises UsageError where the project is unknown, NothingDiagnosed, with the reason in one line,
    where the API does not answer.
    """
    resource = _RESOURCE.fullmatch(name)
    if resource:
        project, zone, name = resource.groups()
    missing = NothingDiagnosed(f"no Google Cloud credentials: {_LOGIN}")
    client, default = google_clients.client(
        "google.cloud.tpu_v2", "Tpu", "cloud-platform", os.environ.get(EMULATOR), missing
    )
    project = project or default
    if not project:
        raise UsageError(f"--tpu {name}: no project; name it with --project")
    node = _node(client, Place(name, project, zone or _ALL_ZONES), limit_s)
    match = _RESOURCE.fullmatch(node.name)
    scheduling = node.scheduling_config
    return CloudTpu(
        name=node.name.rpartition("/")[2],
        project=project,
        zone=match[2] if match else "",
        state=_STATES.get(_label(node.state), "UNRECOGNIZED"),
        health=_HEALTH.get(_label(node.health), "UNRECOGNIZED"),
        health_description=node.health_description.strip(),
        accelerator_type=node.accelerator_type,
        runtime_version=node.runtime_version,
        preemptible=bool(scheduling.preemptible or scheduling.spot),
        workers=tuple(end.ip_address for end in node.network_endpoints if end.ip_address),
        symptoms=tuple(_symptom(symptom) for symptom in node.symptoms),
    )


def _node(client: Any, place: Place, limit_s: float) -> Any:
    """The node, by its zone or from the list of all."""
    limits: Any = {"retry": google_clients.patience(limit_s), "timeout": limit_s}
    if place.zone != _ALL_ZONES:
        name = f"{place.parent}/nodes/{place.name}"
        return _called(lambda: client.get_node(name=name, **limits), place, limit_s)
    every: Any = _called(
        lambda: list(client.list_nodes(parent=place.parent, **limits)), place, limit_s
    )
    named = [node for node in every if node.name.rpartition("/")[2] == place.name]
    if len(named) == 1:
        return named[0]
    if named:
        zones = ", ".join(sorted(node.name.split("/")[3] for node in named))
        raise UsageError(f"--tpu {place.name}: in several zones ({zones}); name one with --zone")
    others = ", ".join(sorted(node.name.rpartition("/")[2] for node in every)[:10]) or "none"
    raise NothingDiagnosed(
        f"TPU {place.name}: project {place.project} has none of this name (it has: {others})"
    )


def _called(call: Callable[[], Any], place: Place, limit_s: float) -> Any:
    """The API's answer; its refusals become one line."""
    try:
        return call()
    except exceptions.NotFound as error:
        raise NothingDiagnosed(
            f"TPU {place.name}: there is none in {place.parent}; gcloud compute tpus tpu-vm list "
            f"--project {place.project} --zone -"
        ) from error
    except (exceptions.PermissionDenied, exceptions.Unauthenticated) as error:
        raise NothingDiagnosed(
            f"TPU {place.name}: not permitted: {line_of(error)[:300]}; the account needs "
            f"roles/tpu.viewer in {place.project} ({_LOGIN})"
        ) from error
    except (exceptions.RetryError, exceptions.DeadlineExceeded) as error:
        raise NothingDiagnosed(
            f"TPU {place.name}: no answer of the Cloud TPU API within {limit_s:g} s: "
            f"{line_of(getattr(error, 'cause', None) or error)[:300]}"
        ) from error
    except (exceptions.GoogleAPIError, GoogleAuthError) as error:
        raise NothingDiagnosed(f"TPU {place.name}: {line_of(error)[:300]}") from error


def _label(value: object) -> str:
    """The name of an enum's value, which may be newer than this client."""
    return str(getattr(value, "name", value))


def _symptom(symptom: Any) -> str:
    """`OUT_OF_MEMORY on worker 3: details`."""
    where = f" on worker {symptom.worker_id}" if symptom.worker_id else ""
    details = f": {' '.join(symptom.details.split())}" if symptom.details else ""
    return f"{_label(symptom.symptom_type)}{where}{details}"
