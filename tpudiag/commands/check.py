"""tpudiag check: run a training job under observation and report what is wrong with it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tpudiag.commands import _report
from tpudiag.commands._durations import duration
from tpudiag.commands._progress import progress
from tpudiag.commands.compare import share
from tpudiag.errors import UsageError

if TYPE_CHECKING:
    from tpudiag.diagnoses.job_request import JobRequest, ReferenceJob
    from tpudiag.model import Report

EPILOG = """\
Without TARGET the reference job runs: a small model trained as a good TPUStrategy job trains.
Without a TPU the job is rehearsed: CPU replicas stand in for the target's, and the report says so.

examples:
  tpudiag check
  tpudiag check --for v6e-8 --reference bert --loop fit
  tpudiag check train.py --for v5e-8 -- --epochs 3
  tpudiag check package.module:train
  tpudiag check -m package.module -- --epochs 3
  tpudiag check --tpu local            on a TPU VM
  tpudiag check train.py --for v5e-8 --baseline main.json --fail-on-regression 2%
"""


def add_parser(verbs: _report.Verbs) -> None:
    """The options of `check`."""
    parser = verbs.add_parser(
        "check", help="run a job under observation, on the TPU or rehearsed without one",
        description=__doc__, epilog=EPILOG, allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument(
        "target", metavar="TARGET", nargs="?",
        help="a script (train.py), a notebook (train.ipynb) or module:function; "
        "default: the reference job",
    )  # fmt: skip
    parser.add_argument(
        "-m", dest="module", metavar="MODULE",
        help="run a module as `python -m` does; its arguments follow `--`",
    )  # fmt: skip
    parser.add_argument(
        "--for",
        dest="for_",
        metavar="TPU",
        help="the TPU it is meant for: v5e-8, v4-8 (default: the TPU found, or v5e-8)",
    )
    parser.add_argument(
        "--tpu",
        metavar="NAME",
        help="the TPU to use: a name, `local`, or `none` to rehearse (default: the one found)",
    )
    add_python_option(parser)
    add_run_options(parser)
    add_compiler_options(parser)
    _add_gate_options(parser)
    add_reference_options(parser)
    _report.add_report_options(parser)
    parser.set_defaults(run=run)


def add_python_option(parser: argparse.ArgumentParser) -> None:
    """Whose environment the job runs in."""
    parser.add_argument(
        "--python",
        metavar="PYTHON",
        help="the Python of the job: a path, an environment's folder or a command (default: the "
        "active environment, .venv of the project, or the python3 on PATH that has TensorFlow)",
    )


def add_run_options(
    parser: argparse.ArgumentParser, steps: int = 20, log_dir: str = "./tpudiag-logs"
) -> None:
    """How long the job runs, and where it writes; the defaults as the help names them."""
    parser.add_argument(
        "--steps",
        metavar="N",
        type=_count,
        help=f"steps to profile (default: {steps}, fewer where a rehearsal is slow)",
    )
    parser.add_argument(
        "--warmup",
        metavar="N",
        type=_count,
        default=5,
        help="steps before them (default: %(default)s)",
    )
    parser.add_argument(
        "--first-loop",
        action="store_true",
        help="end a rehearsal after the steps observed (default: go on, shortened)",
    )
    parser.add_argument(
        "--budget",
        metavar="TIME",
        type=duration(),
        default=60.0,
        help="how long the rest of the script may take in a rehearsal (default: 60s)",
    )
    parser.add_argument(
        "--timeout",
        metavar="TIME",
        type=duration(),
        default=900.0,
        help="how long the job may take (default: 15m)",
    )
    parser.add_argument(
        "--tpu-timeout",
        metavar="TIME",
        type=duration(),
        default=120.0,
        help="how long each call that reaches for the TPU may take (default: 2m)",
    )
    parser.add_argument(
        "--sandbox",
        metavar="DIR",
        type=Path,
        help="a folder for what the job writes (default: it writes where it says)",
    )
    parser.add_argument(
        "--measure-input",
        metavar="TIME",
        type=duration(zero=True),
        default=10.0,
        help="how long to run a faulty input pipeline, as built and mended (default: 10s; 0: not)",
    )
    add_data_option(parser)
    parser.add_argument(
        "--log-dir",
        metavar="DIR",
        type=Path,
        default=Path("tpudiag-logs"),
        help=f"where runs leave their profile (default: {log_dir})",
    )


def _add_gate_options(parser: argparse.ArgumentParser) -> None:
    """An earlier report to hold this one against."""
    gate = parser.add_argument_group("gate for CI")
    gate.add_argument(
        "--baseline", metavar="REPORT", help="a JSON report of an earlier check: says what grew"
    )
    gate.add_argument(
        "--fail-on-regression", metavar="PERCENT", type=share,
        help="exit with 1 where what the TPU compiler says (HBM need, FLOPs, bytes, cycles, "
        "predicted step) grew by more than this against --baseline, e.g. 2%%",
    )  # fmt: skip


def add_data_option(parser: argparse.ArgumentParser) -> None:
    """Whether data that cannot be reached is stood in for."""
    parser.add_argument(
        "--fake-data", action="store_true",
        help="stand in for data that cannot be reached from here: gs:// files, tfds, "
        "keras.datasets, TF Hub",
    )  # fmt: skip


def add_reference_options(parser: argparse.ArgumentParser) -> None:
    """Which reference job runs where no TARGET is given."""
    reference = parser.add_argument_group("reference job")
    reference.add_argument(
        "--reference",
        metavar="MODEL",
        choices=("mlp", "resnet50", "bert", "vit"),
        default="mlp",
        help="mlp, resnet50, bert or vit (default: mlp)",
    )
    reference.add_argument(
        "--loop",
        choices=("custom", "fit"),
        default="custom",
        help="a train step of its own, or Keras fit (Keras >= 3.8 or tf-keras; default: custom)",
    )
    reference.add_argument(
        "--precision",
        choices=("mixed_bfloat16", "float32"),
        default="mixed_bfloat16",
        help="the Keras dtype policy (default: %(default)s)",
    )
    reference.add_argument(
        "--full-size", action="store_true", help="the real model, not the one for two CPU cores"
    )
    reference.add_argument(
        "--checkpoint-dir",
        metavar="DIR",
        help="where it saves and resumes, local or gs:// (default: in the run's folder)",
    )


def add_compiler_options(parser: argparse.ArgumentParser, may_be_left_out: bool = True) -> None:
    """How the TPU compiler is asked, with no TPU."""
    group = parser.add_argument_group("TPU compiler (the extra `compiler`)")
    parser.set_defaults(no_compile=False)
    if may_be_left_out:
        group.add_argument(
            "--no-compile", action="store_true",
            help="do not ask it what the step needs on the target",
        )  # fmt: skip
    group.add_argument(
        "--compiler-python", metavar="PYTHON",
        help="the Python that has jax and libtpu, where this one has not",
    )  # fmt: skip
    group.add_argument(
        "--compile-timeout", metavar="TIME", type=duration(), default=600.0,
        help="how long one compilation may take (default: 10m)",
    )  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Diagnose the job and write the report."""
    _report.check_outputs(options)
    settings = _report.settings_for(options)
    baseline = _baseline(options)
    asked = request(options)
    from tpudiag.diagnoses import job

    with progress() as on_phase:
        report = job.diagnose(asked, settings, on_phase)
    closes = False
    if baseline is not None and not report.interrupted:
        from tpudiag.diagnoses.baseline import held_against

        gated = held_against(baseline, options.baseline, report, options.fail_on_regression)
        report, closes = gated.report, gated.closes
        print(f"tpudiag: {gated.verdict}", file=sys.stderr)
    code = _finish(report, options)
    code = max(code, int(closes))
    if report.next_command is not None:
        _report.beside_profile(report, str(asked.log_dir))
    return code


def _baseline(options: argparse.Namespace) -> Report | None:
    """The earlier report, read before anything runs; raises UnreadableInput and UsageError."""
    if options.baseline is None:
        if options.fail_on_regression is not None:
            raise UsageError("--fail-on-regression needs --baseline REPORT.json")
        return None
    from tpudiag import report_json

    return report_json.load(options.baseline)


def _finish(report: Report, options: argparse.Namespace) -> int:
    """Write the report; a job that ended early and left nothing to fail is exit code 2."""
    code = _report.emit(report, options)
    if report.interrupted:
        print("tpudiag: interrupted; the report holds what was seen until then", file=sys.stderr)
        return 130
    if report.partial is not None and code == 0:
        print(f"tpudiag: {report.partial}", file=sys.stderr)
        return 2
    return code


def request(options: argparse.Namespace) -> JobRequest:
    """The command line as a request; what cannot work is refused before anything starts."""
    from tpudiag.diagnoses import job_request
    from tpudiag.sources.compiler import libtpu_process
    from tpudiag.sources.compiler.compile_step import CompilerRequest

    goal = job_request.goal(options.for_, options.tpu)
    if options.compiler_python is not None:
        libtpu_process.find(options.compiler_python)
    program = job_request.program_of(options.target, options.module, _reference(options))
    python = job_request.python(options.python, options.target)
    log_dir = _run_folder(options)
    return job_request.JobRequest(
        program=program.program, name=program.name, is_module=program.is_module,
        arguments=program.arguments(options.arguments, log_dir),
        target=goal.target, target_choice=goal.target_choice, topology=goal.topology, tpu=goal.tpu,
        steps=options.steps, warmup_steps=options.warmup, timeout_s=options.timeout,
        tpu_timeout_s=options.tpu_timeout, log_dir=log_dir,
        measure_input_s=options.measure_input, sandbox=options.sandbox, python=python,
        fake_data=options.fake_data,
        rest_s=0.0 if options.first_loop else options.budget,
        compiler=CompilerRequest(
            not options.no_compile, options.compiler_python, options.compile_timeout
        ),
    )  # fmt: skip


def _run_folder(options: argparse.Namespace) -> Path:
    """The folder of this run, made; raises UsageError."""
    from tpudiag.diagnoses.job_request import run_name

    folder: Path = options.log_dir / run_name(
        options.target or options.module or f"reference-{options.reference}"
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--log-dir {options.log_dir}: {error.strerror}") from error
    return folder


def _reference(options: argparse.Namespace) -> ReferenceJob:
    """The reference job that is asked for where no other is."""
    from tpudiag.diagnoses.job_request import ReferenceJob

    return ReferenceJob(
        model=options.reference, loop=options.loop, precision=options.precision,
        full_size=options.full_size, checkpoint_dir=options.checkpoint_dir,
    )  # fmt: skip


def _count(text: str) -> int:
    """A positive whole number."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number
