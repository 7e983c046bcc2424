"""`attach --selector` and `watch --selector`: pods of an API server on loopback."""

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests import kubernetes_api
from tests.commands.called import called, refused, told
from tests.kubernetes_api import ApiServer, pod
from tests.monitoring import recordings
from tests.sources.live.profiler_service import SPACE, response
from tests.sources.live.profiler_service import served as profiler
from tpudiag.diagnoses import job_pods
from tpudiag.diagnoses.cloud_tpu import Located
from tpudiag.diagnoses.job_pods import addresses_of
from tpudiag.errors import NothingDiagnosed
from tpudiag.sources.live.pods import Selection

pytestmark = pytest.mark.slow

PENDING: dict[str, Any] = {
    "phase": "Pending",
    "containerStatuses": None,
    "conditions": [{"status": "False", "message": "Insufficient google.com/tpu"}],
}


@pytest.fixture
def api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[ApiServer]:
    monkeypatch.chdir(tmp_path)
    with kubernetes_api.served(tmp_path) as (server, kubeconfig):
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig))
        yield server


def test_all_pods_of_a_job_are_captured_and_the_others_named(api: ApiServer) -> None:
    with profiler(lambda _: response(SPACE)) as address:
        # Two loopback addresses stand for two pods: the service listens on both.
        api.pods["default"] = [pod("bert-0"), pod("bert-1", "localhost"), pod("bert-2", **PENDING)]
        words = ["--selector", "job-name=bert", "--port", str(address.port), "--duration", "10ms"]
        done = called("attach", *words, "--format", "json")
    report = told(done, 2)  # a profile of a single event, which no check can judge
    assert done.stderr == "tpudiag: pod bert-2: is Pending: Insufficient google.com/tpu\n"
    assert report["subject"]["name"] == f"127.0.0.1:{address.port}, localhost:{address.port}"
    (table,) = [one for one in report["tables"] if one["title"].startswith("Pods of ")]
    assert [row[:3] for row in table["rows"]] == [
        [0, "bert-0", "Running"],
        [1, "bert-1", "Running"],
        [2, "bert-2", "Pending"],
    ]
    assert any("kubectl port-forward pod/bert-0" in note for note in report["notes"])


@pytest.mark.parametrize("verb", ["attach", "watch"])
def test_a_job_of_which_no_pod_runs(api: ApiServer, verb: str) -> None:
    api.pods["default"] = [pod("bert-0", **PENDING)]
    done = called(verb, "--selector", "job-name=bert")
    assert done.returncode == 2
    assert "pod bert-0: is Pending: Insufficient google.com/tpu" in done.stderr


def test_pods_that_are_done_lack_nothing(api: ApiServer) -> None:
    done = {"phase": "Succeeded", "podIP": "10.0.0.7"}
    api.pods["default"] = [
        pod("bert-0", **done),
        pod("bert-3", "10.0.0.9"),
        pod("bert-1", "10.0.0.8"),
        pod("bert-2", **PENDING),
    ]
    addresses, lacking = addresses_of(Selection("job-name=bert"), Located(), 6009)
    assert addresses == ("10.0.0.8:6009", "10.0.0.9:6009"), "in the order of their numbers"
    assert lacking == ("pod bert-2: is Pending: Insufficient google.com/tpu",)
    api.pods["default"] = [pod("bert-0", **done)]
    with pytest.raises(NothingDiagnosed, match="0 of 1 pods of job-name=bert run"):
        addresses_of(Selection("job-name=bert"), Located(), 6009)


def test_a_watch_that_misses_a_pod_does_not_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recordings.write(tmp_path / "a.sqlite", [1.0] * 60)

    def found(*_: object) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return (str(tmp_path / "a.sqlite"),), ("pod bert-1: is Pending",)

    monkeypatch.setattr(job_pods, "addresses_of", found)
    done = called("watch", "--selector", "job-name=bert", "--once", "--format", "json")
    assert told(done, 2)["faults"] == ["pod bert-1: is Pending"]
    assert done.stderr == "tpudiag: pod bert-1: is Pending\n"


@pytest.mark.usefixtures("api")
@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["watch"], "name a SOURCE (tpudiag-logs), --tpu or --selector"),
        (["watch", "--zone", "z"], "name it with --tpu"),
        (["watch", "logs", "--namespace", "n"], "name --selector"),
        (["attach", "--context", "c"], "name --selector"),
        (["attach", "--selector", "job-name=none"], "no pod in the namespace default"),
        (["attach", "--selector", "a=b", "--port", "0"], "not the number of a port"),
    ],
)
def test_wrong_words(words: list[str], told: str) -> None:
    assert told in refused(called(*words))
