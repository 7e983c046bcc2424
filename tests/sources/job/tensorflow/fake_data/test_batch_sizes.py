"""Data hold some batches of the size that a script names."""

from __future__ import annotations

import pytest

from tpudiag.sources.job.tensorflow.fake_data import batch_sizes


@pytest.mark.parametrize(
    ("text", "batch"),
    [
        ("BATCH_SIZE = 128 * strategy.num_replicas_in_sync", 1024),
        (
            "per_replica = 16\nreplicas = s.num_replicas_in_sync\nbatch = replicas * per_replica",
            128,
        ),
        ("class C:\n    batch_size = 64\nC.batch_size = 8 * 32", 256),
        ("data.repeat().batch(512)", 512),
        ("model.fit(x, y, batch_size=2048)", 2048),
        ("BATCH_SIZE = 16\nsteps_per_batch = 9000\nnum_batches = 500", 16),
        ("batch = load(7)\nbatch_bytes = 2**40 * 8", 0),
        ("not Python $", 0),
    ],
)
def test_the_largest_batch_is_told_by_the_text(text: str, batch: int) -> None:
    assert batch_sizes.examples([text, "x = 1"]) == batch_sizes.BATCHES * batch
