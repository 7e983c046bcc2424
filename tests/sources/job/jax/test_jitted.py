"""One function that jax.jit or jax.pmap made."""

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
