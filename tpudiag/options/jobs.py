"""The options of the verbs that run a job: `check`, `fix` and `plan`.

A JobRequest takes those that are fields of its own.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypedDict

from tpudiag.options.kinds import (
    BATCHES,
    COUNT,
    FILE,
    FOLDER,
    POSITIVE,
    SECONDS,
    SECONDS_OR_0,
    SHARE,
    TARGETS,
    scheduler,
)
from tpudiag.options.option import Kind, Option
from tpudiag.options.shared import AgentAnswer, CheckSelection, ExitGate, ReportOutput
from tpudiag.reference.options import LoopName, ModelName, PrecisionName

COMPILER = "TPU compiler (the extra `compiler`)"
WRITES = "what a rehearsal may touch"
REFERENCE = "reference job"
GATE, PRICES = "gate for CI", "prices"


class RehearsalOptions(TypedDict, total=False):
    """The options of every verb that runs a job."""

    python: Annotated[
        str | Path | None,
        "the Python of the job: a path, an environment's folder or a command (default: "
        "the active environment, .venv of the project, or the python3 on PATH that has "
        "the job's TensorFlow or JAX)",
        Option(metavar="PYTHON"),
    ]
    timeout_s: Annotated[
        float,
        "how long the job may take (default: {})",
        Option(
            900.0,
            SECONDS,
            agents="how long the job may take",
            otherwise={
                "fix": {"agents": "how long each rehearsal may take"},
                "plan": {
                    "default": 7200.0,
                    "help": "how long the plan may take (default: {})",
                    "agents": "how long the plan may take",
                },
            },
        ),
    ]
    fake_data: Annotated[
        bool,
        "replace data that cannot be reached from here by fake data: gs:// files, tfds, "
        "keras.datasets, TF Hub",
        Option(agents="fake the data that cannot be reached (gs://, tfds, keras.datasets)"),
    ]
    in_place: Annotated[
        bool,
        "let the job write its files for real (default: its writes are discarded)",
        Option(group=WRITES),
    ]
    offline: Annotated[
        bool,
        "give the job no network at all (default: its reads work, its sends are blocked)",
        Option(group=WRITES, agents="give the job no network at all"),
    ]
    compiler_python: Annotated[
        str | None,
        "the Python that has jax and libtpu, if this one has not",
        Option(metavar="PYTHON", group=COMPILER),
    ]
    compile_timeout_s: Annotated[
        float,
        "how long one compilation may take (default: {})",
        Option(600.0, SECONDS, group=COMPILER),
    ]


class StepOptions(TypedDict, total=False):
    """Further options of the verbs that examine a job's steps."""

    steps: Annotated[
        int | None,
        "steps to profile (default: {}, fewer if a rehearsal is slow)",
        Option(
            kind=COUNT,
            shown="20",
            agents="training steps to observe",
            otherwise={"fix": {"shown": "10"}},
        ),
    ]
    warmup_steps: Annotated[
        int, "steps before the profiled ones (default: {})", Option(5, COUNT, flag="--warmup")
    ]
    first_loop: Annotated[
        bool,
        "end a rehearsal after the observed steps (default: continue, shortened)",
        Option(agents="end after the observed steps, not at the script's end"),
    ]
    budget_s: Annotated[
        float,
        "CPU time that the rest of the script may take in a rehearsal (default: {}), half "
        "as much again if its end is near",
        Option(180.0, SECONDS_OR_0, agents="CPU time that the rest of the script may take"),
    ]
    tpu_timeout_s: Annotated[
        float,
        "how long each call to the TPU may take (default: {})",
        Option(120.0, SECONDS),
    ]
    measure_input_s: Annotated[
        float,
        "how long to run a faulty input pipeline, as built and fixed (default: {}; 0: not)",
        Option(10.0, SECONDS_OR_0),
    ]
    no_compile: Annotated[
        bool,
        "do not compile the step for the target",
        Option(group=COMPILER, agents="do not run the TPU compiler on the step: faster"),
    ]


class ReferenceJobOptions(TypedDict, total=False):
    """The job that runs if none is named."""

    reference: Annotated[
        ModelName,
        "mlp, resnet50, bert or vit (default: {})",
        Option("mlp", metavar="MODEL", group=REFERENCE),
    ]
    loop: Annotated[
        LoopName,
        "a custom loop, or Keras fit (Keras >= 3.8 or tf-keras; default: {})",
        Option("custom", group=REFERENCE),
    ]
    precision: Annotated[
        PrecisionName,
        "the Keras dtype policy (default: {})",
        Option("mixed_bfloat16", group=REFERENCE),
    ]
    full_size: Annotated[
        bool, "the real model, not the one for two CPU cores", Option(group=REFERENCE)
    ]
    checkpoint_dir: Annotated[
        str | None,
        "where the job saves and resumes, local or gs:// (default: in the run's folder)",
        Option(metavar="DIR", group=REFERENCE),
    ]


class TargetOptions(TypedDict, total=False):
    """The module that runs if no file is named, and the TPU that it is for."""

    module: Annotated[
        str | None,
        "run a module as `python -m` does; its arguments follow `--`",
        Option(
            flag="-m",
            metavar="MODULE",
            agents="a module, to be run as `python -m` does, in place of `program`",
            in_folder="module",
        ),
    ]
    target: Annotated[
        str | None,
        "the target TPU: v5e-8, v4-8 (default: the TPU found, or v5e-8)",
        Option(
            flag="--for",
            metavar="TPU",
            agents="the target TPU, e.g. v5e-8, v4-32, v6e-8",
            otherwise={"agents": {"default": "v5e-8"}},
        ),
    ]
    changes_within: Annotated[str | Path | None, "", Option(people=False)]


class LogFolderOptions(TypedDict, total=False):
    """Where runs are kept."""

    log_dir: Annotated[
        str | Path | None,
        "the folder for the profiles of runs (default: ./tpudiag-logs)",
        Option(
            kind=FOLDER,
            otherwise={
                "people": {"default": Path("tpudiag-logs")},
                "fix": {
                    "help": "the folder for the profiles of runs (default: none is kept)",
                    "otherwise": {},
                },
                "plan": {"help": "the folder for the job's files (default: ./tpudiag-logs)"},
            },
        ),
    ]


class DeviceOptions(LogFolderOptions, total=False):
    """The TPU that is used, and where runs are kept."""

    tpu: Annotated[
        str | None,
        "the TPU to use: a name, `local`, or `none` to rehearse (default: the one found)",
        Option(metavar="NAME", otherwise={"fix": {"help": "", "default": "none"}}),
    ]


class PriceOptions(TypedDict, total=False):
    """What a step is converted to."""

    cost: Annotated[
        str | Path | None,
        "prices of a chip-hour (TOML or JSON): adds the cost of a million examples at the "
        "predicted step",
        Option(
            kind=FILE,
            group=PRICES,
            otherwise={
                "plan": {
                    "help": "prices of a chip-hour (TOML or JSON): adds examples per money",
                    "group": "",
                    "agents": "a file with prices of a chip-hour, TOML or JSON",
                    "in_folder": "path",
                }
            },
        ),
    ]
    examples: Annotated[
        float | None,
        "examples of an epoch: adds its duration, and with --cost its cost",
        Option(
            kind=POSITIVE,
            group=PRICES,
            otherwise={
                "plan": {
                    "help": "examples of the data set: adds hours, and with --cost their cost",
                    "group": "",
                    "agents": "examples of the data set: adds hours",
                }
            },
        ),
    ]


class ProgramOptions(ReportOutput, AgentAnswer, total=False):
    """What is run, and with which arguments."""

    program: Annotated[
        str | None,
        "a script (train.py), a notebook (train.ipynb) or module:function; default: the "
        "reference job",
        Option(
            flag="TARGET",
            nargs="?",
            agents="a script (train.py), a notebook or module:function; without it and `module` "
            "the reference job runs",
            in_folder="program",
            otherwise={
                "fix": {
                    "help": "a script (train.py), a notebook (train.ipynb) or module:function",
                    "agents": "a script (train.py), a notebook or module:function",
                },
                "plan": {
                    "help": "a script (train.py) or module:function; default: the reference job",
                    "agents": "a script (train.py), a notebook or module:function; without it the "
                    "reference job",
                },
            },
        ),
    ]
    arguments: Annotated[
        Sequence[str], "", Option((), people=False, agents="the script's own command line")
    ]


class CheckOptions(
    TargetOptions,
    DeviceOptions,
    RehearsalOptions,
    StepOptions,
    ReferenceJobOptions,
    CheckSelection,
    total=False,
):
    """Keywords of `tpudiag.check`."""

    keep_writes: Annotated[
        str | Path | None,
        "keep the job's writes under DIR, which must be new or empty",
        Option(kind=FOLDER, group=WRITES),
    ]


class Check(CheckOptions, ProgramOptions, PriceOptions, ExitGate, total=False):
    """All that `check` takes."""

    baseline: Annotated[
        str | None,
        "a JSON report of an earlier check: shows the figures that grew",
        Option(metavar="REPORT", group=GATE),
    ]
    fail_on_regression: Annotated[
        float | None,
        "exit with 1 if a figure of the TPU compiler (HBM need, FLOPs, bytes, cycles, "
        "predicted step) grew by more than this against --baseline, e.g. 2%",
        Option(kind=SHARE, group=GATE),
    ]


class FixOptions(TargetOptions, RehearsalOptions, StepOptions, CheckSelection, total=False):
    """Keywords of `tpudiag.fix`."""

    write: Annotated[
        bool, "change the files", Option(agents="put the proven changes into the files")
    ]
    patch: Annotated[
        str | Path | None,
        "write the changes as a patch for `git apply`",
        Option(kind=FILE),
    ]
    unsafe: Annotated[
        bool,
        "also make changes of the model or the batch: widths and batches that fill the tiles",
        Option(agents="also changes of the model or batch: widths that fill the tiles"),
    ]


class Fix(FixOptions, DeviceOptions, ProgramOptions, total=False):
    """All that `fix` takes."""


class PlanOptions(RehearsalOptions, ReferenceJobOptions, PriceOptions, total=False):
    """Keywords of `tpudiag.plan`."""

    targets: Annotated[
        Sequence[str],
        "the TPUs to compare: v5e-8,v6e-8 (default: {})",
        Option(
            ("v5e-8",),
            TARGETS,
            shown="v5e-8",
            flag="--for",
            agents="the TPUs to compare, e.g. v5e-8, v6e-8",
        ),
    ]
    batch: Annotated[
        Sequence[int],
        "per-replica batches: 64..1024 (doubled), or 128,256 (default: half the job's own to "
        "four times)",
        Option((), BATCHES, agents="per-replica batches; by default those around the job's own"),
    ]
    epochs: Annotated[
        float | None,
        "passes over the data set (default: 1)",
        Option(kind=POSITIVE, agents="passes over the data set"),
    ]


class Plan(PlanOptions, LogFolderOptions, ProgramOptions, CheckSelection, ExitGate, total=False):
    """All that `plan` takes."""

    dask: Annotated[
        str | None,
        "compile on the workers of a Dask cluster, which need tpudiag[compiler] (needs the "
        "extra `dask`)",
        Option(kind=Kind(scheduler, "tcp://HOST:PORT")),
    ]
