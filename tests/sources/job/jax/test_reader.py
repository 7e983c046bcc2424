"""What is sent of a step once it is known."""

from types import SimpleNamespace
from typing import Any

from tests.checks.rehearsal import HERE, SHARD, STATE, of_jax
from tpudiag.model import Location
from tpudiag.sources.job.jax.reader import StepReader
from tpudiag.sources.job.points import barrier

FIT, READS = Location("train.py", 80), Location("data.py", 9)


def test_a_step_is_of_fit_where_the_line_of_a_fit_calls_it() -> None:
    sent: list[Any] = []

    def put(**facts: Any) -> None:
        sent.extend(facts.values())

    def nowhere(_: Any) -> None: ...

    recorder: Any = SimpleNamespace(put=put)
    sends: Any = SimpleNamespace(placed_at=nowhere, facts=tuple)
    reader: Any = StepReader(SimpleNamespace(), recorder, SimpleNamespace(), sends)  # type: ignore[arg-type]
    reader.fits[FIT] = READS
    for line in (FIT, HERE):
        step = of_jax(STATE, SHARD, called_at=line).sharding
        known = SimpleNamespace(sharded=lambda step=step: step, data=list, seen=())
        reader._send_later(known)
    barrier.forget()
    assert [(each.by_fit, each.read_at) for each in sent] == [(True, READS), (False, None)]
