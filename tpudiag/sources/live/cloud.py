"""A TPU's state from the Cloud TPU API, by its official client google-cloud-tpu.

TPU_EMULATOR_HOST=host:port names an emulator to use instead, without credentials.
"""

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar, cast, get_args

import google.auth
import grpc
from google.api_core import exceptions, retry
from google.auth.exceptions import GoogleAuthError
from google.cloud import tpu_v2
from google.cloud.tpu_v2.services.tpu.transports import TpuGrpcTransport

from tpudiag.errors import NothingDiagnosed, UsageError, line_of
from tpudiag.signals import CloudTpu
from tpudiag.signals.environment import CloudTpuHealth, CloudTpuState

LIMIT_S = 30.0
EMULATOR = "TPU_EMULATOR_HOST"
_RESOURCE = re.compile(r"projects/([^/]+)/locations/([^/]+)/nodes/([^/]+)")
_ALL_ZONES = "-"
_STATES: dict[str, CloudTpuState] = {word: word for word in get_args(CloudTpuState)}
_HEALTH: dict[str, CloudTpuHealth] = {word: word for word in get_args(CloudTpuHealth)}
_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_LOGIN = "gcloud auth application-default login"
T = TypeVar("T")
Method = Callable[..., T]


@dataclass(frozen=True)
class Place:
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
    client, default = _client()
    project = project or default
    if not project:
        raise UsageError(f"--tpu {name}: no project; name it with --project")
    place = Place(name, project, zone or _ALL_ZONES)
    return _cloud_tpu(_node(client, place, limit_s), project)


def _client() -> tuple[tpu_v2.TpuClient, str | None]:
    emulator = os.environ.get(EMULATOR)
    if emulator:
        transport = TpuGrpcTransport(channel=grpc.insecure_channel(emulator))
        return tpu_v2.TpuClient(transport=transport), None
    find = cast("Method[tuple[Any, str | None]]", google.auth.default)  # pyright: ignore
    try:
        credentials, project = find(scopes=[_SCOPE])
    except GoogleAuthError as error:
        raise NothingDiagnosed(f"no Google Cloud credentials: {_LOGIN}") from error
    return tpu_v2.TpuClient(credentials=credentials), project


def _node(client: tpu_v2.TpuClient, place: Place, limit_s: float) -> tpu_v2.Node:
    if place.zone != _ALL_ZONES:
        name = f"{place.parent}/nodes/{place.name}"
        get = cast("Method[tpu_v2.Node]", client.get_node)  # pyright: ignore
        return _called(lambda: get(name=name, **_limits(limit_s)), place, limit_s)
    every = cast("Method[Iterable[tpu_v2.Node]]", client.list_nodes)  # pyright: ignore
    nodes = _called(lambda: list(every(parent=place.parent, **_limits(limit_s))), place, limit_s)
    named = [node for node in nodes if node.name.rpartition("/")[2] == place.name]
    if len(named) == 1:
        return named[0]
    if named:
        zones = ", ".join(sorted(node.name.split("/")[3] for node in named))
        raise UsageError(f"--tpu {place.name}: in several zones ({zones}); name one with --zone")
    others = ", ".join(sorted(node.name.rpartition("/")[2] for node in nodes)[:10]) or "none"
    raise NothingDiagnosed(
        f"TPU {place.name}: project {place.project} has none of this name (it has: {others})"
    )


def _limits(limit_s: float) -> dict[str, object]:
    """Each call is retried while the service is unavailable, within the limit."""
    unavailable = retry.if_exception_type(exceptions.ServiceUnavailable)
    again = retry.Retry(predicate=unavailable, initial=0.2, maximum=5.0, timeout=limit_s)
    return {"retry": again, "timeout": limit_s}


def _called(call: Callable[[], T], place: Place, limit_s: float) -> T:
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


def _cloud_tpu(node: tpu_v2.Node, project: str) -> CloudTpu:
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


def _label(value: object) -> str:
    """The name of an enum's value, which may be newer than this client."""
    return str(getattr(value, "name", value))


def _symptom(symptom: tpu_v2.Symptom) -> str:
    """`OUT_OF_MEMORY on worker 3: details`."""
    where = f" on worker {symptom.worker_id}" if symptom.worker_id else ""
    details = f": {' '.join(symptom.details.split())}" if symptom.details else ""
    return f"{_label(symptom.symptom_type)}{where}{details}"
