"""What takes the place of a TensorFlow 1 interface."""

import importlib
from typing import Any

import pytest

from tpudiag.model import Finding, Severity
from tpudiag.signals import Origin, Signals, TensorFlowImport, Tf1Use

check = importlib.import_module("tpudiag.checks.tf2_disabled").tf2_disabled


@pytest.mark.parametrize(
    ("api", "successor"),
    [
        ("tf.contrib.cluster_resolver.TPUClusterResolver", "tf.distribute.cluster_resolver"),
        ("tf.contrib.distribute.TPUStrategy", "tf.distribute.TPUStrategy"),
        ("tf.contrib.layers.fully_connected", "tf.contrib is gone"),
        ("tf.logging.set_verbosity", "absl.logging has set_verbosity"),
        ("tf.flags.DEFINE_string", "absl.flags"),
        ("tf.compat.v1.estimator.tpu.TPUConfig", "Estimator is gone"),
        ("tf.Session", "@tf.function"),
    ],
)
def test_the_fix_names_the_successor(api: str, successor: str) -> None:
    seen = TensorFlowImport(succeeded=True, version="2.21.0", tf2_behavior=True, eager=True)
    signals = Signals(origin=Origin.REHEARSAL, tensorflow=seen, tf1=(Tf1Use(api, None),))
    finding = next(each for each in check.function(signals) if isinstance(each, Finding))
    assert successor in (finding.fix or "")


def test_a_session_beside_a_step_of_tensorflow_2_is_idle() -> None:
    eager = TensorFlowImport(succeeded=True, version="2.15.1", tf2_behavior=True, eager=True)
    uses = (Tf1Use("tf.compat.v1.Session", None), Tf1Use("tf.compat.v1.placeholder", None))

    def severities(**facts: Any) -> list[Severity | None]:
        signals = Signals(origin=Origin.REHEARSAL, tf1=uses, **facts)
        return [each.severity for each in check.function(signals) if isinstance(each, Finding)]

    assert severities(tensorflow=eager) == [None, None]
    assert severities(tensorflow=eager, step_inputs=()) == [Severity.INFO, None]
