"""What a job of JAX has shown of its compilations."""

# pyright: reportPrivateUsage=false
from types import SimpleNamespace

import pytest

from tpudiag.sources.job.jax import seen


@pytest.mark.parametrize(("on", "folder"), [(True, "gs://b/c"), (False, None)])
def test_a_folder_keeps_nothing_while_the_cache_is_off(on: bool, folder: str | None) -> None:
    config = SimpleNamespace(jax_compilation_cache_dir="gs://b/c", jax_enable_compilation_cache=on)
    assert seen._cache_folder(config) == folder
