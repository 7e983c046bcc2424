"""The options of `plan`, without a job."""

import argparse
from pathlib import Path

import pytest

from tpudiag.commands import _job_request, plan
from tpudiag.commands._parser import build_parser
from tpudiag.errors import UsageError


def parsed(*arguments: str) -> argparse.Namespace:
    options = build_parser("plan").parse_args(["plan", *arguments])
    options.arguments = []
    return options


def test_the_job_of_a_plan_is_asked_for_as_that_of_a_check(tmp_path: Path) -> None:
    options = parsed("--for", "v5e-8", "--log-dir", str(tmp_path))
    options.target = "v5e-8"
    assert _job_request.of(options).target.name == "v5e-8"


def test_a_slice_that_is_not_sold_is_refused() -> None:
    with pytest.raises(UsageError, match="v5e-1, v5e-4"):
        plan.run(parsed("--for", "v5e-3"))


def test_epochs_need_the_examples_of_one() -> None:
    with pytest.raises(UsageError, match="--examples"):
        plan.run(parsed("--epochs", "3"))


@pytest.mark.parametrize("text", ["0", "-1", "many", "inf"])
def test_a_number_of_examples_is_above_0(text: str) -> None:
    with pytest.raises(SystemExit):
        parsed("--examples", text)


@pytest.mark.parametrize("text", ["localhost:8786", "http://a:1", "tcp://a"])
def test_a_scheduler_has_an_address(text: str) -> None:
    with pytest.raises(SystemExit):
        parsed("--dask", text)
    assert parsed("--dask", "tcp://a:8786").dask == "tcp://a:8786"
