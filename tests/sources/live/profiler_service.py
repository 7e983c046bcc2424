"""Profiler services on loopback that answer as TensorFlow's do."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import grpc

from tests import loopback
from tests.loopback import Functions
from tpudiag.sources.live.address import Address
from tpudiag.sources.profile.schema import message

Profile = Callable[[bytes], bytes]
HOST = {"name": "/host:CPU"}
SPACE = bytes(message("XSpace")(planes=[{**HOST, "lines": [{"events": [{}]}]}]).SerializeToString())
"""A plane with a line with an event."""
EMPTY = bytes(message("XSpace")(planes=[HOST]).SerializeToString())


def served(profile: Profile, old: bool = False) -> AbstractContextManager[Address]:
    """A profiler service as TensorFlow's answers; `old` is one before 2.21."""

    def refuse(_: bytes, context: Any) -> bytes:
        context.abort(grpc.StatusCode.UNIMPLEMENTED, "unimplemented.")
        raise AssertionError

    def none_yet(_: bytes, context: Any) -> bytes:
        context.abort(grpc.StatusCode.NOT_FOUND, "No continuous profiling session found.")
        raise AssertionError

    functions: Functions = {
        "Profile": lambda request, _: profile(request),
        "Terminate": lambda _, __: b"",
        "Monitor": refuse,
    }
    if not old:
        functions["GetSnapshot"] = none_yet
    return loopback.serving_grpc("tensorflow.ProfilerService", functions)


def response(space: bytes) -> bytes:
    return bytes(message("ProfileResponse")(xspace=space).SerializeToString())
