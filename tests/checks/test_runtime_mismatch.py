"""What mends an import of TensorFlow that fails."""

import pytest

from tests.checks.rehearsal import found, installed
from tpudiag.signals import TensorFlowImport


@pytest.mark.parametrize(
    ("failure", "mends"),
    [
        ("ImportError: numpy.core.umath failed to import", 'pip install "numpy<2"'),
        ("ImportError: something of its own", "pip install --force-reinstall tensorflow-cpu"),
    ],
)
def test_the_catalogue_of_errors_is_asked_first(failure: str, mends: str) -> None:
    environment = installed(tensorflow="2.15.1", numpy="2.4.6")
    tensorflow = TensorFlowImport(succeeded=False, failure=failure)
    (finding,) = found("TPU002", environment=environment, tensorflow=tensorflow)
    assert mends in finding.fix
