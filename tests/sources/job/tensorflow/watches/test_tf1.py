"""Uses of TensorFlow 1 interfaces."""

# pyright: reportPrivateUsage=false, reportUnknownLambdaType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tpudiag.sources.job.points import table
from tpudiag.sources.job.tensorflow.watches import setup_calls


def _made(*_: object) -> str:
    return "made"


class Session:
    def __init__(self) -> None:
        self.open = True


class InteractiveSession(Session):
    pass


def test_each_interface_once_with_its_first_line(as_tensorflow: Callable[[Any], None]) -> None:
    v1 = SimpleNamespace(
        Session=Session,
        InteractiveSession=InteractiveSession,
        **dict.fromkeys(table.TF1_SWITCHES.names, _made),
    )
    as_tensorflow(SimpleNamespace(compat=SimpleNamespace(v1=v1)))
    seen = setup_calls.watch_tf1()
    assert seen == {}
    assert v1.placeholder("float32") == "made"
    v1.placeholder("float32")
    assert Session().open
    assert {*seen} == {"tf.compat.v1.placeholder", "tf.compat.v1.Session"}
    assert all(
        use.location and Path(use.location.file).name == "test_tf1.py" for use in seen.values()
    )
