"""What is said of twelve environments, beside what their vendors pin."""

from __future__ import annotations

from datetime import date
from importlib import import_module

import pytest

from tpudiag.installs import words
from tpudiag.installs.state import none_installed, note, state_of
from tpudiag.installs.table import ROWS
from tpudiag.model import Check, Finding, Severity
from tpudiag.signals import Environment, Origin, Runtime, Signals, TensorFlowImport, TpuAttempt

TODAY = date(2026, 11, 23)
FROM_THE_INDEX = {"libtpu": "0.0.10", "keras": "3.15.1", "protobuf": "5.29.6"}


def seen(runtime: Runtime, python: str, **versions: str) -> Environment:
    """An environment as it is described: what is installed in it, by its image's own list."""
    named = {name.replace("_", "-"): version for name, version in versions.items()}
    return Environment(python, named, runtime=runtime)


def stands(**versions: str) -> Environment:
    """TensorFlow 2.19.1 for TPUs as the index gives it, but for what is named."""
    return seen("own", "3.12.1", tensorflow_tpu="2.19.1", **(FROM_THE_INDEX | versions))


OWN = words.OWN_ENVIRONMENT.commands[0]
REPLACED = f"pip uninstall -y {{}} && {words.INSTALL}"
STATES: dict[str, tuple[Environment, bool | None, str, str]] = {
    # Its name: the environment, whether it finds a TPU, the first line offered, who says so.
    "Kaggle 2024 (9587f69: tensorflow 2.16.1, libtpu.so 1.10.1)": (
        seen("kaggle", "3.10.14", tensorflow="2.16.1", keras="3.4.1", jax="0.4.23"),
        True, "", "Kaggle/docker-python@9587f69",
    ),
    "Kaggle 2025-10 (221ec49: tensorflow-cpu 2.20.0, libtpu 0.0.17)": (
        seen("kaggle", "3.12.11", tensorflow_cpu="2.20.0", libtpu="0.0.17", jax="0.7.2"),
        False, OWN, "Kaggle/docker-python@",
    ),
    "Kaggle 2026 (78aaa43: the same)": (
        seen("kaggle", "3.12.12", tensorflow_cpu="2.20.0", libtpu="0.0.17", keras="3.13.2"),
        False, OWN, "Kaggle/docker-python@78aaa43",
    ),
    "Colab 2024 (de9e922: tensorflow 2.15.0 of Cloud TPU's wheels)": (
        seen("colab", "3.10.12", tensorflow="2.15.0", keras="2.15.0", protobuf="3.20.3"),
        True, "", "googlecolab/backend-info@027438a",
    ),
    "Colab 2026 (a724079: no TensorFlow, Python 3.13)": (
        seen("colab", "3.13.15", libtpu="0.0.21.1", jax="0.7.2", keras="3.13.2"),
        False, OWN, "googlecolab/backend-info@a724079",
    ),
    "TPU VM image 2.15 (libtpu.so 1.9.0)": (
        seen("tpu-vm", "3.10.6", tensorflow="2.15.1", keras="2.15.0"),
        True, "", "cloud.google.com/tpu/docs/runtimes",
    ),
    "TPU VM image 2.18 (libtpu.so 1.12.0)": (
        seen("tpu-vm", "3.10.6", tensorflow_tpu="2.18.0", libtpu="2.18.0"),
        True, "", "cloud.google.com/tpu/docs/runtimes",
    ),
    "TPU VM image 2.19": (
        seen("tpu-vm", "3.10.6", tensorflow="2.19.0"),
        None, REPLACED.format("tensorflow"), "tensorflow/tensorflow#93618",
    ),
    "Debian with 2.19.1": (stands(), True, words.VARIABLES.commands[0], "keras-team/keras-rs@"),
    "Debian with 2.20.0": (
        seen("own", "3.11.2", tensorflow_tpu="2.20.0", libtpu="0.0.17", protobuf="6.33.0"),
        False, REPLACED.format("tensorflow-tpu"), "keras-team/keras@b56746fb87",
    ),
    "Debian with 2.21": (
        seen("own", "3.12.1", tensorflow="2.21.0", protobuf="7.36.2"),
        False, REPLACED.format("tensorflow"), "colabtools#5203",
    ),
    "libtpu too new": (stands(libtpu="0.0.52"), None, 'pip install "libtpu==0.0.10"', "asks for"),
    "libtpu too old": (stands(libtpu="0.0.7.1"), None, 'pip install "libtpu==0.0.10"', "==0.0.10"),
    "protobuf clash": (
        stands(protobuf="7.35.1"), None, 'pip install "protobuf>=3.20.3,<6"', "asks for protobuf",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STATES)
def test_a_state_its_first_way_and_who_says_so(name: str) -> None:
    environment, drives, line, source = STATES[name]
    state = state_of(environment, TODAY)
    assert state.drives is drives, state
    assert (state.ways[0].commands[0] if state.ways else "") == line
    assert source in state.because


@pytest.mark.parametrize("name", STATES)
def test_no_line_offers_what_a_vendor_contradicts(name: str) -> None:
    offered = words.fix(state_of(STATES[name][0]).ways) + note(STATES[name][0])
    assert "2.20" not in offered.replace("tensorflow-tpu 2.20.0 with", "").replace(
        "tensorflow-cpu 2.20.0", ""
    )
    assert "libtpu>=" not in offered


def test_a_row_older_than_half_a_year_says_its_date() -> None:
    old, new = STATES["Kaggle 2026 (78aaa43: the same)"][0], date(2026, 9, 1)
    assert "it may have changed" not in state_of(old, new).because
    assert "last looked at 2026-08-12" in state_of(old, date(2027, 3, 1)).because


def test_on_an_image_without_tensorflow_the_way_to_the_tpu_is_said_at_once() -> None:
    colab = STATES["Colab 2026 (a724079: no TensorFlow, Python 3.13)"][0]
    said = none_installed(colab)
    assert OWN in said and "KERAS_BACKEND=jax" in said
    assert none_installed(seen("own", "3.12.1")) == ""
    assert none_installed(stands()) == ""


def test_every_row_has_a_source_and_a_day() -> None:
    for row in ROWS:
        for claim in row.claims:
            assert claim.source and claim.by and claim.what, row.name
            assert date.fromisoformat(claim.when) <= TODAY, row.name


def check(name: str) -> Check:
    found: Check = getattr(import_module(f"tpudiag.checks.{name}"), name)
    return found


IMPORTED = TensorFlowImport(succeeded=True, version="2.20.0", tf2_behavior=True, eager=True)


def found(name: str, environment: Environment, tpu: TpuAttempt | None = None) -> list[Finding]:
    signals = Signals(
        origin=Origin.REHEARSAL, environment=environment, tensorflow=IMPORTED, tpu=tpu
    )
    return [each for each in check(name).function(signals) if isinstance(each, Finding)]


def test_tensorflow_for_tpus_that_its_vendors_gave_up_is_a_warning() -> None:
    (finding,) = found("runtime_mismatch", STATES["Debian with 2.20.0"][0])
    assert finding.severity is Severity.WARNING
    assert words.INSTALL in finding.fix
    assert not found("runtime_mismatch", stands())


def test_a_tpu_beside_a_cpu_build_is_not_reached_and_the_image_says_why() -> None:
    attempt = TpuAttempt(asked="local", reached=False, phase="initialize", error="No OpKernel")
    (finding,) = found("tpu_unreachable", STATES["Kaggle 2026 (78aaa43: the same)"][0], attempt)
    assert "Kaggle, 2026-08-12" in finding.message
    assert finding.fix.splitlines()[1] == OWN
    (finding,) = found("tpu_unreachable", stands(), attempt)
    assert words.VARIABLES.commands[0] not in finding.fix  # no TPU platform was not what it said
    again = TpuAttempt(asked="local", reached=False, error="No TPU platform found. status: OK")
    (finding,) = found("tpu_unreachable", stands(), again)
    assert words.VARIABLES.commands[0] in finding.fix
