"""A Kubernetes API server on loopback that lists pods, and the kubeconfig that leads to it."""

import json
import shutil
import ssl
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import HTTPServer, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests import loopback

TOKEN = "loopback"
Json = dict[str, Any]


@dataclass
class ApiServer:
    """Its pods by namespace, its refusal, and the requests that it got."""

    port: int = 0
    pods: dict[str, list[Json]] = field(default_factory=dict[str, list[Json]])
    refusal: tuple[int, str] | None = None
    asked: list[str] = field(default_factory=list[str])

    def answer(self, path: str, token: str | None) -> tuple[int, Json]:
        """One GET."""
        self.asked.append(path)
        if (token or "").casefold() != f"bearer {TOKEN}":
            return 401, _failure(401, "Unauthorized")
        if self.refusal is not None:
            return self.refusal[0], _failure(*self.refusal)
        url = urlsplit(path)
        namespace = url.path.split("/")[4]
        selector = parse_qs(url.query).get("labelSelector", [""])[0]
        wanted = dict(pair.split("=") for pair in selector.split(","))
        items = [
            pod
            for pod in self.pods.get(namespace, [])
            if wanted.items() <= pod["metadata"]["labels"].items()
        ]
        return 200, {"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": items}


def pod(name: str, address: str | None = "127.0.0.1", **changed: Any) -> Json:
    """A pod that runs, as the API lists it; `changed` replaces parts of metadata and status."""
    index = name.rpartition("-")[2]
    labels = {"job-name": "bert", "batch.kubernetes.io/job-completion-index": index}
    container = {"name": "trainer", "resources": {"limits": {"google.com/tpu": "4"}}}
    status: Json = {
        "phase": "Running",
        "podIP": address,
        "containerStatuses": [{"name": "trainer", "restartCount": 1, "state": {"running": {}}}],
    }
    metadata: Json = {"name": name, "namespace": "default", "labels": labels}
    return {
        "metadata": {**metadata, **changed.pop("metadata", {})},
        "spec": {"nodeName": f"node-{index}", "containers": [container]},
        "status": {**status, **changed},
    }


@contextmanager
def served(folder: Path, tls: bool = False) -> Generator[tuple[ApiServer, Path]]:
    """The server while it runs, and a kubeconfig with its context; with TLS its certificate."""
    api, chain = ApiServer(), folder

    class Handler(loopback.Handler):
        def do_GET(self) -> None:
            code, body = api.answer(self.path, self.headers.get("Authorization"))
            self.answer(code, json.dumps(body).encode(), Content_Type="application/json")

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if tls:
        chain = over_tls(server, folder)
    with loopback.serving(server) as api.port:
        yield api, chain if tls else kubeconfig(folder / "kubeconfig", api.port)


def kubeconfig(path: Path, port: int) -> Path:
    """A kubeconfig (JSON is YAML) with the contexts `here` (current) and `team`."""
    contexts = [
        {"name": "here", "context": {"cluster": "c", "user": "u"}},
        {"name": "team", "context": {"cluster": "c", "user": "u", "namespace": "team"}},
    ]
    made = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "contexts": contexts,
        "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
        "users": [{"name": "u", "user": {"token": TOKEN}}],
    }
    path.write_text(json.dumps(made))
    return path


def over_tls(server: HTTPServer, folder: Path) -> Path:
    """Put a server behind TLS; its certificate, which vouches for itself."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make a certificate with")
    chain, key = folder / "ca.crt", folder / "key.pem"
    asked = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext"
    subprocess.run(
        [*asked.split(), "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(chain)],
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    return chain


def _failure(code: int, message: str) -> Json:
    return {"kind": "Status", "status": "Failure", "code": code, "message": message}
