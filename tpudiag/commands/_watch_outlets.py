"""Where `tpudiag watch` sends figures: Prometheus and Cloud Monitoring."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from tpudiag.commands._durations import duration

if TYPE_CHECKING:
    from tpudiag.diagnoses.watch_request import Outlet


def add_cloud_options(parser: argparse.ArgumentParser) -> None:
    """Where metrics go."""
    cloud = parser.add_argument_group("Cloud Monitoring")
    cloud.add_argument("--project", metavar="PROJECT", help="send the figures to this project")
    cloud.add_argument(
        "--job", metavar="NAME", help="the job's name in the metrics (default: the script's)"
    )
    cloud.add_argument(
        "--period",
        metavar="TIME",
        type=duration(),
        default=30.0,
        help="how often a point is written, at least 10 (default: 30s)",
    )
    cloud.add_argument(
        "--buffer",
        metavar="FILE",
        type=Path,
        help="keeps points through an outage (default: a file in ./tpudiag-logs)",
    )
    cloud.add_argument(
        "--endpoint",
        metavar="HOST:PORT",
        help="another server, without TLS and credentials, such as an emulator",
    )


def outlets(options: argparse.Namespace) -> list[Outlet]:
    """Prometheus and Cloud Monitoring, where asked for; raises UsageError."""
    from tpudiag.diagnoses.watch_outlets import OutletRequest, outlets

    return outlets(
        OutletRequest(
            sources=tuple(options.source),
            job=options.job,
            prometheus=options.prometheus,
            otlp=options.otlp,
            project=options.project,
            period_s=options.period,
            buffer=options.buffer,
            endpoint=options.endpoint,
        )
    )
