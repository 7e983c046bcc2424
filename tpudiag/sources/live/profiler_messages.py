"""The messages of TensorFlow's profiler service."""

from tpudiag.sources.profile import wire
from tpudiag.sources.profile.schema import message, parsed

PROFILE = "/tensorflow.ProfilerService/Profile"
TERMINATE = "/tensorflow.ProfilerService/Terminate"
MONITOR = "/tensorflow.ProfilerService/Monitor"
SNAPSHOT = "/tensorflow.ProfilerService/GetSnapshot"
_HOST_LEVEL = 2
"""Of the host tracer: what tf.profiler.experimental.start records by default."""
_PLANES, _LINES, _EVENTS = 1, 3, 4
"""Fields of XSpace, XPlane and XLine."""


def profile_request(session: str, host: str, duration_ms: int, repository: str) -> bytes:
    """A ProfileRequest for the XSpace itself.

    Trainers before TensorFlow 2.21 do not know that field: they write the file into `repository`.
    """
    request = message("ProfileRequest")(
        duration_ms=duration_ms,
        opts=message("ProfileOptions")(
            version=1,
            include_dataset_ops=1,
            host_tracer_level=_HOST_LEVEL,
            device_tracer_level=1,
            enable_hlo_proto=1,
            duration_ms=duration_ms,
        ),
        repository_root=repository,
        session_id=session,
        host_name=host,
        emit_xspace=1,
    )
    return bytes(request.SerializeToString())


def terminate_request(session: str) -> bytes:
    """A TerminateRequest: ends the capture of this session, and does nothing to others."""
    return bytes(message("TerminateRequest")(session_id=session).SerializeToString())


def xspace(response: bytes) -> memoryview:
    """The XSpace in a ProfileResponse, empty where there is none; raises Damaged."""
    return memoryview(parsed("ProfileResponse", response).xspace)


def has_events(space: memoryview) -> bool:
    """Whether anything was traced: an idle trainer's XSpace has planes without events."""
    return any(
        True
        for plane in wire.parts(space, _PLANES)
        for line in wire.parts(plane, _LINES)
        for _ in wire.parts(line, _EVENTS)
    )
