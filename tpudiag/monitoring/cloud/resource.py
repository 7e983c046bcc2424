"""Which monitored resource a worker is: each has one of its own, so that no two share a series."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

from tpudiag.monitoring.causes.machine_events import is_googles, told

LONGEST_LABEL = 1024
RESOURCE = "generic_task"
"""The type of all: on GKE managed Prometheus knows pods and containers."""


@dataclass(frozen=True)
class PointSource:
    """Who writes a point: the labels of the resource and of the metric, as pairs in order."""

    resource: tuple[tuple[str, str], ...]
    labels: tuple[tuple[str, str], ...]

    @property
    def text(self) -> str:
        """It as one line, for a file; the same for the same source."""
        return json.dumps([RESOURCE, dict(self.resource), dict(self.labels)], sort_keys=True)

    def marked(self, **labels: str) -> PointSource:
        """The same with further labels of the metric."""
        return replace(self, labels=tuple(sorted({**dict(self.labels), **labels}.items())))

    @classmethod
    def of(cls, text: str) -> PointSource:
        """The source that this text stands for."""
        _, resource, labels = json.loads(text)
        return cls(tuple(sorted(resource.items())), tuple(sorted(labels.items())))


def point_source(project: str, job: str, task: str) -> PointSource:
    """The source of a job's worker; `task` tells it from all others."""
    resource = {
        "project_id": project,
        "location": region() or "global",
        "namespace": "tpudiag",
        "job": job,
        "task_id": task,
    }
    labels = {"training_job": job[:LONGEST_LABEL], "worker": task[:LONGEST_LABEL]}
    return PointSource(tuple(sorted(resource.items())), tuple(sorted(labels.items())))


def worker(environ: Mapping[str, str], host: str) -> str:
    """What tells this worker from the others of the job."""
    number = environ.get("TPU_WORKER_ID") or environ.get("CLOUD_TPU_TASK_ID")
    return f"worker-{number}" if number else host


@cache
def region() -> str:
    """The region of this machine; nothing away from Google Cloud.

    A job that moves to another zone of it goes on with its series.
    """
    zone = told("zone") if is_googles() else None
    return (zone or "").rpartition("/")[2].rpartition("-")[0]
