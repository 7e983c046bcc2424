"""Pods by a label selector: the official client against an API server on loopback."""

import os
import shutil
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.kubernetes_api import TOKEN, ApiServer, pod, served
from tpudiag.errors import NothingDiagnosed, TpudiagError, UsageError
from tpudiag.sources.live import pods as listing
from tpudiag.sources.live.pods import Selection, pods

BERT = Selection("job-name=bert")


@pytest.fixture
def api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[ApiServer]:
    with served(tmp_path) as (server, kubeconfig):
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig))
        yield server


def test_the_workers_of_a_job_in_their_order(api: ApiServer) -> None:
    api.pods["default"] = [pod(f"bert-{n}", f"10.0.0.{n}") for n in (10, 2, 0)]
    found = pods(BERT)
    assert [(one.index, one.name, one.address) for one in found] == [
        (0, "bert-0", "10.0.0.0"), (2, "bert-2", "10.0.0.2"), (10, "bert-10", "10.0.0.10"),
    ]  # fmt: skip
    assert all(one.runs for one in found)
    assert (found[0].node, found[0].chips, found[0].restarts) == ("node-0", 4, 1)
    assert api.asked == ["/api/v1/namespaces/default/pods?labelSelector=job-name%3Dbert"]


def test_the_namespace_is_the_contexts_or_the_one_that_was_named(api: ApiServer) -> None:
    api.pods["team"] = [pod("bert-0")]
    assert len(pods(Selection("job-name=bert", context="team"))) == 1
    assert len(pods(Selection("job-name=bert", namespace="team"))) == 1
    with pytest.raises(NothingDiagnosed, match="no pod in the namespace default has these labels"):
        pods(BERT)
    with pytest.raises(UsageError, match=r"--context: .*nowhere"):
        pods(Selection("job-name=bert", context="nowhere"))


@pytest.mark.parametrize(
    ("changed", "phase", "ended"),
    [
        ({"phase": "Pending", "podIP": None, "containerStatuses": None,
          "conditions": [{"status": "False", "message": "0/8 nodes: Insufficient google.com/tpu"}]},
         "Pending", "0/8 nodes: Insufficient google.com/tpu"),
        ({"phase": "Failed", "reason": "Evicted", "message": "node was low on  memory"},
         "Failed", "Evicted; node was low on memory"),
        ({"containerStatuses": [{"restartCount": 3, "state": {"waiting": {
            "reason": "CrashLoopBackOff"}}, "lastState": {"terminated": {
                "reason": "OOMKilled", "exitCode": 137}}}]},
         "Running", "CrashLoopBackOff; OOMKilled, exit code 137"),
        ({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}, "Terminating", ""),
    ],
)  # fmt: skip
def test_why_a_pod_does_not_run(
    api: ApiServer, changed: dict[str, Any], phase: str, ended: str
) -> None:
    api.pods["default"] = [pod("bert-0", **changed)]
    (found,) = pods(BERT)
    assert (found.phase, found.ended) == (phase, ended)
    assert found.runs == (phase == "Running")


@pytest.mark.parametrize(
    ("refusal", "kind", "told"),
    [
        ((403, 'pods is forbidden: User "me" cannot list'), NothingDiagnosed, "right to list pods"),
        ((401, "Unauthorized"), NothingDiagnosed, "not permitted"),
        ((400, "unable to parse requirement"), UsageError, "not a label selector: unable to parse"),
        ((500, "etcd is gone"), NothingDiagnosed, "no answer of the API server: etcd is gone"),
    ],
)
def test_refusals_are_one_line(
    api: ApiServer, refusal: tuple[int, str], kind: type[TpudiagError], told: str
) -> None:
    api.refusal = refusal
    with pytest.raises(kind) as error:
        pods(BERT)
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_a_server_that_is_gone(api: ApiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    path = Path(os.environ["KUBECONFIG"])
    path.write_text(path.read_text().replace(str(api.port), "1"))
    with pytest.raises(NothingDiagnosed, match="no answer of the API server"):
        pods(BERT)
    monkeypatch.setitem(sys.modules, "kubernetes", None)
    with pytest.raises(UsageError, match=r"pip install 'tpudiag\[gke\]'"):
        pods(BERT)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")
def test_without_a_kubeconfig_a_pods_own_account_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within a pod the client finds server, token and certificate in environment and files."""
    from kubernetes.config import incluster_config

    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(UsageError, match="no Kubernetes cluster is known"):
        pods(BERT)
    for name, text in (("token", TOKEN), ("namespace", "team\n")):
        (tmp_path / name).write_text(text)
    with served(tmp_path, tls=True) as (server, certificate):
        server.pods["team"] = [pod("bert-0")]
        monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
        monkeypatch.setenv("KUBERNETES_SERVICE_PORT", str(server.port))
        monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", str(tmp_path / "token"))
        monkeypatch.setattr(incluster_config, "SERVICE_CERT_FILENAME", str(certificate))
        monkeypatch.setattr(listing, "_NAMESPACE", tmp_path / "namespace")
        assert [one.name for one in pods(BERT)] == ["bert-0"]
