"""What crosses the pipe: facts as plain JSON, and a specification that comes back whole."""

import enum
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from tpudiag.signals import JobEnd, Origin
from tpudiag.sources.job.process import facts, protocol


class Colour(enum.Enum):
    RED = "red"


@dataclass(frozen=True)
class Nested:
    inner: protocol.LoweringRequest
    colours: frozenset[Colour]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (
            Nested(protocol.LoweringRequest(64, 8), frozenset((Colour.RED,))),
            {"inner": {"batch": 64, "replicas": 8}, "colours": ["red"]},
        ),
        ((1, True, None, 0.5, "x"), [1, True, None, 0.5, "x"]),
        ((float("nan"), float("inf")), [None, None]),
        ((np.int64(3), np.float32(0.5)), [3, 0.5]),
        ({1: Path("a")}, {"1": "a"}),
    ],
)
def test_facts_are_plain_json(value: object, expected: object) -> None:
    assert json.loads(protocol.encoded({"fact": value})) == {"fact": expected}


def test_text_that_is_no_text_is_sent_all_the_same() -> None:
    assert json.loads(protocol.encoded({"name": "a\udcffb"})) == {"name": "a?b"}


def test_a_specification_comes_back_as_it_was() -> None:
    spec = protocol.JobSpec(
        program="train.py", arguments=("--name", "ä", "\udcff"), replicas=8, real_replicas=4,
        hosts=1, rehearse=True, steps=20, warmup_steps=5, budget_s=60.0, log_dir="logs",
        cells=(1, 8),
    )  # fmt: skip
    assert protocol.decoded_spec(protocol.encoded_spec(spec)) == spec


def test_what_was_sent_becomes_signals() -> None:
    sent = {"end": JobEnd(how="stopped"), "phase": "judging", "strategy_replicas": np.int64(8)}
    signals = facts.signals(Origin.REHEARSAL, json.loads(protocol.encoded(sent)))
    assert (signals.origin, signals.strategy_replicas) == (Origin.REHEARSAL, 8)
    assert signals.end == JobEnd(how="stopped")
    assert signals.batch is None


def test_a_fact_of_another_type_is_left_out_and_said() -> None:
    sent: dict[str, object] = {"end": {"how": "stopped"}, "strategy_replicas": "many"}
    signals = facts.signals(Origin.REHEARSAL, sent)
    assert signals.end == JobEnd(how="stopped")
    assert signals.strategy_replicas is None
    assert [defect.hook for defect in signals.hook_defects] == ["fact strategy_replicas"]


def test_a_request_comes_back_as_it_was() -> None:
    request = protocol.LoweringRequest(64, 8)
    assert protocol.decoded_request(protocol.encoded(request)) == request
