"""The hooks on sends, for the job itself and the Pythons that it starts."""

from collections.abc import Callable

from tpudiag.signals import SendKind
from tpudiag.sources.job.held_back import connections
from tpudiag.sources.job.held_back.calls import Calls
from tpudiag.sources.job.held_back.program_shim import note
from tpudiag.sources.job.held_back.remote_calls import RemoteCalls
from tpudiag.sources.job.held_back.requests import Requests
from tpudiag.sources.job.points import Watches


def by_module(note_kind: Callable[[SendKind, str], None]) -> Watches:
    """The hooks by the module whose import triggers them."""
    every = (Requests(note_kind), RemoteCalls(note_kind), Calls(note_kind))
    return {name: watch for each in every for name, watch in each.by_module().items()}


def of_child() -> Watches:
    """The same in a Python that the job started, which appends to the job's file."""
    known = by_module(lambda kind, what: note(kind.value, what))
    return {**known, "socket": lambda _: connections.refuse()}
