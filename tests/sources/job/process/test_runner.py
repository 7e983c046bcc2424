"""What the parent sets in a job's environment."""

from pathlib import Path

import pytest

from tests.sources.job.programs import THIS_PYTHON, spec
from tpudiag.sources.job.process import following, runner


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


def test_packages_of_a_hub_are_offline_where_its_data_are_faked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    assert "HF_HUB_OFFLINE" not in runner.added_variables(spec("train.py"))
    faked = spec("train.py", fake_data=True)
    assert runner.added_variables(faked)["HF_HUB_OFFLINE"] == "1", "and the report says so"
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    assert "HF_HUB_OFFLINE" not in runner.added_variables(faked), "the user's own stays"


@pytest.mark.slow
def test_what_a_rehearsal_leaves_in_its_temporary_folder_is_gone(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("import tempfile\nprint(tempfile.mkstemp()[1])\n")
    job = runner.run(spec(str(script)), THIS_PYTHON, following.Limits(total_s=60), lambda _: None)
    left = Path(job.log_tail.strip())
    assert left.parent.parts[-3].startswith("tpudiag-") and not left.parents[2].exists()


@pytest.mark.slow
def test_one_clock_bounds_all_tries_of_a_job(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("import threading\nthreading.Event().wait()\n")
    limits = following.Limits(total_s=60).within(0.5)
    assert limits.within(60).ends_at == limits.ends_at
    job = runner.run(spec(str(script)), THIS_PYTHON, limits, lambda _: None)
    assert job.timed_out == "the job took longer than 60 s (--timeout) while starting"
