"""The options of `watch` and `alerts`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, TypedDict

from tpudiag.options.kinds import (
    COUNT,
    FILE,
    MINUTES,
    PERCENT,
    SECONDS,
    SECONDS_OR_0,
    expectation,
    rate,
)
from tpudiag.options.option import Kind, Option
from tpudiag.options.shared import CheckSelection, ExitGate, ReportOutput, Workers

MONITORING = "Cloud Monitoring"
LIMITS = "limits"


class ExportOptions(TypedDict, total=False):
    """The name under which figures are sent, and the server."""

    job: Annotated[
        str | None,
        "the job's name in the metrics (default: the script's)",
        Option(
            metavar="NAME",
            group=MONITORING,
            otherwise={"alerts": {"help": "the job, as `watch --job` names it", "group": ""}},
        ),
    ]
    endpoint: Annotated[
        str | None,
        "another server, without TLS and credentials, such as an emulator",
        Option(
            metavar="HOST:PORT",
            group=MONITORING,
            otherwise={"alerts": {"help": "another server, without TLS", "group": ""}},
        ),
    ]


class Watch(Workers, ExportOptions, CheckSelection, ReportOutput, ExitGate, total=False):
    """All that `watch` takes."""

    sources: Annotated[
        Sequence[str],
        "a recording (tpudiag-logs, *.sqlite), a TensorBoard log folder, local or gs://, or "
        "the HOST:PORT of a profiler service, which is sampled: a second every half minute; "
        "all workers in all sources are judged",
        Option(flag="SOURCE", nargs="*"),
    ]
    once: Annotated[bool, "look once, report and exit"]
    interval_s: Annotated[float, "how often to look (default: {})", Option(2.0, SECONDS)]
    on_alert: Annotated[
        str | None,
        "run COMMAND in the shell when an alert is raised, and when it is over, with "
        "TPUDIAG_ALERT (the check's id), TPUDIAG_STATE (raised, over), TPUDIAG_MESSAGE, "
        "TPUDIAG_CAUSE and TPUDIAG_SOURCE in its environment, and all known facts as JSON "
        "on its stdin",
        Option(metavar="COMMAND"),
    ]
    prometheus: Annotated[
        str | None,
        "serve the figures for Prometheus at /metrics (on 127.0.0.1 unless HOST is given)",
        Option(metavar="[HOST:]PORT"),
    ]
    otlp: Annotated[
        str | None,
        "send the figures to an OpenTelemetry collector: http://localhost:4318/v1/metrics",
        Option(metavar="URL"),
    ]
    idle_s: Annotated[
        float | None,
        "how long to wait for the job's next run, or its restart, after a run has ended or was "
        "killed (default: 1m; not at all if it ended well and its process is gone)",
        Option(kind=SECONDS_OR_0),
    ]
    expect: Annotated[
        float | Path | None,
        "the normal rate: examples a second (steps, if the batch is not known), or the JSON "
        "report of tpudiag plan (the slow end of its prediction); default: the rate that the "
        "job and its earlier runs have shown",
        Option(kind=Kind(expectation, "RATE")),
    ]
    log: Annotated[
        Sequence[Path],
        "the file of the job's output, if it goes through a pipe (train.py 2>&1 | tee FILE); a "
        "file that the job writes itself on this host is found; known errors in it are "
        "reported (TPU605)",
        Option((), FILE, repeated="append"),
    ]
    no_capture: Annotated[
        bool,
        "take no profile of a drop or a stall; by default a second of it is captured if "
        "the trainer runs on this host, serves a profiler and has the memory for it",
    ]
    price: Annotated[
        float | None,
        "the price of a chip-hour, in your currency: shows the cost of the lost time",
        Option(kind=Kind(rate, "PRICE")),
    ]
    chips: Annotated[int, "chips per worker, for --price (default: {})", Option(1, COUNT)]
    period_s: Annotated[
        float,
        "time between two points, at least 10 (default: {})",
        Option(30.0, SECONDS, group=MONITORING),
    ]
    buffer: Annotated[
        Path | None,
        "the file for points during an outage (default: one in ./tpudiag-logs)",
        Option(kind=FILE, group=MONITORING),
    ]


class Alerts(ExportOptions, total=False):
    """All that `alerts` takes."""

    action: Annotated[
        Literal["apply", "list", "show", "delete", "export"],
        "apply, list, show, delete or export",
        Option(flag="ACTION"),
    ]
    policies: Annotated[
        Sequence[str],
        "only these policies, right after ACTION, e.g. throughput-drop (default: all of the job)",
        Option(flag="POLICY", nargs="*"),
    ]
    project: Annotated[str | None, "the Google Cloud project", Option(metavar="PROJECT")]
    notify: Annotated[
        Sequence[str],
        "a notification channel by its name, or its resource name; repeatable",
        Option((), repeated="append", metavar="CHANNEL"),
    ]
    dry_run: Annotated[bool, "show the changes without making them"]
    no_dashboard: Annotated[bool, "leave the job's dashboard alone"]
    format: Annotated[
        Literal["json", "terraform", "dashboard", "prometheus", "grafana"],
        "of export: the policies as JSON or Terraform, the JSON of the dashboard; rules for "
        "Prometheus and a dashboard for Grafana, on the figures of `watch --prometheus` "
        "(default: {})",
        Option("json"),
    ]
    output: Annotated[Path | None, "the file for export", Option(kind=FILE, flag="-o --output")]
    drop: Annotated[
        float,
        "throughput below the job's own baseline (default: {})",
        Option(20, PERCENT, group=LIMITS),
    ]
    input_share: Annotated[
        float,
        "of step time spent waiting for input (default: {})",
        Option(20, PERCENT, group=LIMITS),
    ]
    hbm_share: Annotated[
        float, "of the usable HBM in use (default: {})", Option(95, PERCENT, group=LIMITS)
    ]
    first_step: Annotated[
        float, "without a first step (default: {})", Option(20, MINUTES, group=LIMITS)
    ]
    silence: Annotated[float, "without a step (default: {})", Option(20, MINUTES, group=LIMITS)]
    absence: Annotated[
        float, "without a point; 2 to 1410 (default: {})", Option(10, MINUTES, group=LIMITS)
    ]
