"""What a job of JAX has shown of its compilations."""

# pyright: reportPrivateUsage=false
from types import SimpleNamespace
from typing import Any

import pytest

from tpudiag.sources.job.jax import seen


@pytest.mark.parametrize(("on", "folder"), [(True, "gs://b/c"), (False, None)])
def test_a_folder_keeps_nothing_while_the_cache_is_off(on: bool, folder: str | None) -> None:
    config = SimpleNamespace(jax_compilation_cache_dir="gs://b/c", jax_enable_compilation_cache=on)
    assert seen._cache_folder(config) == folder


@pytest.mark.parametrize("step", [None, "of jax.jit"])
def test_the_times_of_an_eager_loop_are_not_those_of_a_step_past_it(step: str | None) -> None:
    none: Any = SimpleNamespace()
    jits: Any = SimpleNamespace(rest=None, kept=SimpleNamespace(step=step))
    steps: Any = SimpleNamespace(times_ms=[4.0], eager_steps=1)
    reader: Any = SimpleNamespace(at_once=1)
    told = seen.Seen(none, jits, steps, reader, none, none, none, False).step_times()
    assert (told is None) == (step is not None)
