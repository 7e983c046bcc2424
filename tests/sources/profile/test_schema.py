from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tpudiag.sources.profile import schema


@pytest.fixture(scope="module")
def theirs() -> ModuleType:
    """TensorFlow's generated module, without the import of TensorFlow."""
    tensorflow = find_spec("tensorflow")
    if tensorflow is None or not tensorflow.submodule_search_locations:
        pytest.skip("TensorFlow is not installed")
    folder = Path(tensorflow.submodule_search_locations[0])
    file = folder / "tsl" / "profiler" / "protobuf" / "xplane_pb2.py"
    if not file.is_file():
        pytest.skip("this TensorFlow keeps xplane_pb2 elsewhere")
    spec = spec_from_file_location("xplane_pb2", file)
    assert spec and spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def fields(descriptor: Any) -> dict[int, tuple[str, int, str | None, str | None]]:
    return {
        field.number: (
            field.name,
            field.type,
            field.message_type and field.message_type.name,
            field.containing_oneof and field.containing_oneof.name,
        )
        for field in descriptor.fields
    }


@pytest.mark.parametrize(
    "name", ["XSpace", "XPlane", "XLine", "XEvent", "XStat", "XEventMetadata", "XStatMetadata"]
)
def test_is_tensorflows_schema(theirs: ModuleType, name: str) -> None:
    ours = fields(vars(schema.message(name))["DESCRIPTOR"])
    for number, field in fields(getattr(theirs, name).DESCRIPTOR).items():
        assert ours.pop(number) == field
    assert set(ours) <= ({8} if name == "XStat" else set()), "newer than this TensorFlow"


def test_reads_what_tensorflow_writes(theirs: ModuleType, real: Path) -> None:
    whole = theirs.XSpace()
    whole.ParseFromString(real.read_bytes())
    made: Any = schema.message("XSpace")()
    made.ParseFromString(real.read_bytes())
    assert str(made) == str(whole)
