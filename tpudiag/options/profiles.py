"""The options of the verbs that read profiles: `read`, `compare` and `attach`."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from tpudiag.options.kinds import COUNT, SEVERAL, SHARE, duration
from tpudiag.options.option import Kind, Option
from tpudiag.options.shared import (
    AgentAnswer,
    CheckSelection,
    ExitGate,
    ProfileReading,
    ReportOutput,
    Workers,
    Xprof,
    XprofLinks,
)

HELD = ": the trainer holds the whole profile in memory"
MOST_CAPTURE_S, MOST_S = 30.0, 600.0
"""A trainer holds up to 56 times its profile's size while it gathers it: see capture_size."""


class ReadOptions(Xprof, ProfileReading, CheckSelection, total=False):
    """Keywords of `tpudiag.read`."""

    run: Annotated[
        str | None,
        "read this run instead of the newest",
        Option(metavar="NAME", agents="this run, not the newest"),
    ]
    step_name: Annotated[
        str | None,
        "the host's event, the program (its name without the number in brackets) or the "
        "tf.function that is one step, if the profile marks none",
        Option(
            metavar="NAME",
            agents="the event, program or tf.function that is a step, if none is marked",
        ),
    ]
    top: Annotated[
        int,
        "number of operations in the table (default: {})",
        Option(30, COUNT, agents="number of operations in the table"),
    ]


class Read(ReadOptions, XprofLinks, ReportOutput, ExitGate, AgentAnswer, total=False):
    """All that `read` takes."""

    path: Annotated[
        str,
        "a TensorBoard log folder, a run folder or one *.xplane.pb; local or gs://",
        Option(
            flag="PATH",
            agents="a log folder, a run folder or one *.xplane.pb",
            in_folder="path",
            required=True,
        ),
    ]
    list: Annotated[bool, "list the runs, newest first, and stop"]
    tensorboard: Annotated[
        bool,
        "also write the report into the log folder, where TensorBoard shows it as text",
    ]


class CompareOptions(ProfileReading, total=False):
    """Keywords of `tpudiag.compare`."""

    fail_on_regression: Annotated[
        float,
        "exit with 1 if step time (median, mean, 90th percentile), throughput, MXU "
        "utilisation, peak memory or a figure of the TPU compiler got worse by more than this, "
        "e.g. 5%, and by more than noise",
        Option(
            0.05,
            SHARE,
            agents="the share above which a change is called a regression",
            otherwise={"people": {"default": None}},
        ),
    ]
    across_hardware: Annotated[
        bool,
        "compare runs on different TPUs: only shares of each chip's peak are judged",
        Option(agents="compare runs on different TPUs by shares of each chip's peak"),
    ]


_SIDE = Option(
    (), SEVERAL, people=False, in_folder="path", required=True,
    agents="the {} runs: profiles, or reports saved as .json",
)  # fmt: skip
"""Of a comparison, as agents name it."""


class Compare(CompareOptions, XprofLinks, ReportOutput, AgentAnswer, total=False):
    """All that `compare` takes."""

    runs: Annotated[
        Sequence[str],
        "the old run, then the new one: profiles, or reports saved as .json; put `--` "
        "between the sides if there are several runs",
        Option(flag="RUN", nargs="+"),
    ]
    before: Annotated[Sequence[str], "", replace(_SIDE, agents=_SIDE.agents.format("old"))]
    after: Annotated[Sequence[str], "", replace(_SIDE, agents=_SIDE.agents.format("new"))]
    strict: Annotated[
        bool,
        "with --fail-on-regression, also fail if there are too few steps for a test",
    ]


class Attach(Workers, Xprof, ReportOutput, CheckSelection, ExitGate, total=False):
    """All that `attach` takes."""

    targets: Annotated[
        Sequence[str],
        "HOST:PORT (several by comma) or the pid of a trainer or its launcher; default: list "
        "the trainers on this machine",
        Option(flag="ADDRESS|PID", nargs="*"),
    ]
    duration_s: Annotated[
        float,
        "how long to capture, up to 30s: 2s, 500ms (default: {}); the trainer's memory and "
        "the pause at the end grow with it",
        Option(2.0, Kind(duration(most_s=MOST_CAPTURE_S, why=HELD), "TIME")),
    ]
    timeout_s: Annotated[
        float,
        "how long the trainers may take to send the profile afterwards (default: {})",
        Option(60.0, Kind(duration(most_s=MOST_S), "TIME")),
    ]
    force: Annotated[bool, "capture even if that could crash the trainer or fill its memory"]
    log_dir: Annotated[
        str,
        "the TensorBoard log folder for the profile, local or gs://; trainers with TensorFlow "
        "before 2.21 write into it themselves (default: {})",
        Option("tpudiag-logs/attach", metavar="DIR"),
    ]
