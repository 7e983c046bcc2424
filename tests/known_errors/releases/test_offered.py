"""Why pip finds no such release."""

from __future__ import annotations

import pytest

from tpudiag.known_errors.readings.narrower import first, shared
from tpudiag.known_errors.releases.offered import read

NONE = "ERROR: Could not find a version that satisfies the requirement {} (from versions: {})"


def said(wanted: str, versions: str = "none", beside: str = "") -> str:
    reading = read(f"{beside}\n{NONE.format(wanted, versions)}")
    return f"{reading.cause} {reading.fix}" if reading else ""


def test_release_is_for_some_pythons() -> None:
    assert "for Python 3.6 to 3.7" in said("tensorflow==1.15.5", "2.12.0, 2.13.0")
    assert "3.9 to 3.13 only" in said("tensorflow-cpu==2.20.0")
    assert "too new" in said("tensorflow==2.3.0", beside="Python 3.11.2")
    assert "and Python here is 2.7: too old" in said(
        "tensorflow-recommenders-addons", beside="Python 2.7.12"
    )
    assert said("tensorflow==2.19.1", beside="Python 3.11") == ""


def test_wheel_is_for_the_python_of_its_name() -> None:
    name = "odd_name-nightly-cp38-cp38-linux_x86_64.whl"
    wheel = f"ERROR: {name} is not a supported wheel on this platform."
    reading = read(f"pip install x/{name}\n{wheel}\nPython 3.9.2")
    assert reading is not None and "3.8 only, and Python here is 3.9" in reading.cause
    assert read(f"{wheel}\nPython 3.8.10") is None, "the platform differs"


def test_release_that_is_not_among_those_offered() -> None:
    assert '"odd==2.0"' in said("odd==1.4", "2.0, 2.1")
    assert "2.1 is the last" in said("odd==3.4", "2.0, 2.1")
    assert "this Python 3.8: 0.10.0 is the first" in said(
        "tensorflow-addons==0.9.1", "0.10.0, 0.11.0", "python 3.8"
    )
    assert said("odd==2.0.5", "2.0, 2.1") == ""
    assert said("tensorflow", "none") == ""


@pytest.mark.parametrize(
    ("package", "words"),
    [("tensorflow-gpu==2.13.0", "[and-cuda]"), ("libtpu", "Linux"), ("keras-nightly", "-U keras")],
)
def test_packages_that_ended_or_are_for_linux(package: str, words: str) -> None:
    bare = "".join(NONE.format(package, "none").split())
    told = first(shared()["no-such-release"], {}, bare)
    assert told is not None and words in f"{told.cause} {told.fix}"
