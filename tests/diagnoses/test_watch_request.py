"""Where a watch sends figures."""

import pytest

from tpudiag.diagnoses.watch_request import OutletRequest, outlets
from tpudiag.errors import UsageError
from tpudiag.monitoring.prometheus import Prometheus


def test_nothing_is_sent_that_was_not_asked_for() -> None:
    assert outlets(OutletRequest(sources=("tpudiag-logs",))) == []


def test_an_endpoint_alone_is_none() -> None:
    with pytest.raises(UsageError, match="needs --project"):
        outlets(OutletRequest(sources=("tpudiag-logs",), endpoint="localhost:1"))


def test_figures_are_served() -> None:
    (server,) = outlets(OutletRequest(sources=("tpudiag-logs",), prometheus="0"))
    assert isinstance(server, Prometheus)
    assert server.port
    assert server.close() == ""
