"""The generator of XSpaces that the tests of the profile source use."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

SPACES = Path(__file__).parents[1] / "sources" / "profile" / "spaces.py"


@pytest.fixture(scope="session")
def spaces() -> ModuleType:
    spec = spec_from_file_location("spaces", SPACES)
    assert spec and spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
