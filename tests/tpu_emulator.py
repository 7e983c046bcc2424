"""The Cloud TPU API as far as tpudiag asks it, over real gRPC on loopback; fails on demand."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc
from google.cloud import tpu_v2

from tests import loopback

SERVICE = "google.cloud.tpu.v2.Tpu"
PAGE = 2
"""Nodes in one answer of ListNodes."""
Code = grpc.StatusCode


@dataclass
class Emulator:
    """The nodes of a project, and what the next calls are refused with."""

    nodes: list[tpu_v2.Node]
    refusals: list[tuple[Code, str]] = field(default_factory=list[tuple[Code, str]])
    refuse_always: tuple[Code, str] | None = None
    calls: int = 0
    host: str = ""

    def get(self, request: tpu_v2.GetNodeRequest, context: Any) -> tpu_v2.Node:
        """GetNode; the name must be whole, and stand in the routing header too."""
        self._admit(context)
        routed = dict(context.invocation_metadata()).get("x-goog-request-params", "")
        if not routed.startswith("name=projects"):
            context.abort(Code.INVALID_ARGUMENT, "no routing header")
        found = [node for node in self.nodes if node.name == request.name]
        if not found:
            context.abort(Code.NOT_FOUND, f"Resource '{request.name}' was not found")
        return found[0]

    def list(self, request: tpu_v2.ListNodesRequest, context: Any) -> tpu_v2.ListNodesResponse:
        """ListNodes, a page at a time; `-` stands for every zone."""
        self._admit(context)
        _, project, _, zone = request.parent.split("/")
        wanted = [
            node
            for node in self.nodes
            if node.name.split("/")[1] == project and zone in ("-", node.name.split("/")[3])
        ]
        at = int(request.page_token or 0)
        more = str(at + PAGE) if at + PAGE < len(wanted) else ""
        return tpu_v2.ListNodesResponse(nodes=wanted[at : at + PAGE], next_page_token=more)

    def _admit(self, context: Any) -> None:
        self.calls += 1
        refusal = self.refusals.pop(0) if self.refusals else self.refuse_always
        if refusal is not None:
            context.abort(*refusal)


def node(name: str, zone: str = "us-central2-b", **fields: Any) -> tpu_v2.Node:
    """A healthy v4-8 with one worker, but for what is given."""
    given: dict[str, Any] = {
        "state": "READY",
        "health": "HEALTHY",
        "accelerator_type": "v4-8",
        "runtime_version": "tpu-vm-tf-2.18.0-pjrt-v5p-and-below",
        "network_endpoints": [{"ip_address": "127.0.0.1", "port": 8470}],
        **fields,
    }
    return tpu_v2.Node(name=f"projects/trial/locations/{zone}/nodes/{name}", **given)


@contextmanager
def emulated(nodes: Sequence[tpu_v2.Node]) -> Generator[Emulator]:
    """A server for the time of the block."""
    emulator = Emulator(list(nodes))
    methods = {
        "GetNode": _method(emulator.get, tpu_v2.GetNodeRequest, tpu_v2.Node),
        "ListNodes": _method(emulator.list, tpu_v2.ListNodesRequest, tpu_v2.ListNodesResponse),
    }
    with loopback.serving_grpc(SERVICE, methods) as address:
        emulator.host = str(address)
        yield emulator


def _method(function: Any, request: Any, response: Any) -> grpc.RpcMethodHandler[Any, Any]:
    return grpc.unary_unary_rpc_method_handler(
        function, request_deserializer=request.deserialize, response_serializer=response.serialize
    )
