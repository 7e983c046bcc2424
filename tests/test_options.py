"""An option that is declared once is the same to people, programs, agents and the settings file."""

import argparse
import inspect
import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import msgspec
import pytest

from tpudiag import library
from tpudiag.commands import _parser
from tpudiag.errors import UsageError
from tpudiag.mcp_server.folder import Folder, held
from tpudiag.mcp_server.tools import TOOLS, tool
from tpudiag.model import Framework
from tpudiag.options import verbs
from tpudiag.options.jobs import CheckOptions
from tpudiag.options.kinds import SECONDS
from tpudiag.options.option import AGENTS, PEOPLE, Option, flags, help_of, read
from tpudiag.settings_file import section

OF_THE_LIBRARY = sorted(verbs.KEYWORDS)


def parsed(verb: str, *arguments: str) -> dict[str, Any]:
    parser = argparse.ArgumentParser()
    _parser.add_options(parser, verb)
    return vars(parser.parse_args(arguments))


def test_every_verb_has_its_options() -> None:
    assert set(verbs.OF_VERB) == set(_parser.VERBS)


@pytest.mark.parametrize("verb", ["check", "fix", "plan", "watch", "attach"])
def test_nothing_said_is_what_is_declared(verb: str) -> None:
    said = parsed(verb)
    for name, (_, option) in verbs.options(verb, PEOPLE).items():
        if option.people and not option.nargs:
            assert said[name] == (list(option.default) if option.repeated else option.default), name


@pytest.mark.parametrize("verb", OF_THE_LIBRARY)
def test_a_program_and_an_agent_have_the_same_defaults(verb: str) -> None:
    signature = inspect.signature(getattr(library, verb)).parameters
    for name, (_, option) in read(verbs.KEYWORDS[verb], verb).items():
        assert signature[name].default == option.default, name
    offered = {field.name for field in msgspec.structs.fields(tool(verb).arguments)}
    assert offered == {name for name, (_, o) in verbs.options(verb, AGENTS).items() if o.agents}


def test_what_is_said_is_taken_in_its_own_unit() -> None:
    said = parsed("check", "--timeout", "2m", "--warmup", "3", "--measure-input", "0", "--offline")
    assert (said["timeout_s"], said["warmup_steps"]) == (120.0, 3)
    assert (said["measure_input_s"], said["offline"]) == (0.0, True)


@pytest.mark.parametrize("verb", ["check", "fix", "plan", "watch", "attach"])
def test_what_the_settings_switch_on_is_switched_off_on_the_command_line(verb: str) -> None:
    parser = argparse.ArgumentParser()
    _parser.add_options(parser, verb)
    shown = {n: o for n, (kind, o) in verbs.options(verb, PEOPLE).items() if kind is bool}
    parser.set_defaults(**dict.fromkeys(shown, True))
    for name, option in shown.items():
        if option.people:
            switch = flags(name, option)[-1]
            off = f"--{switch[5:]}" if switch.startswith("--no-") else f"--no-{switch[2:]}"
            assert getattr(parser.parse_args([]), name) is True
            assert getattr(parser.parse_args([off]), name) is False
            assert getattr(parser.parse_args([off, switch]), name) is True, "the last word counts"


def test_an_option_of_another_verb_is_refused() -> None:
    with pytest.raises(TypeError, match=r"plan\(\) got an unexpected keyword argument 'steps'"):
        verbs.filled("plan", {"steps": 3})


def test_a_path_that_an_agent_names_is_held_to_the_folder() -> None:
    """Of every option of which agents read, what may be a path says how it is held."""
    free = {"arguments", "target", "targets", "select", "ignore", "run", "step_name", "id", "error"}
    for each in TOOLS:
        for name, (kind, option) in verbs.options(each.name, AGENTS).items():
            if option.agents and "str" in str(kind):
                assert (name in free) != bool(option.in_folder), f"{each.name} {name}"


def test_several_paths_are_each_held(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    for name in "abc":
        (tmp_path / name).touch()
    given = tool("compare").read({"before": ["a"], "after": ["b", "./c"]})
    assert held("compare", given, folder)["after"] == ["b", "c"]
    given["after"] = ["b", "../c"]
    with pytest.raises(UsageError):
        held("compare", given, folder)


def test_a_new_option_is_one_declaration(monkeypatch: pytest.MonkeyPatch) -> None:
    """It stands on the command line, in the signature and for agents without another line."""
    text, new = "a new one (default: {})", Option(7200.0, SECONDS, agents="a new one")
    hints: dict[str, Any] = {"new_s": Annotated[float, text, new]}
    for each in (CheckOptions, verbs.OF_VERB["check"]):
        monkeypatch.setattr(each, "__annotations__", {**each.__annotations__, **hints})
    assert parsed("check", "--new", "1h")["new_s"] == 3600.0
    made = section(Path("pyproject.toml"), b"[tool.tpudiag.check]\nnew_s = '1h'")
    assert made is not None and made["check"] == {"new_s": 3600.0}
    assert help_of(read(CheckOptions, "check")["new_s"][1]) == "a new one (default: 2h)"
    assert "a new one (default: 2h)" in import_module("tests.readme").options()
    assert tool("check").__class__(name="check", title="", description="").read({})["new_s"] == 7200

    @verbs.keywords
    def check(**options: float) -> float:
        return options["new_s"]

    assert inspect.signature(check).parameters["new_s"].default == 7200.0


def test_a_request_takes_its_fields_of_what_was_said(tmp_path: Path) -> None:
    job_request = import_module("tpudiag.diagnoses.job_request")
    said = parsed("check", "--steps", "7", "--timeout", "1m", "--offline")
    made = job_request.resolved(said | {"arguments": ()}, tmp_path, "v5e-8")
    assert (made.steps, made.timeout_s, made.offline, made.target.name) == (7, 60.0, True, "v5e-8")


@pytest.mark.slow
@pytest.mark.parametrize("named", [("-m", "lib.train"), ("lib.train:main",)])
def test_the_framework_of_a_job_however_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "train.py").write_text("import tensorflow, jax\n")
    said = parsed("check", "--python", sys.executable, *named) | {"arguments": ()}
    made = import_module("tpudiag.diagnoses.job_request").resolved(said, tmp_path)
    assert made.framework is Framework.JAX
