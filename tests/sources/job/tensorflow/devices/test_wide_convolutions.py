"""Operations that CPUs do not compute in 16 bits, with a TensorFlow that notes its casts."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple

from tpudiag.script_run import InterventionKind
from tpudiag.sources.job.tensorflow.devices.wide_convolutions import NARROW, WIDE, WideConvolutions
from tpudiag.sources.job.tensorflow.points import interventions


@dataclass(frozen=True)
class Tensor:
    dtype: str
    name: str = "x"


class Normalised(NamedTuple):
    y: Tensor
    batch_mean: Tensor


def cast(_: Tensor, dtype: str, name: str) -> Tensor:
    """A cast that notes its name."""
    return Tensor(dtype, name)


def tensorflow() -> Any:
    """A TensorFlow of casts alone; its version is one whose operations are left alone."""
    names = {"bfloat16": "bfloat16", "float16": "float16", "float32": "float32"}
    return SimpleNamespace(**names, __version__="2.99.0", cast=cast)


def norm(x: Tensor, scale: Tensor) -> Normalised:
    """A fused batch norm as TensorFlow has it on CPUs: of float32 alone."""
    assert x.dtype == scale.dtype == "float32"
    return Normalised(Tensor("float32"), Tensor("float32"))


def test_a_batch_norm_of_bfloat16_is_computed_in_float32() -> None:
    wide = WideConvolutions(tensorflow())
    result = wide.normalised(norm, Tensor("bfloat16"), Tensor("float32"))
    assert result.y == Tensor("bfloat16", NARROW)
    assert result.batch_mean.dtype == "float32"


def test_a_batch_norm_of_float32_stays() -> None:
    wide = WideConvolutions(tensorflow())
    assert wide.normalised(norm, Tensor("float32"), Tensor("float32")).y.name == "x"


def test_a_convolution_of_bfloat16_is_computed_in_float32() -> None:
    given: list[Tensor] = []

    def convolution(x: Tensor, kernel: Tensor) -> Tensor:
        given.extend((x, kernel))
        return Tensor("float32")

    wide = WideConvolutions(tensorflow())
    interventions.begin()
    result = wide.convolved(convolution, Tensor("bfloat16"), Tensor("bfloat16"))
    assert given == [Tensor("float32", WIDE)] * 2
    assert result == Tensor("bfloat16", NARROW)
    assert interventions.made() == (InterventionKind.WIDE,)
    interventions.begin((InterventionKind.WIDE,))
    wide.convolved(convolution, Tensor("bfloat16"), Tensor("bfloat16"))
    assert given[2:] == [Tensor("bfloat16")] * 2 and not interventions.made(), "left out"
    interventions.begin()
