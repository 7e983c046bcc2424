"""Runs behind a URL: a bucket queried over the wire like Cloud Storage."""

import json
import subprocess
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from tests import loopback
from tests.commands.called import refused, started, told
from tests.sources.profile import spaces

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
RUN = "logs/plugins/profile/2025_05_01_00_00_00"


class Bucket(ThreadingHTTPServer):
    """Cloud Storage on loopback: one bucket; `denied` answers as to a caller without rights."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.objects: dict[str, bytes] = {}
        self.denied = False
        self.cut: set[str] = set()
        """Objects that are listed and whose download fails."""

    def read(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """`tpudiag read` with this as Cloud Storage."""
        environment = {
            "STORAGE_EMULATOR_HOST": f"http://127.0.0.1:{self.server_port}",
            "GOOGLE_APPLICATION_CREDENTIALS": "",
            "NO_GCE_CHECK": "true",
        }
        return started("read", *arguments, cwd=ROOT, env=environment)


class Answering(loopback.Handler):
    """Lists objects, says what one is, and sends it."""

    server: Bucket  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        asked = {name: values[0] for name, values in parse_qs(url.query).items()}
        name = unquote(url.path.partition("/o/")[2])
        if self.server.denied:
            error = {"code": 403, "message": "caller does not have storage.objects.list access"}
            self._send(403, json.dumps({"error": error}).encode())
        elif not url.path.partition("/b/")[2].startswith("bucket/"):
            self._send(404, b"{}")
        elif not name:
            self._send(200, json.dumps(self._listed(asked)).encode())
        elif name not in self.server.objects:
            self._send(404, b"{}")
        elif asked.get("alt") == "media" and name in self.server.cut:
            self._send(403, b'{"error": {"code": 403, "message": "this object is not yours"}}')
        elif asked.get("alt") == "media":
            self._send(200, self.server.objects[name])
        else:
            self._send(200, json.dumps(self._described(name)).encode())

    def _listed(self, asked: dict[str, str]) -> dict[str, Any]:
        prefix = asked.get("prefix", "")
        found = [name for name in sorted(self.server.objects) if name.startswith(prefix)]
        if asked.get("delimiter") != "/":
            return {"items": [self._described(name) for name in found]}
        parts = {name: name[len(prefix) :].partition("/") for name in found}
        return {
            "items": [self._described(name) for name, part in parts.items() if not part[1]],
            "prefixes": sorted({f"{prefix}{part[0]}/" for part in parts.values() if part[1]}),
        }

    def _described(self, name: str) -> dict[str, Any]:
        size = str(len(self.server.objects[name]))
        link = f"http://127.0.0.1:{self.server.server_port}/download/storage/v1/b/bucket/o/{name}"
        return {
            "kind": "storage#object",
            "bucket": "bucket",
            "name": name,
            "size": size,
            "mediaLink": f"{link}?alt=media",
        }

    def _send(self, status: int, body: bytes) -> None:
        self.answer(status, body, Content_Type="application/json")


@pytest.fixture
def bucket() -> Iterator[Bucket]:
    made = Bucket()
    with loopback.serving(made):
        yield made


def upload(bucket: Bucket, hosts: int = 2, run: str = RUN) -> None:
    for number in range(hosts):
        made = spaces.pod_host(f"host_{number}")
        bucket.objects[f"{run}/host_{number}.xplane.pb"] = made.SerializeToString()


def test_a_bucket_reads_as_a_folder(bucket: Bucket, tmp_path: Path) -> None:
    upload(bucket)
    bucket.objects["logs/train/events.out.tfevents.1"] = b"not of interest"
    found = told(bucket.read("gs://bucket/logs", "--format", "json", "--xprof-limit", "0"))
    assert found["measurements"]["hosts"]["value"] == 2
    assert found["measurements"]["step_time_ms"]["value"] == pytest.approx(20)
    for name, data in bucket.objects.items():
        if name.endswith(".xplane.pb"):
            file = tmp_path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
    local = bucket.read(str(tmp_path / "logs"), "--format", "json", "--xprof-limit", "0")
    assert told(local)["measurements"] == found["measurements"]


def test_xprof_is_asked_about_a_bucket(bucket: Bucket) -> None:
    upload(bucket)
    done = bucket.read("gs://bucket/logs", "-v")
    assert "What XProf says" in done.stdout
    assert "xprof --logdir gs://bucket/logs" in " ".join(done.stdout.split())


def test_runs_of_a_bucket(bucket: Bucket) -> None:
    upload(bucket)
    upload(bucket, 1, RUN.replace("2025", "2024"))
    done = bucket.read("gs://bucket/logs", "--list")
    assert [line.split()[:3] for line in done.stdout.splitlines()] == [
        ["2025_05_01_00_00_00", "2", "hosts"],
        ["2024_05_01_00_00_00", "1", "host"],
    ]
    one = bucket.read(f"gs://bucket/{RUN}/host_1.xplane.pb", "--list")
    assert "1 host " in one.stdout


def test_a_host_that_may_not_be_fetched_is_missed(bucket: Bucket) -> None:
    upload(bucket, 3)
    bucket.cut.add(f"{RUN}/host_1.xplane.pb")
    found = told(bucket.read("gs://bucket/logs", "--format", "json", "--xprof-limit", "0"), 1)
    assert "1 of 3 hosts could not be read: host_1" in found["partial"]


@pytest.mark.parametrize(
    ("path", "denied", "cause"),
    [
        ("gs://bucket/none", False, "does not exist"),
        ("gs://bucket/logs", True, "storage.objects.list"),
        ("nosuch://bucket/logs", False, "not known"),
    ],
)
def test_what_is_not_there_is_one_line(bucket: Bucket, path: str, denied: bool, cause: str) -> None:
    bucket.objects["logs/readme"] = b"x"
    bucket.denied = denied
    said = refused(bucket.read(path))
    assert path in said and cause in said
