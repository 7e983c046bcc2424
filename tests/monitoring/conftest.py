"""What the tests of monitoring share: generated traces, and Cloud Monitoring on loopback."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

HERE = Path(__file__).parent


def loaded(name: str) -> ModuleType:
    spec = spec_from_file_location(f"tpudiag_tests_{name}", HERE / f"{name}.py")
    assert spec and spec.loader
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def traces() -> ModuleType:
    return loaded("traces")


@pytest.fixture(scope="session")
def emulators() -> ModuleType:
    return loaded("emulator")


@pytest.fixture
def emulator(emulators: ModuleType) -> Iterator[Any]:
    made = emulators.Emulator()
    yield made
    made.close()


@pytest.fixture(scope="session")
def recordings() -> ModuleType:
    return loaded("recordings")


@pytest.fixture(scope="session")
def event_files() -> ModuleType:
    return loaded("event_files")
