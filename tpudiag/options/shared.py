"""The options that several verbs have: of reports, of profiles, of workers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypedDict

from tpudiag.errors import FailOn
from tpudiag.options.kinds import FILE, IDS, PORT, SECONDS_OR_0
from tpudiag.options.option import REPORT, Option

OF_CHECKS = "ids or families of checks, e.g. TPU101, TPU2"
NOT_OF_PLAN = {"plan": {"agents": ""}}
KUBERNETES = "Kubernetes (extra `gke`)"
CLOUD_TPU = "Cloud TPU"
PROFILER_PORT = 6009


class CheckSelection(TypedDict, total=False):
    """Which checks run."""

    select: Annotated[
        Sequence[str],
        "only these checks: ids or families, e.g. TPU101,TPU2",
        Option((), IDS, repeated="extend", group=REPORT, agents=OF_CHECKS, otherwise=NOT_OF_PLAN),
    ]
    ignore: Annotated[
        Sequence[str],
        "all but these checks; `# tpudiag: ignore[TPU204] reason` on a line silences one finding",
        Option((), IDS, repeated="extend", group=REPORT, agents=OF_CHECKS, otherwise=NOT_OF_PLAN),
    ]
    pedantic: Annotated[
        bool,
        "show findings of low confidence too: read from names, text or one short measurement",
        Option(group=REPORT, agents="show findings of low confidence too", otherwise=NOT_OF_PLAN),
    ]


class ReportOutput(TypedDict, total=False):
    """Where a report goes."""

    format: Annotated[
        str | None,
        "rich, text, json, html, markdown, sarif or junit on stdout; default: rich on a "
        "terminal, plain text elsewhere",
        Option(metavar="FORMAT", group=REPORT),
    ]
    output: Annotated[
        Sequence[Path],
        "also write the report to FILE, in the format of its ending (.json, .html, .md, "
        ".sarif, .xml, .txt); repeatable",
        Option((), FILE, flag="-o --output", repeated="append", group=REPORT),
    ]
    verbose: Annotated[
        bool,
        "in text: add the evidence of passed checks, and how to measure what was not measured",
        Option(flag="-v --verbose", group=REPORT),
    ]


class ExitGate(TypedDict, total=False):
    """When findings decide the exit code."""

    fail_on: Annotated[
        FailOn,
        "the severity from which a failed check makes the exit code 1 (default: {})",
        Option("error", group=REPORT),
    ]


class AgentAnswer(TypedDict, total=False):
    """How much of a report agents get."""

    whole: Annotated[
        bool,
        "",
        Option(
            people=False,
            agents="the whole report; by default plots, per-step figures, the compiler's "
            "instructions and the evidence of passed checks are left out, which few answers need",
        ),
    ]


class Xprof(TypedDict, total=False):
    """XProf's own analysis of a profile."""

    xprof_limit_s: Annotated[
        float | None,
        "stop XProf's own analysis after this time; 0: do not run it (default: 30 for "
        "profiles up to 5 MB; it is not run on larger ones)",
        Option(0, SECONDS_OR_0, otherwise={"people": {"default": None}}),
    ]


class ProfileReading(TypedDict, total=False):
    """Where the files of profiles are read."""

    engine: Annotated[
        str,
        "where to read the hosts' files: local, or dask://scheduler:8786 whose workers see "
        "the same files (default: {})",
        Option("local", metavar="ENGINE"),
    ]


class XprofLinks(TypedDict, total=False):
    """Pages of XProf."""

    xprof: Annotated[
        str | None,
        "link findings to their moment in the XProf or TensorBoard at this address; off: "
        "none (default: http://localhost:8791 and :6006, if one of them shows this profile)",
        Option(metavar="URL"),
    ]


class Workers(TypedDict, total=False):
    """Workers that are looked up, and sampled at their profilers' port."""

    tpu: Annotated[
        str | None,
        "get this TPU's state from the Cloud TPU API, and attach to all its workers",
        Option(
            metavar="NAME",
            group=CLOUD_TPU,
            otherwise={
                "watch": {
                    "help": "all workers of this TPU (its project: --project, or that of the "
                    "credentials)"
                }
            },
        ),
    ]
    project: Annotated[
        str | None,
        "the TPU's project (default: that of the credentials)",
        Option(
            metavar="PROJECT",
            group=CLOUD_TPU,
            otherwise={
                "watch": {"help": "send the figures to this project", "group": "Cloud Monitoring"}
            },
        ),
    ]
    zone: Annotated[
        str | None,
        "the TPU's zone (default: search all)",
        Option(metavar="ZONE", group=CLOUD_TPU),
    ]
    port: Annotated[
        int,
        "the profiler's port on the workers of --tpu and --selector (default: {})",
        Option(PROFILER_PORT, PORT),
    ]
    selector: Annotated[
        str | None,
        "all pods with these labels, e.g. job-name=bert, by the kubeconfig or, in a pod, its "
        "service account",
        Option(metavar="LABELS", group=KUBERNETES),
    ]
    namespace: Annotated[
        str | None,
        "the pods' namespace (default: that of the context)",
        Option(metavar="NAME", group=KUBERNETES),
    ]
    context: Annotated[
        str | None,
        "the context of the kubeconfig (default: the current one)",
        Option(metavar="NAME", group=KUBERNETES),
    ]
