"""One function that jax.jit or jax.pmap made."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from tpudiag.sources.job.jax.jitted import Jitted, Record


class Compiled:
    """A function of jax.pmap, in releases that trace each device's program."""

    def trace(self, *_: object, **__: object) -> str:
        """What one device runs."""
        return "of a device"


@pytest.mark.parametrize(
    ("compiled", "mapped", "lowered"),
    [(Compiled(), True, "of a device"), (object(), True, "whole"), (Compiled(), False, "whole")],
)
def test_of_jax_pmap_the_program_of_one_device_is_lowered(
    compiled: object, lowered: str, *, mapped: bool
) -> None:
    jitted = Jitted(compiled, len, cast("Any", None), Record("step", None), {}, mapped)
    assert jitted.of_device("whole", (), {}) == lowered


def test_what_is_static_for_jax_pmap_is_so_where_it_is_traced() -> None:
    given: dict[str, object] = {}

    def jit(_: object, **options: object) -> Compiled:
        given.update(options)
        return Compiled()

    options: dict[str, object] = {"static_broadcasted_argnums": (3, 1)}
    watch = cast("Any", SimpleNamespace(jit=jit))
    jitted = Jitted(object(), len, watch, Record("step", None), options, True)
    assert jitted.trace(1, 2, 3, 4) == "of a device"
    assert given == {"static_argnums": [1, 3]}
