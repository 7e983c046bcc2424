"""An option that is declared once is the same to people, programs and agents."""

from __future__ import annotations

import argparse
import inspect
from dataclasses import fields
from importlib import import_module
from typing import Any, get_args

import msgspec
import pytest

from tpudiag import job_options, library
from tpudiag.commands import _job_options
from tpudiag.diagnoses.job_request import SAID_ITSELF, JobRequest
from tpudiag.job_options import CheckOptions, Kind, Option, Verb
from tpudiag.mcp_server.tools import tool

VERBS: tuple[Verb, ...] = get_args(Verb)


def parsed(verb: Verb, *arguments: str) -> dict[str, Any]:
    parser = argparse.ArgumentParser()
    _job_options.add_options(parser, verb)
    return _job_options.said(parser.parse_args(arguments), verb)


@pytest.mark.parametrize("verb", VERBS)
def test_nothing_said_is_the_same_on_the_command_line_and_in_a_program(verb: Verb) -> None:
    assert parsed(verb) == job_options.defaults(verb)
    signature = inspect.signature(getattr(library, verb)).parameters
    for name, value in job_options.defaults(verb).items():
        assert signature[name].default == value, name


@pytest.mark.parametrize("verb", VERBS)
def test_what_agents_are_offered_has_the_defaults_of_the_rest(verb: Verb) -> None:
    arguments = tool(verb).arguments
    offered = {field.name: field.default for field in msgspec.structs.fields(arguments)}
    for name, (_, option) in job_options.options(verb).items():
        assert (name in offered) == bool(option.agents), name
        assert not option.agents or offered[name] == option.default, name


def test_what_is_said_is_taken_in_its_own_unit() -> None:
    said = parsed("check", "--timeout", "2m", "--warmup", "3", "--measure-input", "0", "--offline")
    assert (said["timeout_s"], said["warmup_steps"]) == (120.0, 3)
    assert (said["measure_input_s"], said["offline"]) == (0.0, True)


def test_an_option_of_another_verb_is_refused() -> None:
    with pytest.raises(TypeError, match=r"plan\(\) got an unexpected keyword argument 'steps'"):
        job_options.filled("plan", {"steps": 3})


def test_a_request_takes_what_is_a_field_of_it() -> None:
    taken = SAID_ITSELF & job_options.options("check").keys()
    assert {"steps", "warmup_steps", "timeout_s", "offline", "fake_data"} <= taken
    assert taken <= {field.name for field in fields(JobRequest)}


def test_a_new_option_is_one_declaration(monkeypatch: pytest.MonkeyPatch) -> None:
    """It stands on the command line, in the signature and on the page without another line."""
    new = Option(help="a new one (default: {})", kind=Kind.SECONDS, default=7200.0)
    hints: dict[str, Any] = dict(CheckOptions.__annotations__)
    hints["new_s"] = import_module("typing").Annotated[float, new]
    monkeypatch.setattr(CheckOptions, "__annotations__", hints)
    assert parsed("check", "--new", "1h")["new_s"] == 3600.0
    assert job_options.help_of(new) == "a new one (default: 2h)"

    @job_options.keywords("check")
    def check(**options: float) -> float:
        return options["new_s"]

    assert inspect.signature(check).parameters["new_s"].default == 7200.0
