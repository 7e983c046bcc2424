"""What the parent sets in a job's environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from tpudiag.sources.job.process import runner
from tpudiag.sources.job.process.protocol import JobSpec


def spec(program: str) -> JobSpec:
    return JobSpec(
        program=program,
        arguments=(),
        replicas=8,
        real_replicas=8,
        hosts=1,
        rehearse=True,
        steps=1,
        warmup_steps=0,
        budget_s=0.0,
        log_dir="",
    )


@pytest.mark.parametrize("name", ["COLAB_TPU_ADDR", "TPU_NAME"])
def test_the_name_of_the_tpu_is_set_for_a_script_that_asks_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.delenv(name, raising=False)
    script = tmp_path / "train.py"
    script.write_text(f"import os\nos.environ['{name}']\n")
    assert name in runner.added_variables(spec(str(script)))
    script.write_text(f"import os\nprint('{name}' in os.environ)\n")
    assert name in runner.added_variables(spec(str(script)))
    script.write_text(f"import os\n{name} = os.environ.get('NAME')\n")
    assert name not in runner.added_variables(spec(str(script)))
    assert name not in runner.added_variables(spec("module:function"))
    script.write_text(f"import os\nos.environ.get('{name}', 'my-node')\n")  # its own default
    assert name not in runner.added_variables(spec(str(script)))
