"""Where `tpudiag watch` sends figures: Prometheus and Cloud Monitoring."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from tpudiag.commands._durations import duration
from tpudiag.errors import UsageError

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
        "--resource",
        choices=("generic_task", "k8s_container", "gce_instance"),
        default="generic_task",
        help="the monitored resource of a worker (default: %(default)s)",
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
    chosen: list[Outlet] = []
    if options.prometheus is not None:
        from tpudiag.monitoring.prometheus import Prometheus

        chosen.append(Prometheus(options.prometheus, options.job))
    if options.project is not None:
        from tpudiag.monitoring.cloud.exporter import Destination, Exporter

        destination = Destination(
            project=options.project,
            job=options.job,
            resource=options.resource,
            period_s=options.period,
            endpoint=options.endpoint,
            buffer=options.buffer,
        )
        chosen.append(Exporter(destination, ", ".join(options.source)))
    elif options.endpoint is not None:
        raise UsageError("--endpoint: needs --project")
    return chosen
