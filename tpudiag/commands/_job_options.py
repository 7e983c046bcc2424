"""The options of the verbs that run a job: which, in which Python, how long, for which compiler."""

from __future__ import annotations

import argparse
from pathlib import Path

from tpudiag.commands._durations import duration
from tpudiag.reference.options import LOOPS, MODELS, PRECISIONS


def add_target_options(parser: argparse.ArgumentParser, target_help: str) -> None:
    """What runs, and the TPU that it is meant for."""
    parser.add_argument(
        "target",
        metavar="TARGET",
        nargs="?",
        help=target_help,
    )
    parser.add_argument(
        "-m",
        dest="module",
        metavar="MODULE",
        help="run a module as `python -m` does; its arguments follow `--`",
    )
    parser.add_argument(
        "--for",
        dest="for_",
        metavar="TPU",
        help="the TPU it is meant for: v5e-8, v4-8 (default: the TPU found, or v5e-8)",
    )


def add_python_option(parser: argparse.ArgumentParser) -> None:
    """Whose environment the job runs in."""
    parser.add_argument(
        "--python",
        metavar="PYTHON",
        help="the Python of the job: a path, an environment's folder or a command (default: the "
        "active environment, .venv of the project, or the python3 on PATH that has TensorFlow)",
    )


def add_run_options(
    parser: argparse.ArgumentParser,
    steps: int = 20,
    log_dir: str = "./tpudiag-logs",
    keeps: bool = False,
) -> None:
    """How long the job runs, and where it writes; the defaults as the help names them."""
    _add_length_options(parser, steps)
    _add_limit_options(parser)
    add_data_option(parser)
    add_isolation_options(parser, keeps)
    parser.add_argument(
        "--log-dir",
        metavar="DIR",
        type=Path,
        default=Path("tpudiag-logs"),
        help=f"where runs leave their profile (default: {log_dir})",
    )


def _add_length_options(parser: argparse.ArgumentParser, steps: int) -> None:
    """How much of the job runs."""
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
        help="how long the rest of the script may take in a rehearsal (default: 60s), half as "
        "long again where its end is near",
    )


def _add_limit_options(parser: argparse.ArgumentParser) -> None:
    """How long the job may take, and what it may touch."""
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
        "--measure-input",
        metavar="TIME",
        type=duration(zero=True),
        default=10.0,
        help="how long to run a faulty input pipeline, as built and mended (default: 10s; 0: not)",
    )


def add_data_option(parser: argparse.ArgumentParser) -> None:
    """Whether data that cannot be reached is stood in for."""
    parser.add_argument(
        "--fake-data",
        action="store_true",
        help="stand in for data that cannot be reached from here: gs:// files, tfds, "
        "keras.datasets, TF Hub",
    )


def add_isolation_options(parser: argparse.ArgumentParser, keeps: bool = False) -> None:
    """What becomes of what a rehearsal writes and sends."""
    group = parser.add_argument_group("what a rehearsal may touch")
    group.add_argument(
        "--in-place",
        action="store_true",
        help="let the job write its files for real (default: what it writes is thrown away)",
    )
    parser.set_defaults(keep_writes=None)
    if keeps:
        group.add_argument(
            "--keep-writes",
            metavar="DIR",
            type=Path,
            help="keep what it wrote under DIR, which must be new or empty",
        )
    group.add_argument(
        "--offline",
        action="store_true",
        help="give the job no network at all (default: what it reads comes, what it sends is "
        "held back)",
    )


def add_reference_options(parser: argparse.ArgumentParser) -> None:
    """Which reference job runs where no TARGET is given."""
    reference = parser.add_argument_group("reference job")
    reference.add_argument(
        "--reference",
        metavar="MODEL",
        choices=MODELS,
        default="mlp",
        help="mlp, resnet50, bert or vit (default: mlp)",
    )
    reference.add_argument(
        "--loop",
        choices=LOOPS,
        default="custom",
        help="a train step of its own, or Keras fit (Keras >= 3.8 or tf-keras; default: custom)",
    )
    reference.add_argument(
        "--precision",
        choices=PRECISIONS,
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
    # Where the option is left out as well, for the request reads it of every verb.
    parser.set_defaults(no_compile=False)
    if may_be_left_out:
        group.add_argument(
            "--no-compile",
            action="store_true",
            help="do not ask it what the step needs on the target",
        )
    group.add_argument(
        "--compiler-python",
        metavar="PYTHON",
        help="the Python that has jax and libtpu, where this one has not",
    )
    group.add_argument(
        "--compile-timeout",
        metavar="TIME",
        type=duration(),
        default=600.0,
        help="how long one compilation may take (default: 10m)",
    )


def _count(text: str) -> int:
    """A positive whole number."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number
