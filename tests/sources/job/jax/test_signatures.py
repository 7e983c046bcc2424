"""Which argument made JAX compile once more."""

import pytest

from tpudiag.signals.step import ChangeKind
from tpudiag.sources.job.jax.signatures import changes

FLOATS = ("array", "float32", "[8,4]")


@pytest.mark.parametrize(
    ("after", "kind"),
    [(("array", "float32", "[5,4]"), "shape"), (("array", "bfloat16", "[8,4]"), "dtype"),
     (("number", "Python float", "0.1"), "dtype"), (("object", "str", "'train'"), "structure")],
)  # fmt: skip
def test_the_argument_that_differs_is_told(after: tuple[str, str, str], kind: ChangeKind) -> None:
    (change,) = changes({"x": FLOATS, "y": FLOATS}, {"x": after, "y": FLOATS})
    (added,) = changes({"y": FLOATS}, {"x": after, "y": FLOATS})
    assert (change.argument, change.kind, added.kind) == ("x", kind, "structure")


@pytest.mark.parametrize(("dtype", "differ"), [("int32", 0), ("float32", 1)])
def test_a_python_number_and_what_comes_back_for_it_are_one(dtype: str, differ: int) -> None:
    given, back = ("number", "Python int", "0"), ("weak number", f"{dtype} (weak)", "")
    assert len(changes({"step": given}, {"step": back})) == differ
    assert len(changes({"step": back}, {"step": given})) == differ


def test_a_number_is_the_cause_only_where_nothing_else_differs() -> None:
    was = {"x": FLOATS, "rate": ("number", "Python float", "0.1")}
    now = {"x": FLOATS, "rate": ("number", "Python float", "0.2")}
    (change,) = changes(was, now)
    assert (change.argument, change.kind) == ("rate", "python value")
    ragged = now | {"x": ("array", "float32", "[5,4]")}
    assert [each.argument for each in changes(was, ragged)] == ["x"]
