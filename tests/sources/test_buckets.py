"""Buckets are queried over HTTP: the real client against a server on loopback."""

import json
import threading
from collections.abc import Iterator
from http.server import ThreadingHTTPServer

import pytest

from tests import loopback
from tpudiag.signals import BucketSeen
from tpudiag.sources import buckets

KNOWN = {"safe": {"versioning": {"enabled": True}}, "plain": {}}


class Storage(loopback.Handler):
    """The part of the JSON API that describes a bucket."""

    def do_GET(self) -> None:
        name = self.path.split("?", maxsplit=1)[0].rpartition("/")[2]
        if name == "hangs":
            self.server.released.wait()  # type: ignore[attr-defined]
        known = KNOWN.get(name)
        answer = {"name": name, **known} if known is not None else {"error": {"message": "none"}}
        status = 200 if known is not None else 404
        self.answer(status, json.dumps(answer).encode(), Content_Type="application/json")


@pytest.fixture
def storage(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Storage)
    server.released = threading.Event()  # type: ignore[attr-defined]
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "p")
    with loopback.serving(server) as port:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", f"http://127.0.0.1:{port}")
        yield
        server.released.set()  # type: ignore[attr-defined]


@pytest.mark.usefixtures("storage")
def test_versioning_is_read_from_each_bucket() -> None:
    seen = buckets.look(["gs://safe/a", "gs://plain/b", "gs://plain/c", "/local", "gs://absent/d"])
    by_name = {bucket.name: bucket for bucket in seen}
    assert by_name["safe"] == BucketSeen("safe", True)
    assert by_name["plain"] == BucketSeen("plain", False)
    assert by_name["absent"].versioning is None
    assert "404" in (by_name["absent"].error or "")
    assert len(seen) == 3


@pytest.mark.slow
@pytest.mark.usefixtures("storage")
def test_a_service_that_does_not_answer_costs_no_more_than_the_limit() -> None:
    (seen,) = buckets.look(["gs://hangs/a"], limit_s=1.0)
    assert seen.versioning is None
    assert seen.error


def test_without_a_bucket_nothing_is_asked() -> None:
    assert buckets.look(["/local/path", "relative"]) == ()
