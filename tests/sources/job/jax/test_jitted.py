"""One function that jax.jit or jax.pmap made."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from tpudiag.sources.job.jax import jitted
from tpudiag.sources.job.jax.jitted import Jitted, Record
from tpudiag.sources.job.points.privates import PMAP_LOWERED_IN as LOWERS


def told(word: str) -> SimpleNamespace:
    """What is lowered to a word."""

    def lower(**_: object) -> str:
        return word

    return SimpleNamespace(lower=lower)


class Compiled:
    """A function of jax.pmap, in releases that trace each device's program."""

    def trace(self, *_: object, **__: object) -> SimpleNamespace:
        """What one device runs."""
        return told("of a device")


def for_platforms(lowering_platforms: str | None) -> str | None:
    """What the library lowers by."""
    return lowering_platforms


LIBRARY = SimpleNamespace(lower_parallel_callable=for_platforms)


class Lowered:
    """A function of jax.pmap, in releases that only lower it."""

    def lower(self, *_: object) -> object:
        """As the library does, by what it calls."""
        return LIBRARY.lower_parallel_callable(lowering_platforms=None)


@pytest.mark.parametrize(
    ("compiled", "primitive", "lowered"),
    [
        (Compiled(), "xla_pmap", "of a device"),
        (Lowered(), "xla_pmap", "tpu"),
        (Lowered(), "jit", "whole"),
    ],
)
def test_of_jax_pmap_the_program_of_one_device_is_lowered(
    compiled: object, primitive: str, lowered: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jitted, "import_module", {LOWERS: LIBRARY}.get)
    whole = told("whole")
    program = SimpleNamespace(eqns=[SimpleNamespace(primitive=primitive)])
    whole.jaxpr = SimpleNamespace(jaxpr=program)
    step = Jitted(compiled, len, cast("Any", None), Record("step", None), {}, True)
    assert step.of_device(whole, (), {})(lowering_platforms="tpu") == lowered


def test_what_is_static_for_jax_pmap_is_so_where_it_is_traced() -> None:
    given: dict[str, object] = {}

    def jit(_: object, **options: object) -> Compiled:
        given.update(options)
        return Compiled()

    options: dict[str, object] = {"static_broadcasted_argnums": (3, 1)}
    watch = cast("Any", SimpleNamespace(jit=jit))
    step = Jitted(object(), len, watch, Record("step", None), options, True)
    assert step.trace(1, 2, 3, 4)
    assert given == {"static_argnums": [1, 3]}
