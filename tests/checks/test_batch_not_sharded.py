"""What is said of a step of JAX by where its arguments lie, and by what made it."""

from dataclasses import replace

import pytest

from tests.checks.rehearsal import SHARD, STATE, examine, of_jax, traced
from tpudiag.model import Location
from tpudiag.signals import Batch, StepMesh

CALLED = Location("train.py", 35)


@pytest.mark.parametrize("own", [None, Location("train.py", 12)])
def test_a_step_of_keras_is_told_where_the_job_calls_it(own: Location | None) -> None:
    alone = replace(STATE, devices=1)
    signals = of_jax(alone, SHARD, devices=1, location=own, called_at=CALLED)
    (found,) = examine(signals, "TPU702").findings
    assert found.location == (own or CALLED)


@pytest.mark.parametrize("drawn", [False, True])
def test_a_batch_is_shared_out_where_it_is_made(*, drawn: bool) -> None:
    signals = of_jax(replace(STATE, devices=1), SHARD, devices=1, makes_batch=drawn)
    (found,) = examine(signals, "TPU702").findings
    assert ("with_sharding_constraint" in found.fix) == drawn


def test_a_batch_on_all_devices_is_told_where_it_is_made() -> None:
    signals = of_jax(STATE, replace(SHARD, parts=1), fed_at=CALLED)
    (found,) = examine(signals, "TPU702").findings
    assert found.location == CALLED


def test_an_axis_that_shares_out_nothing_is_told_where_the_mesh_is_made() -> None:
    mesh = StepMesh(axes=("model",), sizes=(4,), devices=(0, 1, 2, 3), location=CALLED)
    signals = of_jax(STATE, SHARD, mesh=mesh, idle_axes=(("model", 4),))
    (found,) = examine(signals, "TPU702").findings
    assert found.location == CALLED


@pytest.mark.parametrize(("size", "wanted"), [(2, "global_batch = 8  # not 2"), (16, "")])
def test_a_batch_that_the_devices_cannot_share_is_given_a_size_that_they_can(
    size: int, wanted: str
) -> None:
    signals = of_jax(replace(STATE, devices=1), SHARD, devices=1)
    (found,) = examine(replace(signals, batch=Batch(size, size, 1)), "TPU702").findings
    assert wanted in found.fix and ("global_batch" in found.fix) == bool(wanted)


@pytest.mark.parametrize(
    ("own", "fix"),
    [
        (CALLED, "flax.nnx.jit(train_step, donate_argnames=('params',))"),
        (None, "flax.nnx.jit(train_step, donate=...)"),
    ],
)
def test_a_state_is_donated_by_what_made_the_step(own: Location | None, fix: str) -> None:
    signals = of_jax(replace(STATE, donated=False), SHARD, location=own)
    made = traced("train_step", 9, location=own, made_by="flax.nnx.jit")
    (found,) = examine(replace(signals, functions=(made,)), "TPU701").findings
    assert found.fix.startswith(fix)
