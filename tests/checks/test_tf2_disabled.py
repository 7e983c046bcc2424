"""What takes the place of a TensorFlow 1 interface."""

from typing import Any

import pytest

from tests.checks.rehearsal import found
from tpudiag.model import Severity
from tpudiag.signals import TensorFlowImport, Tf1Use


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
    assert successor in found("TPU001", tensorflow=seen, tf1=(Tf1Use(api, None),))[0].fix


def test_a_session_beside_a_step_of_tensorflow_2_is_idle() -> None:
    eager = TensorFlowImport(succeeded=True, version="2.15.1", tf2_behavior=True, eager=True)
    uses = (Tf1Use("tf.compat.v1.Session", None), Tf1Use("tf.compat.v1.placeholder", None))

    def severities(**facts: Any) -> list[Severity | None]:
        return [each.severity for each in found("TPU001", tf1=uses, **facts)]

    assert severities(tensorflow=eager) == [None, None]
    assert severities(tensorflow=eager, step_inputs=()) == [Severity.INFO, None]
