"""A part of the corpus at every run; `python tests/corpus/run.py` rehearses all of it."""

import re
import sys
from pathlib import Path

import pytest

from tests.sources.job.programs import ran
from tpudiag.catalogue import checks

pytestmark = pytest.mark.slow

CORPUS = Path(__file__).parent / "corpus"
JOBS = sorted((CORPUS / "jobs").glob("[hmt]*_*.py"))
OFTEN = (
    "healthy_tfrecord_interleave",
    "many_custom_loop",
    "many_input_pipeline",
    "tpu101_new_function",
    "tpu501_model_outside_scope",
    "tpu605_loss_reduction_error",
)
"""One of each way to see: the data, the program, its traces, its variables, how it ends."""


@pytest.mark.parametrize("name", OFTEN)
def test_planted_defects_are_found_and_nothing_else(name: str) -> None:
    ran(sys.executable, str(CORPUS / "run.py"), name)


def test_the_corpus_is_as_large_as_it_is_said_to_be() -> None:
    heads = [path.read_text().partition("\n")[0] for path in JOBS]
    planted = [re.findall(r"TPU\d{3}", head) for head in heads]
    assert all(head.startswith("# corpus: must-fail: ") for head in heads)
    assert sum(len(set(ids)) == 1 for ids in planted) >= 40
    assert sum(not ids for ids in planted) >= 12
    assert sum(len(set(ids)) > 1 for ids in planted) >= 5
    known = {check.id for check in checks()}
    assert {id_ for ids in planted for id_ in ids} <= known
