"""Runs in each Python that a rehearsed job starts, of any version and packages.

Nothing is imported until the child itself imports something that sends. The `sitecustomize` hidden
by this one runs as well.
"""

import importlib
import importlib.util
import os
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any, Optional, Sequence  # noqa: UP035

_HERE = os.path.dirname(os.path.abspath(__file__))
_NAMES = {
    *("http.client", "httpcore", "httpcore2", "aiohttp", "smtplib", "ftplib", "grpc"),
    *("huggingface_hub.hf_api", "kagglehub", "kaggle.api.kaggle_api_extended"),
}
_CLOSED = "no network: tpudiag could not tell in this Python what sends, a defect of its own"
if os.environ.get("TPUDIAG_OFFLINE"):
    _NAMES.add("socket")


def _load(name: str, path: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class _Watch(MetaPathFinder):
    """Hooks modules that send at their import."""

    def find_spec(
        self,
        name: str,
        path: Sequence[str] | None,
        target: Optional[ModuleType] = None,  # noqa: UP045
    ) -> Optional[ModuleSpec]:  # noqa: UP045
        """The other finders' spec, with its loader wrapped."""
        if name not in _NAMES:
            return None
        _NAMES.discard(name)
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(name, path, target)
            if spec is not None and spec.loader is not None:
                _follow(spec.loader, name)
                return spec
        return None


def _follow(loader: Any, name: str) -> None:
    """Hook a module once it is loaded; where that fails, block the network."""
    execute = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        execute(module)
        try:
            if not any(type(finder).__name__ == "OwnPackage" for finder in sys.meta_path):
                process = os.path.join(os.path.dirname(os.path.dirname(_HERE)), "process")
                bootstrap = _load("_tpudiag_bootstrap", os.path.join(process, "bootstrap.py"))
                sys.meta_path.insert(0, bootstrap.OwnPackage())
            calls: Any = importlib.import_module("tpudiag.sources.job.held_back.calls")
            calls.of_child()[name](module)
        except Exception:
            _close()

    loader.exec_module = exec_module


def _close() -> None:
    """Allow connections to this machine only, since sends could not be held back."""
    import errno
    import socket

    connect: Any = socket.socket.connect

    def near(own: Any, address: Any) -> Any:
        inner = own.family in (socket.AF_INET, socket.AF_INET6)
        if inner and not str(address[0]).startswith(("127.", "localhost", "::1")):
            raise OSError(errno.ENETUNREACH, _CLOSED)
        return connect(own, address)

    socket.socket.connect = near  # type: ignore[method-assign]


def _hidden() -> None:
    """Run the `sitecustomize` hidden by this one."""
    others = [each for each in sys.path if os.path.abspath(each or ".") != _HERE]
    spec = PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


if os.environ.get("TPUDIAG_SENDS"):
    sys.meta_path.insert(0, _Watch())
_hidden()
