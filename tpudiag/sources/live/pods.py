"""The pods of a job by a Kubernetes label selector, with the official client (extra `gke`).

The cluster is the kubeconfig's (`KUBECONFIG`, or ~/.kube/config), or, in a pod, its own.
"""

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, cast, get_args

from tpudiag.bounded_numbers import whole
from tpudiag.errors import NothingDiagnosed, UsageError
from tpudiag.sources.live.cgroups import text

PodPhase = Literal["Pending", "Running", "Succeeded", "Failed", "Unknown", "Terminating"]
"""The API's phases, and kubectl's name for a pod that is being deleted."""
_PHASES: dict[str, PodPhase] = {phase: phase for phase in get_args(PodPhase)}
LIMIT_S = 30.0
Json = dict[str, Any]
TPU_RESOURCE = "google.com/tpu"
INDEX_LABELS = (
    "batch.kubernetes.io/job-completion-index",
    "apps.kubernetes.io/pod-index",
    "leaderworkerset.sigs.k8s.io/worker-index",
)
"""Labels with a worker's index in the job."""
NO_CLIENT = "a label selector needs the Kubernetes client: pip install 'tpudiag[gke]'"
NO_CLUSTER = (
    "no Kubernetes cluster is known: gcloud container clusters get-credentials CLUSTER --location "
    "LOCATION, or run in a pod with a service account that may list pods"
)
RIGHT = "the account needs the right to list pods (a Role with resources [pods], verbs [list])"
_NAMESPACE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
"""Names the namespace of the pod that this process runs in."""


@dataclass(frozen=True)
class Selection:
    """A label selector, and where; None is the kubeconfig's or the pod's own."""

    selector: str
    namespace: str | None = None
    context: str | None = None


@dataclass(frozen=True, kw_only=True)
class Pod:
    """A pod as the API server lists it."""

    name: str
    namespace: str
    phase: PodPhase
    address: str | None
    node: str
    restarts: int
    chips: int
    index: int | None
    """Its worker index in the job, None where Kubernetes has none."""
    ended: str = ""
    """Why its containers ended or do not start: `OOMKilled, exit code 137`."""

    @property
    def runs(self) -> bool:
        """Whether its containers run."""
        return self.phase == "Running" and self.address is not None


def pods(selection: Selection) -> tuple[Pod, ...]:
    """The pods, in the order of their workers.

    Raises UsageError without client, cluster or a valid selector, and NothingDiagnosed, with the
    reason in one line, where the server lists none.
    """
    client, namespace = _connected(selection)
    try:
        answer = client.list_namespaced_pod(
            namespace,
            label_selector=selection.selector,
            _request_timeout=LIMIT_S,
            # The client's own models reject what a server of another release writes: parse the JSON
            # here.
            _preload_content=False,
        )
        listed = [_pod(item) for item in json.loads(answer.data)["items"]]
    except Exception as error:
        raise _refusal(error, selection, namespace) from error
    if not listed:
        raise NothingDiagnosed(
            f"--selector {selection.selector}: no pod in the namespace {namespace} has these labels"
        )
    return tuple(sorted(listed, key=lambda pod: (pod.index is None, pod.index or 0, pod.name)))


def _connected(selection: Selection) -> tuple[Any, str]:
    """The client of the cluster, and the namespace; raises UsageError."""
    try:
        kubernetes: Any = import_module("kubernetes")
        config: Any = import_module("kubernetes.config")
    except ImportError as error:
        raise UsageError(NO_CLIENT) from error
    configuration: Any = kubernetes.client.Configuration()
    try:
        files = os.environ.get("KUBECONFIG") or str(Path.home() / ".kube" / "config")
        if not any(Path(path).is_file() for path in files.split(os.pathsep) if path):
            files = ""
        if selection.context is None and not files:
            config.load_incluster_config(client_configuration=configuration)
            own = text(_NAMESPACE).strip() or None
        else:
            config.load_kube_config(files, selection.context, configuration)
            contexts, active = config.list_kube_config_contexts(files)
            named = (each for each in contexts if each["name"] == selection.context)
            own = next(named, active)["context"].get("namespace")
    except config.ConfigException as error:
        known = selection.context is None
        raise UsageError(NO_CLUSTER if known else f"--context: {_line(error)}") from error
    # urllib3 would retry three times, each to the end of the limit.
    configuration.retries = False
    api: Any = kubernetes.client.CoreV1Api(kubernetes.client.ApiClient(configuration))
    return api, selection.namespace or own or "default"


def _refusal(error: Exception, selection: Selection, namespace: str) -> Exception:
    """The meaning of a failed listing, in one line."""
    status = getattr(error, "status", None)
    selected = f"--selector {selection.selector}"
    if status == 400:
        return UsageError(f"{selected}: not a label selector: {_line(error)}")
    if status in (401, 403):
        return NothingDiagnosed(
            f"{selected}: not permitted in the namespace {namespace}: {_line(error)}; {RIGHT}"
        )
    return NothingDiagnosed(f"{selected}: no answer of the API server: {_line(error)}")


def _line(error: Exception) -> str:
    """An error's text on one line: the server's own message where there is one."""
    body = getattr(error, "body", None)
    message = str(getattr(error, "reason", None) or error)
    with suppress(ValueError, AttributeError):
        message = str(json.loads(body or "").get("message") or message)
    return " ".join(message.split())[:300] or type(error).__name__


def _pod(item: Json) -> Pod:
    meta, spec, status = item["metadata"], _part(item, "spec"), _part(item, "status")
    # Older releases write the completion index as an annotation alone.
    labels = {**_part(meta, "annotations"), **_part(meta, "labels")}
    index = next((labels[name] for name in INDEX_LABELS if name in labels), "")
    phase = _PHASES.get(status.get("phase", ""), "Unknown")
    asked = [_part(container, "resources") for container in _parts(spec, "containers")]
    wanted = [{**_part(each, "requests"), **_part(each, "limits")} for each in asked]
    return Pod(
        name=meta["name"],
        namespace=meta.get("namespace") or "default",
        # A pod that is being deleted calls itself Running until its last container is gone.
        phase="Terminating" if meta.get("deletionTimestamp") else phase,
        address=status.get("podIP") or None,
        node=spec.get("nodeName") or "",
        restarts=sum(each.get("restartCount", 0) for each in _parts(status, "containerStatuses")),
        chips=sum(whole(str(each.get(TPU_RESOURCE, 0))) or 0 for each in wanted),
        index=whole(index),
        ended=_ended(status),
    )


def _part(whole: Json, name: str) -> Json:
    return cast("Json", whole.get(name) or {})


def _parts(whole: Json, name: str) -> list[Json]:
    return cast("list[Json]", whole.get(name) or [])


def _ended(status: Json) -> str:
    """Why it does not run, or its last container did not; nothing where all is well."""
    reasons: list[Any] = [status["reason"], status.get("message")] if status.get("reason") else []
    for container in _parts(status, "containerStatuses"):
        now, before = _part(container, "state"), _part(container, "lastState")
        reasons.append(_part(now, "waiting").get("reason"))
        if ended := _part(now, "terminated") or _part(before, "terminated"):
            reasons.append(f"{ended.get('reason') or 'ended'}, exit code {ended.get('exitCode')}")
    if not any(reasons):
        # Before any container is made only a condition tells: no node has the chips, say.
        conditions = _parts(status, "conditions")
        reasons = [each.get("message") for each in conditions if each.get("status") == "False"]
    return "; ".join(dict.fromkeys(" ".join(each.split()) for each in reasons if each))
