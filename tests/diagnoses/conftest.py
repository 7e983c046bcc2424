"""The generator of XSpaces."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def spaces() -> ModuleType:
    """The module that makes XSpaces, beside the tests of the profile source."""
    file = Path(__file__).parents[1] / "sources" / "profile" / "spaces.py"
    spec = spec_from_file_location("spaces", file)
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
