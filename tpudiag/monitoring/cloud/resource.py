"""The monitored resource of a worker: each has its own, so that no two share a series."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache

from tpudiag.monitoring.causes.machine_events import is_googles, metadata

LONGEST_LABEL = 1024
RESOURCE = "generic_task"
"""Used for all: on GKE managed Prometheus knows pods and containers."""


@dataclass(frozen=True)
class PointSource:
    """The writer of a point: labels of the resource and of the metric, as ordered pairs."""

    resource: tuple[tuple[str, str], ...]
    labels: tuple[tuple[str, str], ...]

    @property
    def text(self) -> str:
        """One line for a file; equal for equal sources."""
        return json.dumps([RESOURCE, dict(self.resource), dict(self.labels)], sort_keys=True)

    def marked(self, **labels: str) -> PointSource:
        """The same source with further metric labels."""
        return replace(self, labels=tuple(sorted({**dict(self.labels), **labels}.items())))

    @classmethod
    def of(cls, text: str) -> PointSource:
        """The source of a text."""
        _, resource, labels = json.loads(text)
        return cls(tuple(sorted(resource.items())), tuple(sorted(labels.items())))


def point_source(project: str, job: str, task: str) -> PointSource:
    """The source of a job's worker; `task` distinguishes it from all others."""
    resource = {
        "project_id": project,
        "location": region() or "global",
        "namespace": "tpudiag",
        "job": job,
        "task_id": task,
    }
    labels = {"training_job": job[:LONGEST_LABEL], "worker": task[:LONGEST_LABEL]}
    return PointSource(tuple(sorted(resource.items())), tuple(sorted(labels.items())))


@cache
def region() -> str:
    """The region of this machine; empty outside Google Cloud.

    A job that moves to another zone of the region continues its series.
    """
    zone = metadata("zone") if is_googles() else None
    return (zone or "").rpartition("/")[2].rpartition("-")[0]
