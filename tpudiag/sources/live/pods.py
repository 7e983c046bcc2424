"""The pods of a job by a Kubernetes label selector, with the official client (extra `gke`).

The cluster is the kubeconfig's (`KUBECONFIG`, or ~/.kube/config), or, in a pod, its own.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec

from tpudiag.errors import NothingDiagnosed, UsageError
from tpudiag.whole import whole

PodPhase = Literal["Pending", "Running", "Succeeded", "Failed", "Unknown", "Terminating"]
"""The API's phases, and kubectl's name for a pod that is being deleted."""
_PHASES: dict[str, PodPhase] = {phase: phase for phase in get_args(PodPhase)}
LIMIT_S = 30.0
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


def pods(selection: Selection, limit_s: float = LIMIT_S) -> tuple[Pod, ...]:
    """The pods, in the order of their workers.

    Raises UsageError without client, cluster or a valid selector, and NothingDiagnosed, with the
    reason in one line, where the server lists none.
    """
    client, namespace = _connected(selection)
    try:
        answer = client.list_namespaced_pod(
            namespace,
            label_selector=selection.selector,
            _request_timeout=limit_s,
            # The client's own models reject what a server of another release writes: parse the JSON
            # here.
            _preload_content=False,
        )
        items = msgspec.json.decode(answer.data, type=_Listing).items
    except Exception as error:
        raise _refusal(error, selection, namespace) from error
    if not items:
        raise NothingDiagnosed(
            f"--selector {selection.selector}: no pod in the namespace {namespace} has these labels"
        )
    listed = [_pod(item) for item in items]
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
        files = _kubeconfig(os.environ)
        if selection.context is None and not files:
            config.load_incluster_config(client_configuration=configuration)
            own = _own_namespace()
        else:
            config.load_kube_config(files, selection.context, configuration)
            own = _context_namespace(config, files, selection.context)
    except config.ConfigException as error:
        named = selection.context is not None
        raise UsageError(f"--context: {_line(error)}" if named else NO_CLUSTER) from error
    # urllib3 would retry three times, each to the end of the limit.
    configuration.retries = False
    api: Any = kubernetes.client.CoreV1Api(kubernetes.client.ApiClient(configuration))
    return api, selection.namespace or own or "default"


def _kubeconfig(environ: Mapping[str, str]) -> str:
    """The kubeconfig's files as the client takes them; nothing where there is none."""
    named = environ.get("KUBECONFIG") or str(Path.home() / ".kube" / "config")
    there = any(Path(path).is_file() for path in named.split(os.pathsep) if path)
    return named if there else ""


def _context_namespace(config: Any, files: str, context: str | None) -> str | None:
    """The namespace of a context of the kubeconfig."""
    contexts, active = config.list_kube_config_contexts(files)
    chosen = next((each for each in contexts if each["name"] == context), active)
    namespace = chosen["context"].get("namespace")
    return str(namespace) if namespace else None


def _own_namespace() -> str | None:
    """The namespace of the pod that this process runs in."""
    try:
        return _NAMESPACE.read_text(encoding="utf-8").strip() or None
    except OSError:
        return None


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
    try:
        message = msgspec.json.decode(body, type=_Condition).message if body else None
    except msgspec.MsgspecError:
        message = None
    message = message or str(getattr(error, "reason", None) or error)
    return " ".join(message.split())[:300] or type(error).__name__


def _pod(item: _Item) -> Pod:
    """One pod of the listing."""
    meta, status = item.metadata, item.status
    # Older releases write the completion index as an annotation only.
    labels = {**(meta.annotations or {}), **(meta.labels or {})}
    index = next((labels[name] for name in INDEX_LABELS if name in labels), "")
    return Pod(
        name=meta.name,
        namespace=meta.namespace or "default",
        # A pod that is being deleted calls itself Running until its last container is gone.
        phase="Terminating" if meta.deletionTimestamp else _PHASES.get(status.phase, "Unknown"),
        address=status.podIP or None,
        node=item.spec.nodeName or "",
        restarts=sum(state.restartCount for state in status.containerStatuses or ()),
        chips=sum(_chips(container) for container in item.spec.containers or ()),
        index=whole(index),
        ended=_ended(status),
    )


def _chips(container: _Container) -> int:
    """The TPU chips that a container requests."""
    resources = container.resources or _Resources()
    number = str({**(resources.requests or {}), **(resources.limits or {})}.get(TPU_RESOURCE, 0))
    return whole(number) or 0


def _ended(status: _Status) -> str:
    """Why it does not run, or its last container did not; empty where all is well."""
    reasons = [status.reason, status.message] if status.reason else []
    for container in status.containerStatuses or ():
        now, before = container.state or _State(), container.lastState or _State()
        reasons += [now.waiting.reason if now.waiting else None]
        if ended := now.terminated or before.terminated:
            reasons.append(f"{ended.reason or 'ended'}, exit code {ended.exitCode}")
    if not any(reasons):
        conditions = status.conditions or ()
        # Before there is a container only a condition has the reason, such as a lack of chips.
        reasons = [each.message for each in conditions if each.status == "False"]
    return "; ".join(dict.fromkeys(" ".join(each.split()) for each in reasons if each))


class _Metadata(msgspec.Struct):
    """A pod's identity."""

    name: str
    namespace: str | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    deletionTimestamp: str | None = None


class _Resources(msgspec.Struct):
    """A container's resource requests."""

    requests: dict[str, str | int | float] | None = None
    limits: dict[str, str | int | float] | None = None


class _Container(msgspec.Struct):
    """A container's specification."""

    resources: _Resources | None = None


class _Spec(msgspec.Struct):
    """A pod's specification."""

    nodeName: str | None = None
    containers: list[_Container] | None = None


class _End(msgspec.Struct):
    """How a container ended, or why it waits."""

    reason: str | None = None
    exitCode: int | None = None


class _State(msgspec.Struct):
    """A container's state; one of both, or none where it runs."""

    waiting: _End | None = None
    terminated: _End | None = None


class _ContainerStatus(msgspec.Struct):
    """A container's status."""

    restartCount: int = 0
    state: _State | None = None
    lastState: _State | None = None


class _Condition(msgspec.Struct):
    """A condition of a pod, which holds or not."""

    status: str = ""
    message: str | None = None


class _Status(msgspec.Struct):
    """A pod's status."""

    phase: str = "Unknown"
    podIP: str | None = None
    reason: str | None = None
    message: str | None = None
    containerStatuses: list[_ContainerStatus] | None = None
    conditions: list[_Condition] | None = None


class _Item(msgspec.Struct):
    """A pod of a listing; names as the API has them."""

    metadata: _Metadata
    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)


class _Listing(msgspec.Struct):
    """The API server's answer."""

    items: list[_Item]
