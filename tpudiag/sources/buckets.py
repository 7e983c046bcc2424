"""Queries Google Cloud Storage for buckets' versioning, where credentials allow."""

from collections.abc import Iterable
from importlib import import_module
from typing import Any

from tpudiag.signals import BucketSeen
from tpudiag.sources.job.points import bounded_call

LIMIT_S = 10
"""The time limit of all answers: without credentials the client searches a metadata server."""


def look(paths: Iterable[str], limit_s: float = LIMIT_S) -> tuple[BucketSeen, ...]:
    """The buckets of these paths; one that could not be queried has the reason."""
    names = sorted({path.split("/")[2] for path in paths if path.startswith("gs://")} - {""})
    seen = {name: BucketSeen(name, None, f"no answer within {limit_s:.0f} s") for name in names}

    def ask() -> None:
        try:
            client: Any = import_module("google.cloud.storage").Client()
        except Exception as error:
            for name in names:
                seen[name] = BucketSeen(name, None, _first_line(error))
            return
        for name in names:
            try:
                bucket = client.get_bucket(name, timeout=limit_s)
                seen[name] = BucketSeen(name, bool(bucket.versioning_enabled))
            except Exception as error:
                seen[name] = BucketSeen(name, None, _first_line(error))

    if names:
        # In a thread that may be abandoned: the client's search for credentials cannot be limited.
        bounded_call.within(limit_s, ask)
    return tuple(seen.values())


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)[:200]
