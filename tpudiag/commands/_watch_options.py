"""The options of `watch`: what is watched, what is normal, and which workers are looked up."""

from __future__ import annotations

import argparse
from pathlib import Path

from tpudiag.commands._durations import duration
from tpudiag.commands._worker_options import add_kubernetes_options, add_port_option
from tpudiag.whole import whole


def add_source_options(parser: argparse.ArgumentParser) -> None:
    """What is watched, how often, and who is told."""
    parser.add_argument(
        "source",
        metavar="SOURCE",
        nargs="*",
        help="a recording (tpudiag-logs, *.sqlite), a TensorBoard log folder, local or gs://, or "
        "the HOST:PORT of a profiler service, which is sampled: a second every half minute; all "
        "workers in all of them are judged",
    )
    parser.add_argument("--once", action="store_true", help="look once, report and end")
    parser.add_argument(
        "--interval",
        metavar="TIME",
        type=duration(),
        default=2.0,
        help="how often to look (default: 2s)",
    )
    parser.add_argument(
        "--on-alert",
        metavar="COMMAND",
        help="run COMMAND by the shell when an alert is raised, and when it is over, with "
        "TPUDIAG_ALERT (the check's id), TPUDIAG_STATE (raised, over), TPUDIAG_MESSAGE, "
        "TPUDIAG_CAUSE and TPUDIAG_SOURCE in its environment, and all that is known as JSON on its "
        "stdin",
    )
    parser.add_argument(
        "--prometheus",
        metavar="[HOST:]PORT",
        help="serve the figures for Prometheus at /metrics (on 127.0.0.1 unless HOST says else)",
    )
    parser.add_argument(
        "--otlp",
        metavar="URL",
        help="send the figures to a collector of OpenTelemetry: http://localhost:4318/v1/metrics",
    )
    parser.add_argument(
        "--idle",
        metavar="TIME",
        type=duration(zero=True),
        default=None,
        help="how long to wait for the job's next run, or its restart, after one has ended or was "
        "killed (default: 1m; not at all where it ended well and its process is gone)",
    )


def add_judgement_options(parser: argparse.ArgumentParser) -> None:
    """What is normal, where causes are looked for, and what lost time costs."""
    parser.add_argument(
        "--expect",
        metavar="RATE",
        type=expectation,
        help="what is normal: examples a second (steps, where the batch is not known), or the "
        "JSON report of tpudiag plan (the slow end of what it predicts); without it, what the job "
        "and its earlier runs have shown",
    )
    parser.add_argument(
        "--log",
        metavar="FILE",
        type=Path,
        action="append",
        default=[],
        help="what the job prints, where it goes through a pipe (train.py 2>&1 | tee FILE); a file "
        "that it writes itself on this host is found; known errors in it are told (TPU605)",
    )
    parser.add_argument(
        "--no-capture",
        action="store_true",
        help="take no profile of a drop or a stall; by default a second of it is captured where "
        "the trainer runs on this host, serves a profiler and has the memory for it",
    )
    parser.add_argument(
        "--price",
        metavar="PRICE",
        type=rate,
        help="of a chip-hour, in your money: what the lost time costs",
    )
    parser.add_argument(
        "--chips",
        metavar="N",
        type=count,
        default=1,
        help="chips that each worker drives, for --price (default: 1)",
    )


def add_worker_options(parser: argparse.ArgumentParser) -> None:
    """Workers that are looked up, and sampled at their profilers' port."""
    tpu = parser.add_argument_group("Cloud TPU")
    tpu.add_argument(
        "--tpu",
        metavar="NAME",
        help="all workers of this TPU (its project: --project, or that of the credentials)",
    )
    tpu.add_argument("--zone", metavar="ZONE", help="its zone (default: looked for in all)")
    add_port_option(parser)
    add_kubernetes_options(parser)


def rate(text: str) -> float:
    """A rate above 0."""
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no rate above 0, such as 10000")
    return value


def expectation(text: str) -> float | Path:
    """A rate, or a plan's report."""
    return Path(text) if text.endswith(".json") else rate(text)


def count(text: str) -> int:
    """A number of 1 or more."""
    number = whole(text) or 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of 1 or more")
    return number
