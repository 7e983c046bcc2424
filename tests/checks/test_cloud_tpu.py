"""What is wrong with a TPU's runtime image, and the image to take instead."""

import importlib

import pytest

from tpudiag.hardware import target
from tpudiag.model import Finding
from tpudiag.signals import CloudTpu, Origin, Signals

WORDS = importlib.import_module("tpudiag.checks._cloud_tpu")
GENERATION = importlib.import_module("tpudiag.checks.generation_unsupported").generation_unsupported


def node(accelerator: str, image: str, workers: int = 1) -> CloudTpu:
    return CloudTpu(
        name="mine",
        project="trial",
        zone="here",
        state="READY",
        health="HEALTHY",
        health_description="",
        accelerator_type=accelerator,
        runtime_version=image,
        preemptible=False,
        workers=tuple(f"10.0.0.{number}" for number in range(workers)),
    )


@pytest.mark.parametrize(
    ("generation", "workers", "image"),
    [
        ("v5e", 1, "tpu-vm-tf-2.16.1-pjrt"),
        ("v6e", 4, "tpu-vm-tf-2.18.0-pod-pjrt-v5e-and-v6"),
        ("v4", 4, "tpu-vm-tf-2.16.1-pod-se"),
    ],
)
def test_the_image_that_works(generation: str, workers: int, image: str) -> None:
    assert WORDS.working_image(node("any", "tpu-vm-tf-2.14.0", workers), generation) == image


def fixes(seen: CloudTpu, name: str) -> list[str]:
    signals = Signals(origin=Origin.PROFILE, cloud_tpu=seen, target=target(name))
    return [item.fix for item in GENERATION.function(signals) if isinstance(item, Finding)]


def test_what_takes_the_place_of_an_image() -> None:
    old = fixes(node("v5litepod-8", "tpu-vm-tf-2.14.0"), "v5e-8")[0]
    assert "--version tpu-vm-tf-2.16.1-pjrt" in old
    hangs = fixes(node("v4-32", "tpu-vm-tf-2.19.0-pod-pjrt", 4), "v4-32")[0]
    assert "--version tpu-vm-tf-2.16.1-pod-se" in hangs


def test_no_image_is_proposed_for_what_no_tensorflow_drives() -> None:
    assert "JAX" in fixes(node("tpu7x-8", "tpu-vm-tf-2.18.0-pjrt"), "tpu7x-8")[0]
