"""Whether there is a profiler service at an address; a harmless probe, without TensorFlow.

`Terminate` of a session that nobody has answers OK and does nothing; `Monitor` is not there, in
words of the profiler's own.
"""

import socket
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import grpc

from tpudiag.sources.job.points import bounded_call
from tpudiag.sources.live import profiler_messages
from tpudiag.sources.live.address import Address
from tpudiag.sources.live.channel import channel, code_of, details_of, method

LIMIT_S = 5.0
MOST_AT_ONCE = 256
NO_PROFILER = "a gRPC server, but no profiler service of TensorFlow's or JAX'"
SILENT = "listens, but did not answer within {:g} s"
_NOBODY = "tpudiag-probe-no-such-session"


@dataclass(frozen=True)
class Probe:
    """The result of probing an address."""

    address: Address
    fault: str | None = None
    """Why there is no profile from there, in one line; None where a profiler service answered."""
    sends_profile: bool = True
    """Whether it can send the profile in its answer (TensorFlow 2.21 on), or must write it."""


def probe_all(addresses: Sequence[Address], limit_s: float = LIMIT_S) -> tuple[Probe, ...]:
    """All addresses at once, each within the limit."""
    if not addresses:
        return ()
    with ThreadPoolExecutor(min(len(addresses), MOST_AT_ONCE)) as pool:
        return tuple(pool.map(partial(probe, limit_s=limit_s), addresses))


def probe(address: Address, limit_s: float = LIMIT_S) -> Probe:
    """Probe the address; never raises, whatever is there."""
    ends = time.monotonic() + limit_s

    def left_s() -> float:
        return max(0.05, ends - time.monotonic())

    # In a thread of its own, which may be abandoned: getaddrinfo waits for a name server as long as
    # resolv.conf says, uninterruptibly.
    answer = bounded_call.within(limit_s + 0.2, lambda: (_connection(address, limit_s),))
    late = f"no connection within {limit_s:g} s: the name service or the host does not answer"
    fault = late if answer is None else answer[0]
    if fault is not None:
        return Probe(address, fault)
    with channel(address) as opened:
        try:
            # Any request would do; this one changes nothing, since no session has that name.
            nobody = profiler_messages.terminate_request(_NOBODY)
            method(opened, profiler_messages.TERMINATE)(nobody, timeout=0.6 * left_s())
        except grpc.RpcError as error:
            return Probe(address, _fault(error, limit_s))
        # A server without the service refuses without text; TensorFlow's says `unimplemented.`.
        refusal = _refused(opened, profiler_messages.MONITOR, left_s())
        if refusal is not None and not details_of(refusal):
            return Probe(address, NO_PROFILER)
        # GetSnapshot came with the profile in the answer.
        refusal = _refused(opened, profiler_messages.SNAPSHOT, left_s())
        return Probe(address, sends_profile=refusal is None)


def _connection(address: Address, limit_s: float) -> str | None:
    """Why no TCP connection is possible, the name waited for as long as necessary."""
    try:
        socket.create_connection((address.host, address.port), timeout=limit_s).close()
    except socket.gaierror as error:
        return f"no such host ({error.strerror})"
    except ConnectionRefusedError:
        return (
            "nobody listens there: the trainer needs "
            f"tf.profiler.experimental.server.start({address.port}), or in JAX "
            f"jax.profiler.start_server({address.port})"
        )
    except TimeoutError:
        return f"no connection within {limit_s:g} s: not reachable from here, or behind a firewall"
    except OSError as error:
        return f"not reachable: {error.strerror or error}"
    return None


def _fault(error: grpc.RpcError, limit_s: float) -> str:
    """Describes a port on which the profiler's method failed."""
    if code_of(error) is grpc.StatusCode.UNIMPLEMENTED:
        return NO_PROFILER
    if code_of(error) is grpc.StatusCode.DEADLINE_EXCEEDED:
        return SILENT.format(limit_s)
    told = details_of(error) or code_of(error).name
    return f"no profiler service; a proxy, or another server (HTTP, TLS)? gRPC says: {told}"


def _refused(opened: grpc.Channel, name: str, limit_s: float) -> grpc.RpcError | None:
    """The error by which a server says that it has no such method; None where it has."""
    try:
        method(opened, name)(b"", timeout=limit_s)
    except grpc.RpcError as error:
        return error if code_of(error) is grpc.StatusCode.UNIMPLEMENTED else None
    return None
