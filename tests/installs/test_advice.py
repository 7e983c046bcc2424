"""Version advice on TensorFlow for TPUs stands in the table and nowhere else."""

import re
import tomllib
from pathlib import Path

from tpudiag.installs import words

TOP = Path(__file__).parents[2]
PIN = re.compile(
    r"tensorflow[-_]tpu\[?\w*\]?['\"]?\s*(?:[=~]=|[<>]=?)\s*v?\d"
    r"|\blibtpu['\"]?\s*(?:[=~]=|[<>]=?)\s*\d"
    # Without a version pip takes one that finds no TPU.
    r"|(?<!un)install(?: -\S+)* tensorflow-tpu(?![-=\w])"
    r"|--version[= ]tpu-vm-tf-\d",
    re.IGNORECASE,
)
NAMED = re.compile(r"tensorflow[-_]tpu|libtpu|--version[= ]tpu", re.IGNORECASE)
READ = ("tpudiag", "checks", "reports", "docs", "README.md", "CONTRIBUTING.md")
EXEMPT = {
    # Patterns and examples of known errors are words of other programs, not advice.
    "example", "miss", "patterns",
}  # fmt: skip


def advice(text: str) -> list[str]:
    """The lines of a text that pin tensorflow-tpu or libtpu."""
    lines = text.splitlines() if NAMED.search(text) else ()
    return [line.strip() for line in lines if PIN.search(line) and not _quoted(line)]


def _quoted(line: str) -> bool:
    """Whether a line is a pattern or an example of an error."""
    field = line.strip().partition("=")[0]
    return field in EXEMPT or line.strip().startswith(('r"', "r'"))


def test_versions_are_advised_by_the_table_alone() -> None:
    files = [
        file
        for name in READ
        for file in ([TOP / name] if (TOP / name).is_file() else (TOP / name).rglob("*"))
        if file.suffix in {".py", ".md", ".html", ".toml", ".json"}
        and not file.is_relative_to(TOP / "tpudiag" / "installs")
        and file != TOP / "docs" / "installing.md"  # made from the table: tests/readme.py
    ]
    assert len(files) > 300
    found = {
        f"{file.relative_to(TOP)}: {line}" for file in files for line in advice(file.read_text())
    }
    assert not found


def test_a_pin_is_seen() -> None:
    for line in (
        'pip install "tensorflow-tpu==2.20.0"',
        "pip install 'libtpu>=0.0.14'",
        "pip install -U tensorflow-tpu  # on a TPU VM",
        "tpu-vm create NAME --version=tpu-vm-tf-2.18.0-pjrt",
    ):
        assert advice(line)
    assert not advice("pip uninstall -y tensorflow tensorflow-tpu")
    assert not advice("tensorflow-tpu 2.20.0 with libtpu 0.0.17; libtpu >= the release before")


def test_the_extra_is_what_the_table_says() -> None:
    project = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (tpu,) = project["optional-dependencies"]["tpu"]
    assert tpu.partition(";")[0] == words.REQUIREMENT


def test_explanations_say_what_the_table_says() -> None:
    from tpudiag.explanation import explanations

    said = {each.id: each.body for each in explanations()}
    for id_ in ("TPU002", "TPU003", "TPU004"):
        assert words.INSTALL in said[id_]
    assert not [id_ for id_, body in said.items() if "<<" in body]
