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
from tpudiag.options.shared import Gated, Judged, Workers, Written

MONITORING = "Cloud Monitoring"
LIMITS = "limits"


class Sent(TypedDict, total=False):
    """Under which name figures go, and where."""

    job: Annotated[
        str | None,
        Option(
            "the job's name in the metrics (default: the script's)",
            metavar="NAME",
            group=MONITORING,
            otherwise={"alerts": {"help": "the job, as `watch --job` names it", "group": ""}},
        ),
    ]
    endpoint: Annotated[
        str | None,
        Option(
            "another server, without TLS and credentials, such as an emulator",
            metavar="HOST:PORT",
            group=MONITORING,
            otherwise={"alerts": {"help": "another server, without TLS", "group": ""}},
        ),
    ]


class Watch(Workers, Sent, Judged, Written, Gated, total=False):
    """All that `watch` takes."""

    sources: Annotated[
        Sequence[str],
        Option(
            "a recording (tpudiag-logs, *.sqlite), a TensorBoard log folder, local or gs://, or "
            "the HOST:PORT of a profiler service, which is sampled: a second every half minute; "
            "all workers in all of them are judged",
            flag="SOURCE",
            nargs="*",
        ),
    ]
    once: Annotated[bool, Option("look once, report and end")]
    interval_s: Annotated[float, Option("how often to look (default: {})", 2.0, SECONDS)]
    on_alert: Annotated[
        str | None,
        Option(
            "run COMMAND by the shell when an alert is raised, and when it is over, with "
            "TPUDIAG_ALERT (the check's id), TPUDIAG_STATE (raised, over), TPUDIAG_MESSAGE, "
            "TPUDIAG_CAUSE and TPUDIAG_SOURCE in its environment, and all that is known as JSON "
            "on its stdin",
            metavar="COMMAND",
        ),
    ]
    prometheus: Annotated[
        str | None,
        Option(
            "serve the figures for Prometheus at /metrics (on 127.0.0.1 unless HOST says else)",
            metavar="[HOST:]PORT",
        ),
    ]
    otlp: Annotated[
        str | None,
        Option(
            "send the figures to a collector of OpenTelemetry: http://localhost:4318/v1/metrics",
            metavar="URL",
        ),
    ]
    idle_s: Annotated[
        float | None,
        Option(
            "how long to wait for the job's next run, or its restart, after one has ended or was "
            "killed (default: 1m; not at all where it ended well and its process is gone)",
            kind=SECONDS_OR_0,
        ),
    ]
    expect: Annotated[
        float | Path | None,
        Option(
            "what is normal: examples a second (steps, where the batch is not known), or the "
            "JSON report of tpudiag plan (the slow end of what it predicts); without it, what the "
            "job and its earlier runs have shown",
            kind=Kind(expectation, "RATE"),
        ),
    ]
    log: Annotated[
        Sequence[Path],
        Option(
            "what the job prints, where it goes through a pipe (train.py 2>&1 | tee FILE); a file "
            "that it writes itself on this host is found; known errors in it are told (TPU605)",
            (),
            FILE,
            repeated="append",
        ),
    ]
    no_capture: Annotated[
        bool,
        Option(
            "take no profile of a drop or a stall; by default a second of it is captured where "
            "the trainer runs on this host, serves a profiler and has the memory for it"
        ),
    ]
    price: Annotated[
        float | None,
        Option("of a chip-hour, in your money: what the lost time costs", kind=Kind(rate, "PRICE")),
    ]
    chips: Annotated[
        int, Option("chips that each worker drives, for --price (default: {})", 1, COUNT)
    ]
    period_s: Annotated[
        float,
        Option(
            "how often a point is written, at least 10 (default: {})",
            30.0,
            SECONDS,
            group=MONITORING,
        ),
    ]
    buffer: Annotated[
        Path | None,
        Option(
            "keeps points through an outage (default: a file in ./tpudiag-logs)",
            kind=FILE,
            group=MONITORING,
        ),
    ]


class Alerts(Sent, total=False):
    """All that `alerts` takes."""

    action: Annotated[
        Literal["apply", "list", "show", "delete", "export"],
        Option("apply, list, show, delete or export", flag="ACTION"),
    ]
    policies: Annotated[
        Sequence[str],
        Option(
            "only these, right after ACTION, e.g. throughput-drop (default: all of the job)",
            flag="POLICY",
            nargs="*",
        ),
    ]
    project: Annotated[str | None, Option("the Google Cloud project", metavar="PROJECT")]
    notify: Annotated[
        Sequence[str],
        Option(
            "a notification channel by its name, or its resource name; repeatable",
            (),
            repeated="append",
            metavar="CHANNEL",
        ),
    ]
    dry_run: Annotated[bool, Option("say what would change, and change nothing")]
    no_dashboard: Annotated[bool, Option("leave the job's dashboard alone")]
    format: Annotated[
        Literal["json", "terraform", "dashboard", "prometheus", "grafana"],
        Option(
            "of export: the policies as JSON or Terraform, the JSON of the dashboard; rules for "
            "Prometheus and a dashboard for Grafana, on what `watch --prometheus` serves "
            "(default: {})",
            "json",
        ),
    ]
    output: Annotated[Path | None, Option("where export goes", kind=FILE, flag="-o --output")]
    drop: Annotated[
        float,
        Option("throughput below the job's own baseline (default: {})", 20, PERCENT, group=LIMITS),
    ]
    input_share: Annotated[
        float,
        Option("of step time spent waiting for input (default: {})", 20, PERCENT, group=LIMITS),
    ]
    hbm_share: Annotated[
        float, Option("of the usable HBM in use (default: {})", 95, PERCENT, group=LIMITS)
    ]
    first_step: Annotated[
        float, Option("without a first step (default: {})", 20, MINUTES, group=LIMITS)
    ]
    silence: Annotated[float, Option("without a step (default: {})", 20, MINUTES, group=LIMITS)]
    absence: Annotated[
        float, Option("without a point; 2 to 1410 (default: {})", 10, MINUTES, group=LIMITS)
    ]
