"""What takes the place of a draw that was frozen."""

import pytest

from tpudiag.catalogue import checks
from tpudiag.model import Finding, Location
from tpudiag.signals import FrozenState, Origin, Signals, TrainingLoop

CHECK = next(check for check in checks() if check.id == "TPU107")


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("np.random.normal", "tf.random.normal("),
        ("np.random.randn", "tf.random.normal("),
        ("random.randint", "tf.int32"),
        ("np.random.permutation", "tf.random.shuffle("),
        ("random.uniform", "tf.random.uniform([], low, high)"),
    ],
)
def test_the_draw_keeps_its_distribution(name: str, instead: str) -> None:
    state = FrozenState(kind="random", name=name, function="step", location=Location("train.py", 3))
    loop = TrainingLoop(dispatches=20, frozen=(state,))
    signals = Signals(origin=Origin.REHEARSAL, loop=loop)
    (finding,) = [each for each in CHECK.function(signals) if isinstance(each, Finding)]
    assert instead in finding.fix
