"""Nothing is printed but through `tpudiag.printing`, and what goes through it is harmless."""

import ast
import io
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands.called import called
from tpudiag import printing

TOP = Path(__file__).parents[1]
PRINTS = "tpudiag/printing.py"
ALONE = (
    "tpudiag/sources/job/",  # in the user's own process, with the user's own output
    "tpudiag/reference/",
    "tpudiag/sources/profile/ask_xprof.py",
)
"""Programs of child processes: nothing of them reaches the terminal but through the parent."""
MAY_PRINT = re.compile(r"print|warn|stdout|stderr")
EVIL = "\x1b[2J\x1b]0;owned\x07\u202e"


def prints(tree: ast.AST) -> Iterator[int]:
    """Lines that write to stdout or stderr."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'":
            for inner in ast.walk(node):
                inner.is_program = True  # type: ignore[attr-defined]
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or hasattr(node, "is_program"):
            continue
        called = ast.unparse(node.func)
        if called in ("print", "traceback.print_exc", "warnings.warn") or called.endswith(
            ("stdout.write", "stderr.write", "stdout.buffer.write", "stderr.buffer.write")
        ):
            yield node.lineno


def test_one_module_prints() -> None:
    found = [
        f"{name}:{line}"
        for folder in ("tpudiag", "checks", "reports")
        for file in sorted((TOP / folder).rglob("*.py"))
        if (name := str(file.relative_to(TOP))) != PRINTS and not name.startswith(ALONE)
        if MAY_PRINT.search(text := file.read_text(encoding="utf-8"))
        for line in prints(ast.parse(text))
    ]
    assert found == []


def shown(capsys: pytest.CaptureFixture[str]) -> str:
    captured = capsys.readouterr()
    return captured.out + captured.err


def is_harmless(text: str) -> bool:
    return not any(sign in text for sign in ("\x1b", "\x07", "\u202e", "\r"))


def test_each_way_out_is_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    printing.say(f"a{EVIL}\nb")
    printing.say_whole(f"a{EVIL}\nb")
    printing.put(f"a{EVIL}\r\nb")
    said = shown(capsys)
    assert is_harmless(said)
    assert said.count("\\x1b[2J") == 3
    printing.put_data({"a": f"{EVIL}\x7f"})
    told = shown(capsys)
    assert is_harmless(told)
    assert json.loads(told) == {"a": f"{EVIL}\x7f"}


def test_emphasis_is_kept_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    printing.put_emphasised(f"{printing.BOLD}a{printing.PLAIN}{EVIL}")
    assert is_harmless(shown(capsys).replace(printing.BOLD, "").replace(printing.PLAIN, ""))


class Gone(io.StringIO):
    """A terminal that was closed."""

    def write(self, text: str) -> int:
        raise OSError(5, "Input/output error", text)


def test_a_stream_that_is_gone_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Gone())
    printing.say("lost")
    printing.say_whole("lost")


ARGUMENTS = [
    ["read", "{evil}"],
    ["read", "{file}"],
    ["read", "--run", "{evil}", "{folder}"],
    ["read", "--list", "{evil}"],
    ["read", "--engine", "{evil}", "{file}"],
    ["read", "--xprof", "{evil}", "{file}"],
    ["compare", "{evil}", "{file}"],
    ["compare", "{folder}", "{json}"],
    ["render", "{json}", "-o", "{evil}.json"],
    ["render", "{folder}/a.json", "-o", "{folder}/{evil}/a.html"],
    ["check", "{evil}"],
    ["check", "{evil}.py"],
    ["check", "--python", "{evil}"],
    ["check", "--for", "{evil}"],
    ["check", "--format", "{evil}"],
    ["check", "--baseline", "{json}"],
    ["check", "-o", "{evil}"],
    ["check", "--select", "{evil}"],
    ["check", "--{evil}"],
    ["{evil}"],
    ["fix", "{evil}.py"],
    ["plan", "{evil}.py"],
    ["plan", "--for", "{evil}"],
    ["plan", "--batch", "{evil}"],
    ["plan", "--cost", "{json}"],
    ["attach", "{evil}"],
    ["attach", "{evil}:1"],
    ["watch", "{evil}", "--once"],
    ["watch", "{folder}", "--log", "{evil}"],
    ["watch", "{folder}", "--expect", "{evil}"],
    ["explain", "{evil}"],
    ["explain", "--error", "RuntimeError: {evil} at {evil}"],
    ["explain", "--log", "{json}"],
    ["alerts", "apply", "--project", "{evil}"],
    ["alerts", "{evil}"],
    ["mcp", "--folder", "{evil}"],
]


@pytest.mark.slow
@pytest.mark.parametrize("arguments", ARGUMENTS, ids=" ".join)
def test_every_verb_complains_harmlessly(arguments: list[str], tmp_path: Path) -> None:
    folder = tmp_path / f"a{EVIL.replace('/', '')}"
    folder.mkdir()
    file = folder / "a.xplane.pb"
    file.write_bytes(b"\x0a" + EVIL.encode() * 9)
    text = folder / "a.json"
    text.write_text(f'{{"schema_version": 1, "{EVIL}": "ValueError: {EVIL}"')
    names = {"evil": EVIL, "file": file, "folder": folder, "json": text}
    done = called(*(argument.format(**names) for argument in arguments))
    said = done.stdout + done.stderr
    assert done.returncode == 2
    assert said
    assert is_harmless(said), repr(said)
    assert "Traceback" not in said
