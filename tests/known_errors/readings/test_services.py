"""What ssh and the cloud's services say is told apart, and what does not divide is counted."""

# ruff: noqa: E501  (texts of other programs stay as they are)
from __future__ import annotations

import pytest

from tpudiag.known_errors.search import match

MEANT = {
    "Permission denied (publickey).\nERROR: (gcloud.compute.ssh) [/usr/bin/ssh] exited with return code [255].": (
        "ssh-key-file"
    ),
    "ssh: connect to host 35.2.4.6 port 22: Connection refused": "describe NAME",
    "ssh: connect to host 35.2.4.6 port 22: Connection timed out": "firewall-rules",
    "Connection to 10.1.2.3 closed by remote host.\nERROR: (gcloud.compute.ssh) [/usr/bin/ssh] exited with return code [255].": (
        "ServerAliveInterval"
    ),
    "googleapi: Error 403: Read access to project 'test' was denied, forbidden": "set project",
    "ValueError: implies that array axis 0 is partitioned 8 times, but the dimension size is 7": (
        "to 8; or a batch"
    ),
    "ValueError: pmap got inconsistent sizes for array axes to be mapped:\n  * most axes (1530 of them) had size 1, e.g. axis 0 of args[0] of type int32[1,1,77];\n  * one axis had size 8: axis 0 of args[2] of type uint32[8,2]": (
        "jax.random.split(key, n)"
    ),
}


@pytest.mark.parametrize("text", MEANT)
def test_a_refusal_is_read(text: str) -> None:
    assert MEANT[text] in match(text)[0].fix
