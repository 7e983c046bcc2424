"""The generator of XSpaces that the tests of the profile source use, and the TPU emulator."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

EMULATOR = Path(__file__).parents[1] / "tpu_emulator.py"
SPACES = Path(__file__).parents[1] / "sources" / "profile" / "spaces.py"


@pytest.fixture(scope="session")
def spaces() -> ModuleType:
    return loaded("spaces", SPACES)


@pytest.fixture(scope="session")
def tpus() -> ModuleType:
    return loaded("tpu_emulator", EMULATOR)


def loaded(name: str, file: Path) -> ModuleType:
    spec = spec_from_file_location(name, file)
    assert spec and spec.loader
    module = module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module
