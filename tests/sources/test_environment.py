"""Finding a TPU on the PCI bus or in the environment, and addresses that refuse."""

import socket
from pathlib import Path

import pytest

from tpudiag.sources import environment


def device(root: Path, name: str, vendor: str, device_id: str, subsystem: str = "0x0000") -> None:
    folder = root / name
    folder.mkdir()
    (folder / "vendor").write_text(vendor + "\n")
    (folder / "device").write_text(device_id + "\n")
    (folder / "subsystem_device").write_text(subsystem + "\n")


@pytest.mark.parametrize(
    ("device_id", "subsystem", "generation"),
    [("0x0063", "0x0000", "v5e"), ("0x006f", "0x0000", "v6e"), ("0x0027", "0x004f", "v3")],
)
def test_a_tpu_on_the_bus_is_found(
    tmp_path: Path, device_id: str, subsystem: str, generation: str
) -> None:
    for index in range(4):
        device(tmp_path, f"0000:00:0{index}.0", "0x1ae0", device_id, subsystem)
    device(tmp_path, "0000:01:00.0", "0x10de", "0x0063")
    found = environment.find_tpu({}, tmp_path)
    assert found is not None
    assert (found.ask, found.generation, found.chips) == ("local", generation, 4)


def test_another_accelerator_is_no_tpu(tmp_path: Path) -> None:
    device(tmp_path, "0000:01:00.0", "0x10de", "0x0063")
    device(tmp_path, "0000:02:00.0", "0x1ae0", "0x9999")
    assert environment.find_tpu({}, tmp_path) is None


def test_a_variable_names_the_tpu_that_is_here_and_alone_is_none(tmp_path: Path) -> None:
    assert environment.find_tpu({"TPU_NAME": "mine"}, tmp_path) is None
    device(tmp_path, "0000:00:01.0", "0x1ae0", "0x0063")
    found = environment.find_tpu({"TPU_NAME": "mine"}, tmp_path)
    assert found is not None
    assert found.ask == "mine"


def test_a_closed_port_refuses_and_an_open_one_does_not() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert environment.refused(f"grpc://127.0.0.1:{port}") is None
    said = environment.refused(f"grpc://127.0.0.1:{port}")
    assert said is not None
    assert "refused" in said


def test_a_name_is_not_an_address() -> None:
    assert environment.refused("my-tpu") is None
