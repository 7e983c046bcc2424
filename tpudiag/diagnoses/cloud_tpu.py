"""A Cloud TPU for `attach --tpu`: its state in the API, and its workers' addresses."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from tpudiag.errors import TpudiagError, UsageError
from tpudiag.hardware import Target, target
from tpudiag.monitoring.causes.machine_events import MachineEvent, of_node
from tpudiag.report_figures import Table
from tpudiag.signals import EMPTY, CloudTpu, Environment, Signals, UnreadHost
from tpudiag.sources import environment
from tpudiag.sources.job.process import job_python
from tpudiag.sources.live.address import Address

if TYPE_CHECKING:
    from tpudiag.monitoring.causes.investigation import Tools

EVENT_LIMIT_S = 4.0
SPOT = (
    "TPU {} is preemptible or Spot: it may be taken away at any time. Save checkpoints often, and "
    "resume from the last."
)
NETWORK = (
    "Workers are asked at their addresses inside the network. From outside, forward the port: "
    "gcloud compute tpus tpu-vm ssh {name} --zone {zone} --project {project} -- "
    "-L {port}:localhost:{port}, then tpudiag attach localhost:{port}."
)


@dataclass(frozen=True, kw_only=True)
class Located:
    """What is known of a Cloud TPU, of a job's pods, or of trainers, before any is captured.

    Empty where none was named.
    """

    name: str | None = None
    known: Signals = EMPTY
    workers: tuple[Address, ...] = ()
    tables: tuple[Table, ...] = ()
    faults: tuple[UnreadHost, ...] = ()
    notes: tuple[str, ...] = ()
    headline: str = ""


def asked_of(name: str | None, project: str | None, zone: str | None, port: int) -> Located:
    """Query the Cloud TPU API; raises NothingDiagnosed and UsageError where it does not answer."""
    if name is None:
        return Located()
    from tpudiag.sources.live import cloud

    node = cloud.ask(name, project, zone)
    here = environment.find_tpu() is not None
    known = replace(
        EMPTY,
        target=_target(node),
        cloud_tpu=node,
        # The packages installed here matter only on the TPU's own VM.
        environment=_job_environment() if here else None,
    )
    workers = tuple(Address(host, port) for host in node.workers) if node.state == "READY" else ()
    notes = [SPOT.format(node.name)] if node.preemptible else []
    if workers and not here:
        place = {"name": node.name, "zone": node.zone, "project": node.project}
        notes.append(NETWORK.format(**place, port=port))
    return Located(
        name=node.name,
        known=known,
        workers=workers,
        tables=(_table(node),),
        notes=tuple(notes),
        headline=f"TPU {node.name} ({node.accelerator_type}) is {node.state}, {node.health}; "
        f"no profile of its {len(node.workers)} workers.",
    )


def event_of(name: str, project: str | None, zone: str | None) -> MachineEvent | None:
    """The TPU's current event in the API; None where it is healthy or unknown."""
    from tpudiag.sources.live import cloud

    try:
        # In a watch of days the API fails now and then, which is no event.
        return of_node(cloud.ask(name, project, zone, EVENT_LIMIT_S))
    except TpudiagError:
        return None


def tools_for(name: str | None, project: str | None, zone: str | None) -> Tools | None:
    """What looks for the causes of a watch, its TPU's state among it; None where none was named."""
    if name is None:
        return None
    from tpudiag.monitoring.causes.investigation import Tools

    return Tools(node=partial(event_of, name, project, zone))


def _job_environment() -> Environment | None:
    """The packages for jobs on this TPU VM; None where no Python with TensorFlow is found."""
    with suppress(TpudiagError):
        return job_python.environment_of(job_python.choose())
    return None


def _target(node: CloudTpu) -> Target | None:
    with suppress(UsageError):
        return target(node.accelerator_type)
    return None


def _table(node: CloudTpu) -> Table:
    rows = (
        ("state", node.state),
        ("health", node.health + (f": {node.health_description}" * bool(node.health_description))),
        ("accelerator type", node.accelerator_type),
        ("runtime version", node.runtime_version),
        ("zone", node.zone),
        ("preemptible or Spot", "yes" if node.preemptible else "no"),
        ("workers", " ".join(node.workers) or "none"),
        *(("symptom", symptom) for symptom in node.symptoms),
    )
    return Table(f"TPU {node.name}", ("what", "says"), rows, "Cloud TPU API")
