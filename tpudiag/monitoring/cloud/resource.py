"""Which monitored resource a worker is: each has one of its own, so that no two share a series."""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

METADATA = "http://metadata.google.internal/computeMetadata/v1/"
METADATA_S = 1.0
LONGEST_LABEL = 1024
ResourceType = Literal["generic_task", "k8s_container", "gce_instance"]


@dataclass(frozen=True)
class Resource:
    """A monitored resource: its type and labels."""

    type: str
    labels: dict[str, str]


@dataclass(frozen=True)
class PointSource:
    """Who writes a point: a monitored resource and the metric's labels, as pairs in order."""

    type: str
    resource: tuple[tuple[str, str], ...]
    labels: tuple[tuple[str, str], ...]

    @property
    def text(self) -> str:
        """It as one line, for a file; the same for the same source."""
        return json.dumps([self.type, dict(self.resource), dict(self.labels)], sort_keys=True)

    def marked(self, **labels: str) -> PointSource:
        """The same with further labels of the metric."""
        return replace(self, labels=tuple(sorted({**dict(self.labels), **labels}.items())))

    @classmethod
    def of(cls, text: str) -> PointSource:
        """The source that this text stands for."""
        kind, resource, labels = json.loads(text)
        return cls(kind, tuple(sorted(resource.items())), tuple(sorted(labels.items())))


def point_source(place: Resource, job: str, worker: str) -> PointSource:
    """The source of a job's worker."""
    labels = {"training_job": job[:LONGEST_LABEL], "worker": worker[:LONGEST_LABEL]}
    return PointSource(
        place.type, tuple(sorted(place.labels.items())), tuple(sorted(labels.items()))
    )


def resource(
    project: str,
    job: str,
    host: str,
    task: str,
    kind: ResourceType = "generic_task",
    environ: Mapping[str, str] = os.environ,
    ask: Callable[[str], str | None] | None = None,
) -> Resource:
    """The resource of the worker that this process runs on; `task` tells it from all others.

    `ask` reads the metadata server; what is not known is a plain word, never another's label.
    """
    ask = metadata if ask is None else ask
    zone = (ask("instance/zone") or "").rpartition("/")[2]
    if kind == "k8s_container":
        return Resource(
            kind,
            {
                "project_id": project,
                "location": ask("instance/attributes/cluster-location") or zone or "global",
                "cluster_name": ask("instance/attributes/cluster-name") or "unknown",
                "namespace_name": environ.get("POD_NAMESPACE") or _namespace() or "default",
                "pod_name": environ.get("POD_NAME") or environ.get("HOSTNAME") or host,
                "container_name": environ.get("CONTAINER_NAME") or "trainer",
            },
        )
    if kind == "gce_instance":
        return Resource(
            kind,
            {
                "project_id": project,
                "instance_id": ask("instance/id") or host,
                "zone": zone or "unknown",
            },
        )
    return Resource(
        "generic_task",
        {
            "project_id": project,
            # A region: a job that moves to another zone of it goes on with its series.
            "location": zone.rpartition("-")[0] or "global",
            "namespace": "tpudiag",
            "job": job,
            "task_id": task,
        },
    )


def worker(environ: Mapping[str, str], host: str) -> str:
    """What tells this worker from the others of the job."""
    number = environ.get("TPU_WORKER_ID") or environ.get("CLOUD_TPU_TASK_ID")
    return f"worker-{number}" if number else host


def metadata(path: str) -> str | None:
    """What the metadata server says; None away from Google Cloud."""
    if not _METADATA_THERE:
        return None
    request = urllib.request.Request(METADATA + path, headers={"Metadata-Flavor": "Google"})
    try:
        with urllib.request.urlopen(request, timeout=METADATA_S) as answer:
            text: str = answer.read().decode()
            return text
    # The server is there and does not know this one value: the next question is worth asking.
    except urllib.error.HTTPError:
        return None
    except (OSError, ValueError):
        _METADATA_THERE.clear()
        return None


_METADATA_THERE = [True]
"""Emptied at the first failure, so that the next question does not wait again."""


def _namespace() -> str | None:
    """The namespace of a Kubernetes pod."""
    try:
        return Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace").read_text().strip()
    except OSError:
        return None
