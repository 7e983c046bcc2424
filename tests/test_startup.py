"""`--help`, `--version` and `explain` load nothing heavy; wrong usage is reported on stderr."""

import pytest

from tests.commands.called import called, refused
from tests.sources.job.programs import printed

HEAVY = (
    "tensorflow", "jax", "grpc", "google.cloud", "xprof", "rich", "jinja2", "numpy", "msgspec",
    "plotly", "markdown_it", "mcp", "pydantic", "tpudiag.signals",
)  # fmt: skip
STARTED = (
    ["--help"],
    ["--version"],
    ["check", "--help"],
    ["attach", "--help"],
    ["watch", "--help"],
    ["alerts", "--help"],
    ["explain", "TPU101"],
    ["explain"],
    ["explain", "--error", "Please provide a TPU Name to connect to"],
    ["render", "--help"],
    ["mcp", "--help"],
)
RUNNER = f"""
import io, sys
from contextlib import redirect_stdout
from tpudiag.cli import main
for arguments in {STARTED!r}:
    said = io.StringIO()
    with redirect_stdout(said):
        try:
            code = main(arguments)
        except SystemExit as ended:
            code = ended.code
    print(arguments, code, repr(said.getvalue()[:8]))
    print("loaded:", *[name for name in {HEAVY!r} if name in sys.modules])
"""


def test_nothing_heavy_is_imported() -> None:
    """One process for all of them: what one loads is seen behind it."""
    lines = printed(RUNNER).splitlines()
    assert len(lines) == 2 * len(STARTED)
    for arguments, said, loaded in zip(STARTED, lines[::2], lines[1::2], strict=True):
        begins = said.removeprefix(f"{arguments} 0 ")
        assert begins.startswith(("'usage: t", "'tpudiag ", "'TPU", "'E01 ")), said
        assert loaded.strip() == "loaded:", said


@pytest.mark.parametrize(
    "arguments",
    [[], ["cure"], ["check", "--nonsense"], ["read"], ["check", "--fail-on", "sometimes"]],
)
def test_wrong_usage_exits_2_and_says_why(arguments: list[str]) -> None:
    assert "error: " in refused(called(*arguments))
