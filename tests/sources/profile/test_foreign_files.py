from __future__ import annotations

import pytest

from tpudiag.sources.profile.foreign_files import stranger


@pytest.mark.parametrize(
    ("head", "cause"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "git lfs pull"),
        (b'{"displayTimeUnit": "ns", "traceEvents": []}', "JSON"),
        (b"\n<!DOCTYPE html><html>", "web page"),
        (b"PK\x03\x04\x14\x00", "unzip"),
        ("\n\ufffd\ufffd\x06\x12\x0a/device:TPU:0\x1a\ufffd4\ufffd".encode() * 4, "as text"),
    ],
)
def test_what_is_no_profile_is_called_by_its_name(head: bytes, cause: str) -> None:
    assert cause in (stranger(head) or "")


def test_a_profile_is_no_stranger() -> None:
    assert stranger(b"\x0a\xa7\xf4\x06\x08\x02\x12\x0d/device:TPU:0\x1a\x96\x34") is None
