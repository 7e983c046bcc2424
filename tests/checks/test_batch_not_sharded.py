"""The place of a step that is a library's: where the job calls it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.checks.rehearsal import SHARD, STATE, examine, of_jax
from tpudiag.model import Location

CALLED = Location("train.py", 35)


@pytest.mark.parametrize("own", [None, Location("train.py", 12)])
def test_a_step_of_keras_is_told_where_the_job_calls_it(own: Location | None) -> None:
    signals = of_jax(replace(STATE, devices=1), SHARD, devices=1)
    assert signals.sharding is not None
    step = replace(signals.sharding, location=own, called_at=CALLED)
    (found,) = examine(replace(signals, sharding=step), "TPU702").findings
    assert found.location == (own or CALLED)


def test_a_batch_on_all_devices_is_told_where_it_is_made() -> None:
    signals = of_jax(STATE, replace(SHARD, parts=1))
    assert signals.sharding is not None
    step = replace(signals.sharding, fed_at=CALLED)
    (found,) = examine(replace(signals, sharding=step), "TPU702").findings
    assert found.location == CALLED
