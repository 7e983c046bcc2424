"""The paths visible to the hosts of a TPU."""

import re

from tpudiag.model import NotMeasured
from tpudiag.signals import Signals

from ._need import need

# /gcs is where Vertex AI mounts buckets; /bigstore and /cns are file systems of Google's own.
_ANYWHERE = re.compile(r"^[a-z][a-z0-9+.-]+://|^/(gcs|bigstore|cns)/")
_HERE = ("", "local")


def is_local(path: str) -> bool:
    """Whether a path is on one machine's disk, and names no service such as gs://."""
    return bool(path) and not _ANYWHERE.match(path)


def hosts(signals: Signals) -> int:
    """The target's hosts, including the one that runs the script."""
    return need(signals.target, "the target").hosts


def refuse_unknown_worker(signals: Signals, local: tuple[str, ...]) -> None:
    """Skip where a one-host TPU was requested by name: it may be this machine or another."""
    named = signals.tpu_named or ""
    if local and named not in _HERE:
        raise NotMeasured(
            f"{local[0]} is a local path, and whether the TPU {named!r} is this machine is not "
            "known",
            'on a TPU VM of its own name it `tpu="local"`; for another machine use gs:// paths',
        )
