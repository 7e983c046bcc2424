"""What the parent sets in a job's environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from tpudiag.sources.job.process import runner
from tpudiag.sources.job.process.protocol import JobSpec


def spec(program: str) -> JobSpec:
    return JobSpec(
        program=program, arguments=(), replicas=8, real_replicas=8, hosts=1, rehearse=True, steps=1,
        warmup_steps=0, budget_s=0.0, log_dir="",
    )  # fmt: skip


def test_the_address_of_colabs_tpu_is_set_for_a_script_that_asks_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLAB_TPU_ADDR", raising=False)
    script = tmp_path / "train.py"
    script.write_text("import os\nos.environ['COLAB_TPU_ADDR']\n")
    assert "COLAB_TPU_ADDR" in runner.added_variables(spec(str(script)))
    script.write_text("import os\n")
    assert "COLAB_TPU_ADDR" not in runner.added_variables(spec(str(script)))
    assert "COLAB_TPU_ADDR" not in runner.added_variables(spec("module:function"))
