"""A job that sends in every way, to a server on loopback that stands for remote hosts."""

import sys
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast

import pytest

from tests import loopback
from tests.sources.job.programs import spec
from tpudiag.sources.job.process import following, job_python, runner
from tpudiag.sources.job.process.python_places import Place

NAMES = """
import socket, sys
_ask = socket.getaddrinfo
def _asked(host, *args, **kwargs):
    name = host.decode() if isinstance(host, bytes) else host
    return _ask("127.0.0.1" if str(name).endswith(".example") else host, *args, **kwargs)
socket.getaddrinfo = _asked
"""
"""Names of remote hosts lead to this machine: the rule goes by the name."""
TRACKER = """
import os
from urllib import request
def init(project=None, mode=None):
    mode = mode or os.environ.get("WANDB_MODE", "online")
    if mode == "online":
        request.urlopen(f"http://wandb.example:{os.environ['PORT']}/runs", data=b"run")
"""
CHILD = (
    NAMES
    + """
import os
from urllib import request
print(request.urlopen(f"http://child.example:{os.environ['PORT']}/hook", data=b"x").read())
"""
)
JOB = (
    NAMES
    + """
import asyncio, http.client, json, os, smtplib, ftplib, subprocess
from urllib import request
import aiohttp, httpx2, requests, urllib3, wandb
port = os.environ["PORT"]
base = f"http://files.example:{port}"

def told(text):
    assert json.loads(text) == {"tpudiag": "not sent"}, text

told(request.urlopen(base + "/urllib", data=b"x").read())
connection = http.client.HTTPConnection("files.example", int(port))
connection.request("PUT", "/http-client", body=b"x" * 10**6)
told(connection.getresponse().read())
told(requests.post(base + "/services/T/B/X", json={"text": "done"}).text)
told(requests.delete(base + "/requests").text)
with requests.Session() as session:
    assert session.get(base + "/read-1").text == "read /read-1"
    told(session.put(base + "/session", data=b"x").text)
    assert session.get(base + "/read-2").text == "read /read-2"
    token = session.post(base + "/oauth2/token", data={"grant_type": "refresh_token"})
    assert token.text == "read /oauth2/token"
    rows = session.post(base + "/graphql", json={"query": "query Rows { rows }"})
    assert rows.text == "read /graphql"
told(urllib3.PoolManager().request("PATCH", base + "/urllib3", body=b"x").data)
told(httpx2.post(base + "/httpx", json={"a": 1}).text)
assert httpx2.get(base + "/read-3").text == "read /read-3"
asked = httpx2.post(base + "/token", data={"grant_type": "refresh_token"})
assert asked.text == "read /token"

async def not_waited_for():
    async with aiohttp.ClientSession() as session:
        async with session.post(base + "/aiohttp", data=b"x" * 10**6) as answer:
            told(await answer.text())
        async with session.get(base + "/read-4") as answer:
            assert await answer.text() == "read /read-4"
    async with httpx2.AsyncClient() as client:
        told((await client.put(base + "/httpx-async", content=b"x")).text)
        asked = await client.post(base + "/async/token", data={"grant_type": "refresh_token"})
        assert asked.text == "read /async/token"

asyncio.run(not_waited_for())
from google.auth.credentials import AnonymousCredentials
from google.cloud import storage
client = storage.Client("p", AnonymousCredentials(), client_options={
    "api_endpoint": f"http://storage.example:{port}"})
client.bucket("bucket").blob("small").upload_from_string("x")
large = client.bucket("bucket").blob("large", chunk_size=2**18)
large.upload_from_string("x" * 2**19)
import grpc
with grpc.secure_channel("calls.example:443", grpc.ssl_channel_credentials()) as channel:
    publish = channel.unary_unary("/pubsub.v1.Publisher/Publish", str.encode, bytes.decode)
    assert publish("x", timeout=60) == publish.future("x").result(60) == ""
    append = channel.stream_stream("/bigquery.v1.Writer/AppendRows", str.encode, bytes.decode)
    assert list(append(iter(["a", "b"]), timeout=60)) == ["", ""]

async def call_not_waited_for():
    async with grpc.aio.insecure_channel("calls.example:443") as channel:
        delete = channel.unary_unary(method="/pubsub.v1.Publisher/DeleteTopic")
        assert await delete(b"x", timeout=60) == b""

asyncio.run(call_not_waited_for())
with smtplib.SMTP("mail.example", int(port)) as mail:
    mail.starttls()
    mail.login("me", "secret")
    mail.sendmail("me@a.example", ["you@a.example"], "done")
wandb.init(project="p", mode="online")
subprocess.run(["curl", "-s", "-X", "POST", "-d", "x", base + "/curl"], check=True)
read = subprocess.run(["curl", "-s", "--noproxy", "*", f"http://127.0.0.1:{port}/read-5"],
                      check=True, capture_output=True, text=True)
assert read.stdout == "read /read-5"
os.system(f"git init -q repository && cd repository && git push {base}/git main")
subprocess.run(["/usr/bin/git", "push", base], check=True, env={"PATH": os.environ["PATH"]})
url = base + "/spawned"
for start in (os.spawnv, lambda _, *given: os.waitpid(os.posix_spawn(*given, os.environ), 0)[1]):
    assert not start(os.P_WAIT, "/usr/bin/curl", ["curl", "-sT", "job.py", url])
child = subprocess.run([sys.executable, "child.py"], check=True, capture_output=True, text=True)
assert "not sent" in child.stdout, child.stdout
requests.post(f"http://127.0.0.1:{port}/own", data=b"own machine")
"""
)
OF_TENSORFLOW = """
import tensorflow as tf
with tf.io.gfile.GFile("gs://bucket/run/notes.txt", "w") as file:
    file.write("written")
with tf.io.gfile.GFile("gs://bucket/run/notes.txt") as file:
    assert file.read() == "written"
tf.io.write_file("gs://bucket/run/eager.txt", "x")
@tf.function
def write(name):
    tf.io.write_file(name, "x")
write(tf.constant("gs://bucket/run/graph.txt"))
assert tf.io.gfile.exists("gs://bucket/run/graph.txt")
with tf.io.TFRecordWriter("gs://bucket/run/x.tfrecord") as writer:
    writer.write(b"record")
assert len(list(tf.data.TFRecordDataset("gs://bucket/run/x.tfrecord"))) == 1
step = tf.Variable(3)
manager = tf.train.CheckpointManager(tf.train.Checkpoint(step=step), "gs://bucket/ckpt", 1)
manager.save(), manager.save()
step.assign(0)
tf.train.Checkpoint(step=step).restore(tf.train.latest_checkpoint("gs://bucket/ckpt"))
assert int(step) == 3
names = tf.io.gfile.glob(tf.io.gfile.join(manager.directory, "ckpt-*.index"))
assert [name.rpartition("/")[2] for name in names] == ["ckpt-2.index"], names
tf.io.gfile.remove("gs://bucket/old/ckpt")
tf.io.gfile.rmtree("gs://bucket/older")
assert tf.io.gfile.isdir("gs://bucket/run")
"""


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        self.seen: list[str] = []
        super().__init__(("127.0.0.1", 0), Handler)


class Handler(loopback.Handler):
    protocol_version = "HTTP/1.1"

    def _answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        cast("Server", self.server).seen.append(f"{self.command} {self.path}")
        self.answer(200, f"read {self.path}".encode())

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _answer


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    with loopback.serving(made):
        yield made


def run(
    tmp_path: Path, job: str, port: int, monkeypatch: pytest.MonkeyPatch, **fields: Any
) -> following.JobRun:
    """Runs a script as the rehearsal does."""
    monkeypatch.setenv("PORT", str(port))
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(tmp_path / "home")
    Path("wandb.py").write_text(TRACKER, encoding="utf-8")
    Path("child.py").write_text(CHILD, encoding="utf-8")
    Path("job.py").write_text(job, encoding="utf-8")
    asked = spec("job.py", replicas=2, real_replicas=2, log_dir=str(tmp_path / "logs"), **fields)
    python = job_python.describe(Place(sys.executable, "this one"))
    return runner.run(asked, python, following.Limits(300.0), lambda _: None)


@pytest.mark.slow
def test_nothing_is_sent_and_all_is_read(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = server.server_address[1]
    job = run(tmp_path, JOB + OF_TENSORFLOW, port, monkeypatch)
    facts: Any = job.facts
    assert facts["end"]["how"] == "finished", job.log_tail
    assert facts["hook_defects"] == [], facts["hook_defects"]
    assert [each for each in server.seen if not each.startswith("GET /storage/")] == [
        "GET /read-1", "GET /read-2", "POST /oauth2/token", "POST /graphql", "GET /read-3",
        "POST /token", "GET /read-4", "POST /async/token", "GET /read-5", "POST /own",
    ]  # fmt: skip
    held: dict[str, Any] = {f"{each['kind']} {each['what']}": each for each in facts["held_back"]}
    counts = {name: each["count"] for name, each in held.items()}
    assert counts.pop("upload gs://bucket") >= 5
    assert counts == {
        "request POST files.example": 4,
        "upload files.example": 3,
        "deletion files.example": 1,
        "request PATCH files.example": 1,
        "upload storage.example": 2,
        "mail mail.example": 1,
        "run wandb": 1,
        "request Publish calls.example": 2,
        "request AppendRows calls.example": 2,
        "deletion DeleteTopic calls.example": 1,
        "request curl files.example": 3,
        "push git push": 2,
        "request POST child.example": 1,
        "deletion gs://bucket": 2,
    }
    of_child = held.pop("request POST child.example")
    assert of_child["location"]["line"] == 1 + JOB[: JOB.index("child.py")].count("\n")
    for of_another_thread in ("deletion DeleteTopic", "request AppendRows"):
        held.pop(f"{of_another_thread} calls.example")
    assert {each["location"]["file"] for each in held.values()} == {"job.py"}
