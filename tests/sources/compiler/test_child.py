"""The program that the compiler gets: as TensorFlow lowers it for the TPU."""

from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from tpudiag.sources.compiler import child

RANDOM = """
module {
  func.func @main(%key: tensor<3xui64>, %other: tensor<2xui64>)
      -> (tensor<3xui64>, tensor<8x128xui32>, tensor<4xui32>) {
    %next, %bits = stablehlo.rng_bit_generator %key, algorithm = PHILOX
        : (tensor<3xui64>) -> (tensor<3xui64>, tensor<8x128xui32>)
    %same, %few = stablehlo.rng_bit_generator %other, algorithm = THREE_FRY
        : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
    %copied = "mhlo.copy"(%bits) : (tensor<8x128xui32>) -> tensor<8x128xui32>
    return %next, %copied, %few : tensor<3xui64>, tensor<8x128xui32>, tensor<4xui32>
  }
}
"""


@contextmanager
def parse(program: str) -> Generator[Any, None, None]:
    mlir: Any = import_module("jax._src.interpreters.mlir")
    with mlir.make_ir_context() as context:
        yield child._parse(context, program)  # pyright: ignore[reportPrivateUsage]


def parsed(program: str) -> str:
    """The text of a program that is valid once it is read."""
    with parse(program) as module:
        assert module.operation.verify()
        return str(module)


@pytest.mark.slow  # imports jax
def test_random_bits_come_from_the_generator_that_tensorflow_takes_on_a_tpu() -> None:
    text = parsed(RANDOM)
    assert "PHILOX" not in text and "mhlo.copy" not in text
    assert "DEFAULT" in text
    # What the job itself chose stays.
    assert "THREE_FRY" in text
    # The state keeps its form for who reads it next.
    assert "tensor<3xui64>" in text.rpartition("return")[2]


@pytest.mark.slow  # imports jax
def test_a_mask_is_read_as_tensorflow_writes_it_a_bit_for_each_value() -> None:
    mask = np.tril(np.ones((16, 12), bool))
    for packed in (np.packbits(mask.reshape(-1), bitorder="little"), mask.astype(np.uint8)):
        program = (
            "module { func.func @main() -> tensor<16x12xi1> { %mask = stablehlo.constant "
            f'dense<"0x{packed.tobytes().hex().upper()}"> : tensor<16x12xi1>\n'
            "return %mask : tensor<16x12xi1> } }"
        )
        with parse(program) as module:
            constant = module.body.operations[0].regions[0].blocks[0].operations[0]
            assert np.array_equal(np.array(constant.attributes["value"]), mask)


PLACES = """
module {
  func.func @main(%arg0: tensor<4x4xf32>, %arg1: tensor<i32>) -> (tensor<4x4xf32>, tensor<i32>) {
    %0 = stablehlo.custom_call @tpudiag.all_reduce.8(%arg0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %1 = stablehlo.custom_call @tpudiag.all_reduce.2(%arg1) {api_version = 2 : i32}
        : (tensor<i32>) -> tensor<i32>
    return %0, %1 : tensor<4x4xf32>, tensor<i32>
  }
}
"""


@pytest.mark.slow  # imports jax
def test_an_older_tensorflow_leaves_places_for_the_sums_over_replicas() -> None:
    text = parsed(child.with_sums(PLACES))
    assert text.count("stablehlo.all_reduce") == 2 and "custom_call" not in text
    assert "[[0, 1, 2, 3, 4, 5, 6, 7]]" in text
    assert "tensor<2x1xi64>" not in text and "tensor<1x2xi64>" in text
