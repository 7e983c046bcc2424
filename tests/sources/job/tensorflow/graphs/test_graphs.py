"""What a graph tells of an operation."""

from types import SimpleNamespace
from typing import Any

from tpudiag.sources.job.tensorflow.graphs import graphs


def operation(kind: str, *given: Any) -> Any:
    inputs = [SimpleNamespace(op=each) for each in given]
    about = SimpleNamespace(is_stateful=kind.startswith("Random"))
    return SimpleNamespace(type=kind, inputs=inputs, op_def=about)


def test_a_mask_of_constants_has_a_size_that_the_graph_knows() -> None:
    known, data = operation("Const"), operation("Placeholder")
    assert graphs.is_constant(operation("Where", operation("Reshape", known, known)))
    assert not graphs.is_constant(operation("Where", operation("Reshape", data, known)))
    assert not graphs.is_constant(operation("Where", operation("RandomUniform", known)))
