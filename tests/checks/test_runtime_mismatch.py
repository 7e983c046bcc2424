"""What mends an import of TensorFlow that fails."""

from importlib import import_module

import pytest

from tpudiag.model import Check, Finding
from tpudiag.signals import Environment, Origin, Signals, TensorFlowImport

CHECK: Check = import_module("tpudiag.checks.runtime_mismatch").runtime_mismatch


@pytest.mark.parametrize(
    ("failure", "mends"),
    [
        ("ImportError: numpy.core.umath failed to import", 'pip install "numpy<2"'),
        ("ImportError: something of its own", "pip install --force-reinstall tensorflow-cpu"),
    ],
)
def test_the_catalogue_of_errors_is_asked_first(failure: str, mends: str) -> None:
    environment = Environment(
        python="3.11", distributions={"tensorflow": "2.15.1", "numpy": "2.4.6"}
    )
    tensorflow = TensorFlowImport(succeeded=False, failure=failure)
    signals = Signals(origin=Origin.REHEARSAL, environment=environment, tensorflow=tensorflow)
    (finding,) = [each for each in CHECK.function(signals) if isinstance(each, Finding)]
    assert mends in finding.fix
