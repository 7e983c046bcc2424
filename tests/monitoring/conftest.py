"""What the tests of monitoring share: generated traces, and Cloud Monitoring on loopback."""

from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest


@pytest.fixture(scope="session")
def emulators() -> ModuleType:
    return import_module("tests.monitoring.emulator")  # dear: for those that ask it alone


@pytest.fixture
def emulator(emulators: ModuleType) -> Iterator[Any]:
    made = emulators.Emulator()
    yield made
    made.close()
