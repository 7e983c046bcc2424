"""Names of TPUs as users write them."""

from dataclasses import fields

import pytest

from tpudiag.errors import UsageError
from tpudiag.hardware import (
    GENERATIONS,
    SOURCES,
    Generation,
    by_device_kind,
    by_pci,
    sold,
    sold_target,
    target,
)


@pytest.mark.parametrize(
    ("name", "canonical", "chips", "replicas", "hosts"),
    [
        ("v5e-8", "v5e-8", 8, 8, 1),
        ("v5litepod-16", "v5e-16", 16, 16, 4),
        ("v2-8", "v2-8", 4, 8, 1),
        ("v3-32", "v3-32", 16, 32, 4),
        ("v4-8", "v4-8", 4, 4, 1),
        ("V6E-1", "v6e-1", 1, 1, 1),
        ("v5p-16", "v5p-16", 8, 8, 2),
    ],
)
def test_a_name_gives_chips_replicas_and_hosts(
    name: str, canonical: str, chips: int, replicas: int, hosts: int
) -> None:
    found = target(name)
    counts = (found.chips, found.replicas, found.hosts)
    assert (found.name, counts) == (canonical, (chips, replicas, hosts))


@pytest.mark.parametrize("name", ["", "v5e", "v9-8", "v5e-0", "v3-7", "v5e-8x", "-8"])
def test_no_tpu_has_such_a_name(name: str) -> None:
    with pytest.raises(UsageError):
        target(name)


def test_several_slices_are_refused_for_what_they_are() -> None:
    with pytest.raises(UsageError, match="TPUStrategy spans one"):
        target("2xv5e-256")


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("TPU v3", "v3"),
        ("TPU v5 lite", "v5e"),
        ("TPU v5e", "v5e"),
        ("TPU v5", "v5p"),
        ("TPU v5p", "v5p"),
        ("TPU v6 Lite", "v6e"),
        ("TPU v6e", "v6e"),
        ("TPU7x", "tpu7x"),
        ("TPU v7x", "tpu7x"),
        ("Tesla T4", None),
    ],
)
def test_a_device_kind_names_its_generation(kind: str, name: str | None) -> None:
    found = by_device_kind(kind)
    assert (found and found.name) == name


def test_each_figure_of_a_row_has_its_source() -> None:
    assert set(SOURCES) | {"name"} == {field.name for field in fields(Generation)}
    assert all(SOURCES.values())


@pytest.mark.parametrize(
    ("name", "machine_type", "vcpus", "ram_gb"),
    [
        ("v3-8", "ct3-hightpu-4t", 96, 340),
        ("v3-32", "ct3p-hightpu-4t", 48, 340),
        ("v4-8", "ct4p-hightpu-4t", 240, 407),
        ("v4-16", "ct4p-hightpu-4t", 240, 407),
        ("v5e-1", "ct5lp-hightpu-1t", 24, 48),
        ("v5e-8", "ct5lp-hightpu-8t", 224, 384),
        ("v5e-16", "ct5lp-hightpu-4t", 112, 192),
        ("v6e-1", "ct6e-standard-1t", 44, 176),
        ("v6e-8", "ct6e-standard-8t", 180, 1440),
        ("v6e-16", "ct6e-standard-4t", 180, 720),
    ],
)
def test_the_host_is_the_machine_that_holds_its_chips(
    name: str, machine_type: str, vcpus: int, ram_gb: int
) -> None:
    host = target(name).host
    assert (host.machine_type, host.vcpus, host.ram_gb) == (machine_type, vcpus, ram_gb)


def test_a_slice_that_is_sold_has_a_shape_and_a_host() -> None:
    for generation in GENERATIONS:
        for name in sold(generation):
            assert (made := target(name)).shape is not None, name
            assert made.host.vcpus > 0
    assert target("v5e-3").shape is None
    assert target("v5p-384").shape is not None


def test_a_pci_device_names_its_generation() -> None:
    assert (v3 := by_pci("0x0027", "0x004f")) is not None
    assert v3.name == "v3"
    assert (v5e := by_pci("0x0063", "0xffff")) is not None
    assert v5e.name == "v5e"
    assert by_pci("0x1234", "") is None


def test_a_slice_that_is_not_sold_is_told_with_those_that_are() -> None:
    with pytest.raises(UsageError, match="v5e-1, v5e-4, v5e-8"):
        sold_target("v5e-3")
    assert sold_target("v3-32").replicas == 32
