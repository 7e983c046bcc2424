"""Clients of Google Cloud's APIs: with this machine's credentials, or at an emulator."""

import re
from importlib import import_module
from typing import Any

from tpudiag.errors import TpudiagError


def client(
    package: str, name: str, scope: str, endpoint: str | None, missing: TpudiagError
) -> tuple[Any, str | None]:
    """A service's client, and the credentials' project; raises `missing` without credentials.

    `endpoint` is a server without TLS and credentials.
    """
    made: Any = getattr(import_module(package), f"{name}Client")
    if endpoint:
        folder = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
        transports: Any = import_module(f"{package}.services.{folder}.transports")
        grpc: Any = import_module("grpc")
        transport = getattr(transports, f"{name}GrpcTransport")
        return made(transport=transport(channel=grpc.insecure_channel(endpoint))), None
    auth: Any = import_module("google.auth")
    from google.auth.exceptions import GoogleAuthError

    try:
        credentials, project = auth.default(scopes=[f"https://www.googleapis.com/auth/{scope}"])
    except (GoogleAuthError, OSError) as error:
        raise missing from error
    return made(credentials=credentials), project


def patience(limit_s: float) -> Any:
    """Retries calls while the service is unavailable, within the limit; for those that only read.

    A create or write may have succeeded although its answer was lost.
    """
    from google.api_core.exceptions import ServiceUnavailable
    from google.api_core.retry import Retry, if_exception_type

    unavailable: Any = if_exception_type(ServiceUnavailable)
    return Retry(predicate=unavailable, initial=0.2, maximum=2.0, timeout=limit_s)
