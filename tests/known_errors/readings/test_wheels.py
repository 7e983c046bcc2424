"""Why pip finds no such release."""

from __future__ import annotations

from tpudiag.known_errors.readings.wheels import read

NONE = "Couldnotfindaversionthatsatisfiestherequirement{}(fromversions:{})"


def said(wanted: str, versions: str = "none", **values: str) -> str:
    reading = read(values, NONE.format(wanted, versions))
    return f"{reading.cause} {reading.fix}" if reading else ""


def test_release_of_tensorflow_is_for_some_pythons() -> None:
    assert "Python 3.5 to 3.8 only" in said("tensorflow==2.3.0", "2.12.0,2.13.0")
    assert '"tensorflow==1.15.*"' in said("tensorflow==1.15")
    assert "3.9 to 3.13" in said("tensorflow-cpu==2.20.0")


def test_packages_that_ended_or_are_for_linux() -> None:
    assert "[and-cuda]" in said("tensorflow-gpu==2.13.0")
    assert "Linux" in said("libtpu", package="libtpu")


def test_release_older_than_all_that_there_are() -> None:
    assert '"odd>=2.0"' in said("odd==1.4", "2.0,2.1")
    assert said("odd==2.4", "2.0,2.1") == ""
    assert said("tensorflow", "none") == ""
