"""TPU003: why a TPU was not reached."""

from tests.checks.rehearsal import examine, h
from tpudiag.signals import TpuAttempt


def test_a_call_to_the_tpu_that_finds_no_host_is_no_download_that_failed() -> None:
    error = "URLError: <urlopen error [Errno -2] Name or service not known>"
    attempt = TpuAttempt(asked="mine", reached=False, phase="resolver", error=error)
    (finding,) = examine(h(tpu=attempt), "TPU003").findings
    assert "download" not in finding.message and "its name is unknown here" in finding.message
