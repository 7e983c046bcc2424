"""The advice for twelve environments, compared with their vendors' pins."""

import contextlib
import re
from dataclasses import replace
from datetime import date
from importlib import import_module

import pytest

from tests.installs.states import OWN, STATES, Tried, seen, stands
from tpudiag.hardware import target
from tpudiag.installs import words
from tpudiag.installs.state import none_installed, note, state_of
from tpudiag.installs.table import ROWS
from tpudiag.known_errors.answers import all_rows
from tpudiag.known_errors.search import match
from tpudiag.model import Check, Finding, NotMeasured, Severity
from tpudiag.signals import Environment, Origin, Signals, TensorFlowImport, TpuAttempt

FITTING = {
    words.REQUIREMENT, "libtpu==0.0.10", "protobuf>=3.20.3,<6",
    "protobuf>=5.28,<6",  # of 2.18 and 2.19: narrower, and within
}  # fmt: skip
OF_OTHER_RELEASES = {"protobuf>=3.20,<3.21", "protobuf>=4.21,<5", "protobuf>=5.28"}
"""Each with the releases of TensorFlow that it is for."""
TODAY = date(2026, 11, 23)
PIN = re.compile(r"(tensorflow-tpu|libtpu|protobuf)((?:[=<>]=?[\d.]+,?)+)")


def answers(tried: Tried) -> str:
    """All that `check` says of an environment: its note, and the findings of four checks."""
    imported, asked = IMPORTED, TpuAttempt(asked="local", reached=False, error=tried.symptom)
    if not tried.imports:
        imported = replace(IMPORTED, succeeded=False, failure=tried.symptom)
    signals = Signals(
        origin=Origin.REHEARSAL,
        environment=tried.environment,
        tensorflow=imported,
        tpu=asked if tried.symptom and tried.imports else None,
        target=target("v5e-8"),
    )
    names = ("runtime_mismatch", "tpu_unreachable", "generation_unsupported")
    findings: list[Finding] = []
    for name in names:
        with contextlib.suppress(NotMeasured):
            findings += [x for x in check(name).function(signals) if isinstance(x, Finding)]
    return "\n".join((note(tried.environment), *(f"{f.message}\n{f.fix}" for f in findings)))


def explained(symptom: str) -> str:
    """What `explain` says of the error that is seen there."""
    return "\n".join(all_rows(match(symptom)))


def offered(text: str) -> set[str]:
    """The versions that a text advises to install."""
    lines = [line for line in text.splitlines() if "install " in line]
    return {"".join(pin) for line in lines for pin in PIN.findall(line)}


@pytest.mark.parametrize("name", STATES)
def test_a_state_its_first_way_and_who_says_so(name: str) -> None:
    tried = STATES[name]
    state = state_of(tried.environment, TODAY)
    assert state.drives is tried.drives, state
    assert (state.ways[0].commands[0] if state.ways else "") == tried.first
    assert tried.source in state.because


@pytest.mark.parametrize("name", STATES)
def test_check_and_explain_offer_the_same_and_no_vendor_contradicts_it(name: str) -> None:
    tried = STATES[name]
    checked, told = answers(tried), explained(tried.symptom) if tried.symptom else ""
    assert offered(checked) <= FITTING, checked
    assert offered(told) <= FITTING | OF_OTHER_RELEASES, told
    if tried.symptom:
        assert re.match(r"E\d+ ", told), told
        if tried.first == OWN:
            assert OWN in told  # what its Python or image has no place for is not all that is said
        else:
            assert offered(told) & FITTING


def test_a_row_older_than_half_a_year_says_its_date() -> None:
    old, new = STATES["Kaggle 2026"].environment, date(2026, 9, 1)
    assert "it may have changed" not in state_of(old, new).because
    assert "last looked at 2026-08-12" in state_of(old, date(2027, 3, 1)).because


def test_on_an_image_without_tensorflow_the_way_to_the_tpu_is_said_at_once() -> None:
    colab = STATES["Colab 2026"].environment
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
    (finding,) = found("runtime_mismatch", STATES["Debian, 2.20.0"].environment)
    assert finding.severity is Severity.WARNING
    assert words.INSTALL in finding.fix
    assert not found("runtime_mismatch", stands())


def test_a_tpu_beside_a_cpu_build_is_not_reached_and_the_image_says_why() -> None:
    attempt = TpuAttempt(asked="local", reached=False, phase="initialize", error="No OpKernel")
    (finding,) = found("tpu_unreachable", STATES["Kaggle 2026"].environment, attempt)
    assert "Kaggle, 2026-08-12" in finding.message
    assert finding.fix.splitlines()[1] == OWN
    (finding,) = found("tpu_unreachable", stands(), attempt)
    assert words.VARIABLES.commands[0] not in finding.fix  # no TPU platform was not what it said
    again = TpuAttempt(asked="local", reached=False, error="No TPU platform found. status: OK")
    (finding,) = found("tpu_unreachable", stands(), again)
    assert words.VARIABLES.commands[0] in finding.fix
