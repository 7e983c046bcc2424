"""HLO of a TensorFlow that gives no StableHLO, before the TPU compiler gets it."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tpudiag.sources.compiler import compiler_child


def test_stablehlo_is_taken_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "step-8-8.mlir"
    assert compiler_child.as_stablehlo(str(file), "no-python") == str(file)


def test_a_module_that_is_none_says_why(tmp_path: Path) -> None:
    file = tmp_path / "step.hlo"
    file.write_bytes(b"no module")
    with pytest.raises(compiler_child.NotConverted, match="no-such-python"):
        compiler_child.as_stablehlo(str(file), "no-such-python")
    made = tmp_path / "step.mlir"
    made.write_text("module {}")
    # What was made of it before is taken again.
    assert compiler_child.as_stablehlo(str(file), "no-such-python") == str(made)


@pytest.mark.slow  # imports jax
def test_a_module_becomes_text_with_the_names_of_its_operations(tmp_path: Path) -> None:
    jax: Any = import_module("jax")

    def step(x: Any) -> Any:
        with jax.named_scope("dense"):
            return jax.numpy.tanh(x)

    lowered = jax.jit(step).lower(jax.ShapeDtypeStruct((8, 128), "float32"))
    file = tmp_path / "step.hlo"
    file.write_bytes(lowered.compiler_ir("hlo").as_serialized_hlo_module_proto())
    text = Path(compiler_child.as_stablehlo(str(file), sys.executable)).read_text(encoding="utf-8")
    assert "stablehlo.tanh" in text and "dense/tanh" in text
    assert not list(tmp_path.glob("*.part"))
