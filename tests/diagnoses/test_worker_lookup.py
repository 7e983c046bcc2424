"""Workers whose addresses change while a job is watched."""

from collections.abc import Sequence

from tpudiag.diagnoses.worker_lookup import WorkerLookup
from tpudiag.errors import NothingDiagnosed


class Time:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def asked_after(lookup: WorkerLookup, time: Time, seconds: float) -> Sequence[str] | None:
    """The changed addresses, once the lookup due after so long has answered."""
    time.now_s += seconds
    first = lookup.changed()
    if lookup.asking is not None:
        lookup.asking.join()
    return lookup.changed() if first is None else first


def test_a_pod_that_was_made_anew_is_followed_at_its_new_address() -> None:
    time, addresses = Time(), ["10.0.0.1:6009"]
    lookup = WorkerLookup(lambda: addresses, ["10.0.0.1:6009"], 60, time)
    assert asked_after(lookup, time, 61) is None, "nothing has changed"
    addresses = ["10.0.0.7:6009"]
    assert asked_after(lookup, time, 30) is None, "it is asked each minute"
    assert asked_after(lookup, time, 31) == ("10.0.0.7:6009",)
    assert asked_after(lookup, time, 1) is None, "told once"


def test_where_no_answer_comes_the_workers_stay() -> None:
    def refused() -> Sequence[str]:
        raise NothingDiagnosed("forbidden")

    time = Time()
    lookup = WorkerLookup(refused, ["10.0.0.1:6009"], 60, time)
    assert asked_after(lookup, time, 61) is None
    assert lookup.known == ("10.0.0.1:6009",)
