"""The pods of a job on Kubernetes: their addresses, and reports on those that do not run."""

from tpudiag.diagnoses.cloud_tpu import Located
from tpudiag.diagnoses.report_parts import Columns, table
from tpudiag.errors import NothingDiagnosed
from tpudiag.signals import UnreadHost
from tpudiag.sources.live.address import Address
from tpudiag.sources.live.pods import Pod, Selection, pods

DONE = "Succeeded"
"""The phase of a pod that completed: nothing is wrong with it."""
NETWORK = (
    "Pods are asked at their addresses inside the cluster. From outside, forward the port: kubectl "
    "port-forward pod/{name} --namespace {namespace} {port}:{port}, then tpudiag attach "
    "localhost:{port}."
)
COLUMNS: Columns[Pod] = {
    "worker": lambda pod: "" if pod.index is None else pod.index,
    "pod": lambda pod: pod.name,
    "phase": lambda pod: pod.phase,
    "address": lambda pod: pod.address or "",
    "node": lambda pod: pod.node,
    "chips": lambda pod: pod.chips,
    "restarts": lambda pod: pod.restarts,
    "last end": lambda pod: pod.ended,
}


def selected(selection: Selection | None, port: int) -> Located:
    """List the pods from the API server; raises NothingDiagnosed and UsageError."""
    if selection is None:
        return Located()
    listed = pods(selection)
    running = [pod for pod in listed if pod.runs]
    note = NETWORK.format(name=listed[0].name, namespace=listed[0].namespace, port=port)
    return Located(
        workers=tuple(Address(str(pod.address), port) for pod in running),
        tables=(table(f"Pods of {selection.selector}", COLUMNS, listed, "Kubernetes API"),),
        faults=tuple(
            UnreadHost(
                f"pod {pod.name}", f"is {pod.phase}" + (f": {pod.ended}" if pod.ended else "")
            )
            for pod in listed
            if not pod.runs and pod.phase != DONE
        ),
        notes=(note,),
        headline=f"{len(running)} of {len(listed)} pods of {selection.selector} run; no profile.",
    )


def addresses_of(
    selection: Selection | None, cloud: Located, port: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The workers of a Cloud TPU and of a selector, as sources to watch; a line for each other one.

    Raises NothingDiagnosed where something was named but no worker runs.
    """
    job = selected(selection, port)
    lacking = tuple(f"{host.name}: {host.reason}" for host in job.faults)
    workers = tuple(str(at) for at in (*cloud.workers, *job.workers))
    if not workers and (selection is not None or cloud.name is not None):
        raise NothingDiagnosed("; ".join(lacking) or job.headline or cloud.headline)
    return workers, lacking
