"""`tpudiag attach --tpu`: the Cloud TPU API's word on a TPU, from an emulator over gRPC."""

from pathlib import Path
from typing import Any

import grpc
import pytest

from tests import tpu_emulator as tpus
from tests.commands.called import Done, called, refused, told
from tpudiag.catalogue import checks
from tpudiag.diagnoses.cloud_tpu import asked_of
from tpudiag.engine import examine
from tpudiag.errors import NothingDiagnosed
from tpudiag.model import Outcome, Verdict
from tpudiag.settings import Settings
from tpudiag.sources.live import cloud

pytestmark = pytest.mark.slow

Code = grpc.StatusCode


def attach(host: str, *arguments: str) -> Done:
    return called("attach", "--project", "trial", *arguments, env={cloud.EMULATOR: host})


def unreachable(done: Done) -> dict[str, Any]:
    return next(o for o in told(done, 1)["outcomes"] if o["id"] == "TPU003")


def seen(node: Any, id_: str) -> Outcome:
    """What a check says of a node that the emulator has."""
    with tpus.emulated([node]) as emulator, pytest.MonkeyPatch.context() as patch:
        patch.setenv(cloud.EMULATOR, emulator.host)
        found = asked_of("mine", "trial", "us-central2-b", 6009)
    assert len(found.workers) == (len(node.network_endpoints) if node.state == 2 else 0)
    (said,) = examine(found.known, checks(), Settings(select=(id_,)))
    return said


@pytest.mark.parametrize(
    ("fields", "said", "fix"),
    [
        ({"state": "STOPPED"}, "is stopped", "tpu-vm start mine"),
        ({"state": "TERMINATED", "health_description": "host error"}, "(host error)", "delete"),
        ({"state": "REPAIRING"}, "is being repaired", "wait until it is READY"),
        ({"state": "CREATING"}, "is still being created", "wait until it is READY"),
        ({"health": "UNHEALTHY_MAINTENANCE"}, "under maintenance", "resume from the last"),
        ({"health": "TIMEOUT"}, "does not answer its health check", "stop mine"),
        ({"health": "UNHEALTHY_TENSORFLOW"}, "runtime on its workers is unhealthy", "stop mine"),
        (
            {"symptoms": [{"symptom_type": "OUT_OF_MEMORY", "worker_id": "3", "details": "x\ny"}]},
            "OUT_OF_MEMORY on worker 3: x y",
            "shuffle",
        ),
    ],
)
def test_what_is_wrong_with_a_tpu(fields: dict[str, Any], said: str, fix: str) -> None:
    (finding,) = seen(tpus.node("mine", **fields), "TPU003").findings
    assert said in finding.message
    assert fix in finding.fix
    assert finding.evidence[0].source == "Cloud TPU API"


def test_a_healthy_tpu_passes_on_evidence() -> None:
    said = seen(tpus.node("mine"), "TPU003")
    assert said.verdict is Verdict.PASSED
    assert [item.value for item in said.evidence] == ["READY", "HEALTHY"]


def test_a_tpu_of_unknown_health_does_not_pass() -> None:
    said = seen(tpus.node("mine", health="HEALTH_UNSPECIFIED"), "TPU003")
    assert said.verdict is Verdict.SKIPPED
    assert "does not tell the health" in (said.reason or "")


def test_the_report_on_a_preempted_tpu(tmp_path: Path) -> None:
    node = tpus.node("mine", state="PREEMPTED", scheduling_config={"spot": True})
    with tpus.emulated([node]) as emulator:
        done = attach(
            emulator.host, "--tpu", "mine", "--format", "json", "--log-dir", str(tmp_path / "logs")
        )
    finding = unreachable(done)["findings"][0]
    assert "was preempted" in finding["message"]
    again = "create mine --zone us-central2-b --project trial --accelerator-type v4-8 --version"
    assert f"{again} tpu-vm-tf-2.18.0-pjrt-v5p-and-below --spot" in finding["fix"]
    found = told(done, 1)
    assert found["subject"] == {"kind": "trainer", "name": "TPU mine"}
    assert found["target"] == {"name": "v4-8", "replicas": 4}
    assert done.stderr == ""
    assert not (tmp_path / "logs" / "plugins").exists()


def test_workers_that_do_not_answer_are_named(tmp_path: Path) -> None:
    with tpus.emulated([tpus.node("mine", health="UNHEALTHY_MAINTENANCE")]) as emulator:
        done = attach(
            emulator.host, "--tpu", "mine", "--format", "json", "--port", "1", "--log-dir",
            str(tmp_path),
        )  # fmt: skip
    assert unreachable(done)["verdict"] == "failed"
    (line,) = done.stderr.splitlines()
    assert "127.0.0.1:1: nobody listens there" in line


@pytest.mark.parametrize(
    ("accelerator", "image", "workers", "said"),
    [
        ("v5litepod-8", "tpu-vm-tf-2.14.0", 1, "TensorFlow 2.14 cannot drive v5e: it needs 2.15"),
        ("v5p-8", "tpu-vm-tf-2.16.1-se", 1, "v5p needs an image with PJRT"),
        ("v6e-16", "tpu-vm-tf-2.17.0-pjrt", 4, "not made for pods, and the TPU has 4 workers"),
        ("v6e-8", "tpu-vm-tf-2.18.0-pjrt-v5p-and-below", 1, "made for v5p and older, not v6e"),
        ("v4-8", "tpu-vm-tf-2.18.0-pjrt-v5e-and-v6", 1, "made for v5e and v6e, not v4"),
        ("v4-32", "tpu-vm-tf-2.19.0-pod-pjrt", 4, "jobs hang with it"),
        ("v6e-8", "tpu-vm-tf-2.18.0-pjrt-v5e-and-v6", 1, None),
        ("v4-32", "tpu-vm-tf-2.17.0-pod-pjrt", 4, None),
        ("v6e-8", "v2-alpha-tpuv6e", 1, "names no TensorFlow"),
    ],
)
def test_the_runtime_image(accelerator: str, image: str, workers: int, said: str | None) -> None:

    ends = [{"ip_address": f"10.0.0.{n}", "port": 8470} for n in range(workers)]
    node = tpus.node(
        "mine", accelerator_type=accelerator, runtime_version=image, network_endpoints=ends
    )
    said_of = seen(node, "TPU004")
    text = " ".join([said_of.reason or "", *(f.message for f in said_of.findings)])
    if said is None:
        assert said_of.verdict is Verdict.PASSED
    else:
        assert said in text


def test_a_tpu_is_found_without_its_zone_among_pages() -> None:
    others = [tpus.node(f"other-{n}", zone=f"zone-{n % 3}") for n in range(5)]
    twice = [tpus.node("twice", zone="a"), tpus.node("twice", zone="b")]
    with tpus.emulated([*others, *twice, tpus.node("mine", zone="far")]) as emulator:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(cloud.EMULATOR, emulator.host)
            assert cloud.ask("mine", "trial", None).zone == "far"
            whole = cloud.ask("projects/trial/locations/far/nodes/mine", None, None)
            assert whole == cloud.ask("mine", "trial", "far")
        said = refused(attach(emulator.host, "--tpu", "twice"))
        assert "in several zones (a, b); name one with --zone" in said
        assert "it has: mine, other-0" in refused(attach(emulator.host, "--tpu", "none"))


def test_the_service_is_asked_again_while_it_is_unavailable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with tpus.emulated([tpus.node("mine")]) as emulator:
        monkeypatch.setenv(cloud.EMULATOR, emulator.host)
        emulator.refusals = [(Code.UNAVAILABLE, "try later")] * 2
        assert cloud.ask("mine", "trial", "us-central2-b").state == "READY"
        assert emulator.calls == 3
        emulator.refuse_always = (Code.UNAVAILABLE, "try later")
        with pytest.raises(NothingDiagnosed, match=r"within 1 s: .*try later"):
            cloud.ask("mine", "trial", "us-central2-b", limit_s=1.0)


@pytest.mark.parametrize(
    ("refusal", "said"),
    [
        ((Code.PERMISSION_DENIED, "tpu.nodes.get denied"), "needs roles/tpu.viewer in trial"),
        ((Code.UNAUTHENTICATED, "who are you"), "gcloud auth application-default login"),
        ((Code.INTERNAL, "broken\nin two"), "broken in two"),
    ],
)
def test_refusals_are_one_line(
    monkeypatch: pytest.MonkeyPatch, refusal: tuple[Code, str], said: str
) -> None:
    with tpus.emulated([tpus.node("mine")]) as emulator:
        monkeypatch.setenv(cloud.EMULATOR, emulator.host)
        emulator.refuse_always = refusal
        with pytest.raises(NothingDiagnosed) as caught:
            cloud.ask("mine", "trial", "us-central2-b")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_without_credentials(tmp_path: Path) -> None:
    nobody = {"HOME": str(tmp_path), "NO_GCE_CHECK": "true", "GOOGLE_APPLICATION_CREDENTIALS": ""}
    said = refused(called("attach", "--tpu", "mine", "--project", "trial", env=nobody))
    assert "no Google Cloud credentials: gcloud auth application-default login" in said
