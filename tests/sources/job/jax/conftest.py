"""JAX, as it is installed."""

from importlib import import_module
from typing import Any

import pytest


@pytest.fixture(scope="package")
def jax() -> Any:
    return import_module("jax")
