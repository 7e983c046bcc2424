"""The settings for precision that a user gives a job."""

from pathlib import Path

from tpudiag.model import Location
from tpudiag.signals import PrecisionSwitch
from tpudiag.sources import precision_switches


def test_arguments_and_lines_of_the_configurations_that_they_name(tmp_path: Path) -> None:
    config = tmp_path / "vit.yaml"
    config.write_text(
        "runtime:\n  mixed_precision_dtype: 'float32'  # as before\n  tpu: local\n"
        "task:\n  dtype_note: see below\n  use_bfloat16: false\n"
    )
    arguments = (
        "--precision", "fp32", "--bf16=false", "--no_fp16", "-e", f"--config={config}", "none.yaml",
        "--lr=1",
    )  # fmt: skip
    assert precision_switches.look(arguments) == (
        PrecisionSwitch("--precision fp32"),
        PrecisionSwitch("--bf16=false"),
        PrecisionSwitch("--no_fp16"),
        PrecisionSwitch("mixed_precision_dtype: 'float32'  # as before", Location(str(config), 2)),
        PrecisionSwitch("use_bfloat16: false", Location(str(config), 6)),
    )
