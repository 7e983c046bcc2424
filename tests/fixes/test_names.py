"""What the names of a script stand for."""

import libcst as cst
import pytest

from tpudiag.fixes import names, pipeline_chain
from tpudiag.fixes.source import Source


def bound_names(text: str) -> set[str]:
    source = Source.parsed(text)
    return {node.value for node in source.all(cst.Name) if names.is_bound(source, node)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = b\n", "a"),
        ("a, (b, *c) = d\n", "a b c"),
        ("for step, (x, y) in enumerate(data): pass\n", "step x y"),
        ("for name in (first, second): pass\n", "name"),
        ("total += loss\n", "total"),
        ("rate: float = start\n", "rate"),
        ("print(n := count)\n", "n"),
        ("with open(path) as file: pass\n", "file"),
        ("self.x = a[i] = y\n", ""),
    ],
)
def test_names_are_bound_by_targets_alone(text: str, expected: str) -> None:
    assert bound_names(text) == set(expected.split())


def test_a_name_that_is_only_read_elsewhere_keeps_its_one_value() -> None:
    source = Source.parsed("BATCH = 64\nseen = 0\nseen += BATCH\ndata = data.batch(BATCH)\n")
    (call,) = source.calls_at(4, "batch")
    value = pipeline_chain.constant_of(source, call.args[0].value, call)
    assert source.code(value) == "64"
