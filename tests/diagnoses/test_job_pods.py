"""Pods to watch, and the report where none of them runs."""

import pytest

from tpudiag.diagnoses import job_pods
from tpudiag.diagnoses.cloud_tpu import Located
from tpudiag.diagnoses.job_pods import addresses_of
from tpudiag.errors import NothingDiagnosed
from tpudiag.signals import UnreadHost
from tpudiag.sources.live.address import Address
from tpudiag.sources.live.pods import Selection

SELECTION = Selection("job-name=bert")
FAULTS = (UnreadHost("pod bert-0", "is Pending"), UnreadHost("pod bert-1", "is Failed"))


def listed(monkeypatch: pytest.MonkeyPatch, pods: Located) -> None:
    def selected(_selection: Selection, _port: int) -> Located:
        return pods

    monkeypatch.setattr(job_pods, "selected", selected)


def test_all_that_do_not_run_are_named_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    listed(monkeypatch, Located(faults=FAULTS))
    with pytest.raises(NothingDiagnosed) as raised:
        addresses_of(SELECTION, Located(), 6009)
    assert str(raised.value) == "pod bert-0: is Pending; pod bert-1: is Failed"


def test_one_that_runs_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    listed(monkeypatch, Located(workers=(Address("10.0.0.1", 6009),), faults=FAULTS))
    addresses, lacking = addresses_of(SELECTION, Located(), 6009)
    assert addresses == ("10.0.0.1:6009",)
    assert lacking == ("pod bert-0: is Pending", "pod bert-1: is Failed")
