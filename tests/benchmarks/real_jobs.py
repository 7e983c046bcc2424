"""Jobs that others wrote: `tests/benchmarks/real_jobs.py --python VENV/bin/python [NAME...]`.

VENV holds tf-models-official (Model Garden), which is no dependency of this project. For each job:
how far it came, the time, and what `tpudiag check` said of it. Not part of CI.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ORBIT = Path(__file__).with_name("orbit_job.py")
_TRAINER = (
    "trainer.train_steps=40,trainer.steps_per_loop=10,trainer.summary_interval=10,"
    "trainer.checkpoint_interval=20,trainer.validation_interval=20,trainer.validation_steps=2,"
    "runtime.distribution_strategy=tpu"
)


@dataclass(frozen=True)
class RealJob:
    """A program and its arguments; `{folder}` stands for a new folder."""

    target: tuple[str, ...]
    arguments: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


def _garden(module: str, experiment: str, override: str, mode: str = "train_and_eval") -> RealJob:
    """One experiment of the Model Garden, cut to a few steps."""
    return RealJob(
        ("-m", module),
        (
            f"--experiment={experiment}",
            f"--mode={mode}",
            "--model_dir={folder}",
            f"--params_override={_TRAINER},{override}",
        ),
        ("--fake-data",),
    )


JOBS = {
    "orbit": RealJob((str(ORBIT),)),
    "resnet": _garden(
        "official.vision.train",
        "resnet_imagenet",
        "runtime.mixed_precision_dtype=bfloat16,task.model.input_size=[64,64,3],"
        "task.model.backbone.resnet.model_id=18,task.train_data.global_batch_size=128,"
        "task.validation_data.global_batch_size=128,"
        "task.train_data.input_path=gs://imagenet/train-*,task.train_data.tfds_name='',"
        "task.validation_data.input_path=gs://imagenet/valid-*,task.validation_data.tfds_name=''",
    ),
    "bert": _garden(
        "official.nlp.train",
        "bert/pretraining",
        "trainer.optimizer_config.warmup.polynomial.warmup_steps=10,"
        "trainer.optimizer_config.learning_rate.polynomial.decay_steps=40,"
        "task.train_data.input_path=dummy,task.validation_data.input_path=dummy,"
        "task.train_data.seq_length=32,task.train_data.max_predictions_per_seq=4,"
        "task.validation_data.seq_length=32,task.validation_data.max_predictions_per_seq=4,"
        "task.train_data.global_batch_size=64,task.validation_data.global_batch_size=64,"
        "task.model.encoder.bert.num_layers=2,task.model.encoder.bert.hidden_size=128,"
        "task.model.encoder.bert.num_attention_heads=2,"
        "task.model.encoder.bert.intermediate_size=512,task.model.encoder.bert.vocab_size=1000",
    ),
}


def check(name: str, job: RealJob, python: str, limit_s: int) -> None:
    """Run one job through `tpudiag check` and print a row of it."""
    with tempfile.TemporaryDirectory(prefix="real-jobs-") as folder:
        report = Path(folder) / "report.json"
        arguments = [each.replace("{folder}", f"{folder}/model") for each in job.arguments]
        started = time.monotonic()
        process = subprocess.run(
            [sys.executable, "-m", "tpudiag", "check", *job.target, "--for", "v5e-8",
             "--no-compile", "--python", python, "--timeout", str(limit_s), "-o", str(report),
             "--log-dir", f"{folder}/logs", *job.options, "--", *arguments],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
        took_s = time.monotonic() - started
        if not report.exists():
            print(f"{name:8} no report, exit {process.returncode}: {process.stderr[-300:]}")
            return
        _print(name, json.loads(report.read_text()), took_s)


def _print(name: str, report: dict[str, Any], took_s: float) -> None:
    """How far it came, the time, the findings."""
    coverage: dict[str, Any] = report["coverage"] or {}
    reached = report["partial"] or coverage.get("end", "nothing")
    print(f"{name:8} {took_s:5.0f} s  reached: {reached}  hooks broken: {report['hook_defects']}")
    for outcome in report["outcomes"]:
        for finding in outcome["findings"]:
            place: dict[str, Any] = finding["location"] or {}
            where = f"{place.get('file')}:{place.get('line')}"
            severity = finding.get("severity") or outcome["severity"]
            print(f"    {severity:8} {outcome['id']} {where} {finding['message']}")


def main() -> None:
    """The jobs that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*JOBS, []], default=[])
    parser.add_argument("--python", required=True, help="of the environment with Model Garden")
    parser.add_argument("--timeout", type=int, default=600, help="seconds for each job")
    options = parser.parse_args()
    for name in options.names or JOBS:
        check(name, JOBS[name], options.python, options.timeout)


if __name__ == "__main__":
    main()
