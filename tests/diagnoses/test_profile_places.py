"""The step that shows a finding best, and the link to it."""

from dataclasses import replace

import pytest

from tests import made
from tpudiag.diagnoses.profile_places import links, with_links, worst_step
from tpudiag.model import Finding, Outcome, Severity, Verdict
from tpudiag.signals import ProfileFacts, ReplicaSteps, StepPart
from tpudiag.sources.profile.xprof_server import XProfServer

SERVER = XProfServer(address="http://localhost:8791", run="run", hosts=("a", "b"))


def replica(host: str, input_ms: tuple[float, ...], idle_ms: tuple[float, ...]) -> ReplicaSteps:
    """Four steps of about 10 ms each, 100 ms apart."""
    steps = tuple(10.0 + i + j for i, j in zip(input_ms, idle_ms, strict=True))
    parts = (StepPart("input", input_ms), StepPart("idle", idle_ms))
    return ReplicaSteps(host, "TPU:0", (0, 1, 2, 3), steps, parts, (0.0, 100.0, 200.0, 300.0))


A = replica("a", (0.0, 4.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0))
FACTS = ProfileFacts(hosts=("a",), devices=(), ops=(), bytes_read=0)
B = replica("b", (0.0, 0.0, 0.0, 3.0), (2.0, 0.0, 0.0, 0.0))


@pytest.mark.parametrize(
    ("id_", "message", "expected"),
    [
        ("TPU201", "the step waits for input", ("a", 100.0, 114.0)),
        ("TPU406", "the devices are idle", ("b", 0.0, 12.0)),
        ("TPU503", "host b is slower than the rest", ("b", 300.0, 313.0)),
        ("TPU405", "MXU use is low", ("a", 100.0, 114.0)),
        ("TPU504", "collectives, of which there are none", ("a", 100.0, 114.0)),
    ],
)
def test_the_step_with_most_of_it(
    id_: str, message: str, expected: tuple[str, float, float]
) -> None:
    worst = worst_step(id_, message, (A, B))
    assert worst is not None
    assert (worst[0].host, *worst[1:]) == expected


def test_without_times_there_is_no_step() -> None:
    assert worst_step("TPU201", "", (replace(A, starts_ms=None),)) is None
    assert worst_step("TPU201", "", ()) is None


def test_findings_get_a_moment_or_a_page_or_nothing() -> None:
    def outcome(id_: str) -> Outcome:
        finding = Finding("the step waits", "fix")
        return made.outcome(id_, Verdict.FAILED, finding, name="n", severity=Severity.WARNING)

    def linked_to(facts: ProfileFacts) -> list[str | None]:
        outcomes = with_links([outcome("TPU201"), outcome("TPU208")], SERVER, facts)
        return [found.findings[0].xprof_link for found in outcomes]

    moment, none = linked_to(replace(FACTS, replicas=(A,)))
    assert moment is not None
    assert "view_start=100.000&view_end=114.000" in moment
    assert none is None, "a path is no matter of a profile"
    page, _ = linked_to(FACTS)
    assert page is not None
    assert "tool=input_pipeline_analyzer" in page


def test_a_run_is_linked_to_its_usual_and_its_slowest_step() -> None:
    urls = {link.name: link.url for link in links(SERVER, replace(FACTS, replicas=(A, B)))}
    assert "host=b" in urls["slowest step"] or "view_start=100.000" in urls["slowest step"]
    assert "view_end=114.000" in urls["slowest step"]
    assert "view_start" in urls["usual step"]
    assert urls["Memory Profile"].endswith("?tool=memory_profile&run=run#profile")
    assert "usual step" not in [link.name for link in links(SERVER, FACTS)]


def test_links_begin_with_the_address_that_readers_see() -> None:
    seen = replace(SERVER, address="../../..")
    assert seen.page("op_profile") == "../../../?tool=op_profile&run=run#profile"
    moment = seen.moment("a", 1.0, 2.0)
    assert moment.startswith("../../../data/plugin/profile/trace_viewer_index.html?")
    assert "trace_data_url=..%2F..%2F..%2Fdata%2Fplugin%2Fprofile%2Fdata" in moment
