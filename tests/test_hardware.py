"""Names of TPUs as users write them."""

from __future__ import annotations

import pytest

from tpudiag.errors import UsageError
from tpudiag.hardware import by_device_kind, target


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
    assert (found.name, found.chips, found.replicas, found.hosts) == (
        canonical, chips, replicas, hosts,
    )  # fmt: skip


@pytest.mark.parametrize("name", ["", "v5e", "v9-8", "v5e-0", "v3-7", "v5e-8x", "-8"])
def test_no_tpu_has_such_a_name(name: str) -> None:
    with pytest.raises(UsageError):
        target(name)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("TPU v3", "v3"), ("TPU v5 lite", "v5e"), ("TPU v5e", "v5e"), ("TPU v5", "v5p"),
        ("TPU v5p", "v5p"), ("TPU v6 Lite", "v6e"), ("TPU v6e", "v6e"), ("TPU7x", "tpu7x"),
        ("TPU v7x", "tpu7x"),
    ],
)  # fmt: skip
def test_a_device_kind_names_its_generation(kind: str, name: str) -> None:
    assert (found := by_device_kind(kind)) is not None
    assert found.name == name


def test_another_device_is_no_tpu() -> None:
    assert by_device_kind("Tesla T4") is None
