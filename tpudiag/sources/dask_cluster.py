"""A connection to a Dask cluster, for whatever is spread over its workers."""

from __future__ import annotations

import logging
import socket
from importlib import import_module
from typing import Any

from tpudiag.errors import MissingExtra, UnreadableInput

KNOCK_S = 5.0
"""How long the scheduler's port may take to answer."""
CONNECT_S = 20.0


def connected(option: str, address: str) -> Any:
    """A client of the scheduler at `host:port`; raises UnreadableInput and MissingExtra.

    `option` is what the user wrote, for the error.
    """
    distributed = package(option)
    quieten()
    host, _, port = address.rpartition(":")
    try:
        # Knocked first: the client tries a closed port again and again for all of its time.
        socket.create_connection((host.strip("[]"), int(port)), KNOCK_S).close()
        return distributed.Client(f"tcp://{address}", timeout=CONNECT_S)
    except (OSError, OverflowError, TimeoutError, ValueError) as error:
        raise UnreadableInput(f"{option}: no Dask scheduler answers: {line(error)}") from error


def package(option: str) -> Any:
    """The package, which the extra `dask` brings; raises MissingExtra."""
    try:
        return import_module("distributed")
    except ImportError as error:
        raise MissingExtra(
            f"{option} needs the extra `dask`: pip install 'tpudiag[dask]'"
        ) from error


def quieten() -> None:
    """Keep the package's own log off stderr: what fails is told in the report."""
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL)


def line(error: BaseException) -> str:
    """An error as one line."""
    return " ".join(str(error).split()) or type(error).__name__
