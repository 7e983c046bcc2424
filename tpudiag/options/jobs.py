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
from tpudiag.options.shared import Answered, Gated, Judged, Written
from tpudiag.reference.options import LoopName, ModelName, PrecisionName

COMPILER = "TPU compiler (the extra `compiler`)"
WRITES = "what a rehearsal may touch"
REFERENCE = "reference job"
GATE, PRICES = "gate for CI", "prices"


class Rehearsed(TypedDict, total=False):
    """What every verb takes that runs a job."""

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
        "stand in for data that cannot be reached from here: gs:// files, tfds, "
        "keras.datasets, TF Hub",
        Option(agents="stand in for data that cannot be reached (gs://, tfds, keras.datasets)"),
    ]
    in_place: Annotated[
        bool,
        "let the job write its files for real (default: what it writes is thrown away)",
        Option(group=WRITES),
    ]
    offline: Annotated[
        bool,
        "give the job no network at all (default: what it reads comes, what it sends is held back)",
        Option(group=WRITES, agents="give the job no network at all"),
    ]
    compiler_python: Annotated[
        str | None,
        "the Python that has jax and libtpu, where this one has not",
        Option(metavar="PYTHON", group=COMPILER),
    ]
    compile_timeout_s: Annotated[
        float,
        "how long one compilation may take (default: {})",
        Option(600.0, SECONDS, group=COMPILER),
    ]


class Observed(TypedDict, total=False):
    """What the verbs take besides that look at a job's steps."""

    steps: Annotated[
        int | None,
        "steps to profile (default: {}, fewer where a rehearsal is slow)",
        Option(
            kind=COUNT,
            shown="20",
            agents="training steps to observe",
            otherwise={"fix": {"shown": "10"}},
        ),
    ]
    warmup_steps: Annotated[
        int, "steps before them (default: {})", Option(5, COUNT, flag="--warmup")
    ]
    first_loop: Annotated[
        bool,
        "end a rehearsal after the steps observed (default: go on, shortened)",
        Option(agents="end after the steps observed, not at the script's end"),
    ]
    budget_s: Annotated[
        float,
        "CPU time that the rest of the script may take in a rehearsal (default: {}), half "
        "as much again where its end is near",
        Option(180.0, SECONDS_OR_0, agents="CPU time that the rest of the script may take"),
    ]
    tpu_timeout_s: Annotated[
        float,
        "how long each call that reaches for the TPU may take (default: {})",
        Option(120.0, SECONDS),
    ]
    measure_input_s: Annotated[
        float,
        "how long to run a faulty input pipeline, as built and mended (default: {}; 0: not)",
        Option(10.0, SECONDS_OR_0),
    ]
    no_compile: Annotated[
        bool,
        "do not ask it what the step needs on the target",
        Option(group=COMPILER, agents="do not ask the TPU compiler what the step needs: faster"),
    ]


class OfReference(TypedDict, total=False):
    """Which job runs where none is named."""

    reference: Annotated[
        ModelName,
        "mlp, resnet50, bert or vit (default: {})",
        Option("mlp", metavar="MODEL", group=REFERENCE),
    ]
    loop: Annotated[
        LoopName,
        "a train step of its own, or Keras fit (Keras >= 3.8 or tf-keras; default: {})",
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
        "where it saves and resumes, local or gs:// (default: in the run's folder)",
        Option(metavar="DIR", group=REFERENCE),
    ]


class Meant(TypedDict, total=False):
    """What runs where no file is named, and the TPU that it is meant for."""

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
        "the TPU it is meant for: v5e-8, v4-8 (default: the TPU found, or v5e-8)",
        Option(
            flag="--for",
            metavar="TPU",
            agents="the TPU it is meant for, e.g. v5e-8, v4-32, v6e-8",
            otherwise={"agents": {"default": "v5e-8"}},
        ),
    ]
    changes_within: Annotated[str | Path | None, "", Option(people=False)]


class Kept(TypedDict, total=False):
    """Where runs are kept."""

    log_dir: Annotated[
        str | Path | None,
        "where runs leave their profile (default: ./tpudiag-logs)",
        Option(
            kind=FOLDER,
            otherwise={
                "people": {"default": Path("tpudiag-logs")},
                "fix": {
                    "help": "where runs leave their profile (default: none is kept)",
                    "otherwise": {},
                },
                "plan": {"help": "where the job may leave its files (default: ./tpudiag-logs)"},
            },
        ),
    ]


class Placed(Kept, total=False):
    """The TPU that is used, and where runs are kept."""

    tpu: Annotated[
        str | None,
        "the TPU to use: a name, `local`, or `none` to rehearse (default: the one found)",
        Option(metavar="NAME", otherwise={"fix": {"help": "", "default": "none"}}),
    ]


class Converted(TypedDict, total=False):
    """What a step is converted to."""

    cost: Annotated[
        str | Path | None,
        "prices of a chip-hour (TOML or JSON): adds what a million examples cost at the "
        "predicted step",
        Option(
            kind=FILE,
            group=PRICES,
            otherwise={
                "plan": {
                    "help": "prices of a chip-hour (TOML or JSON): adds examples for the money",
                    "group": "",
                    "agents": "a file with prices of a chip-hour, TOML or JSON",
                    "in_folder": "path",
                }
            },
        ),
    ]
    examples: Annotated[
        float | None,
        "examples of an epoch: adds how long it takes, and with --cost what it costs",
        Option(
            kind=POSITIVE,
            group=PRICES,
            otherwise={
                "plan": {
                    "help": "examples of the data set: adds hours, and with --cost what they cost",
                    "group": "",
                    "agents": "examples of the data set: adds hours",
                }
            },
        ),
    ]


class Named(Written, Answered, total=False):
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


class CheckOptions(Meant, Placed, Rehearsed, Observed, OfReference, Judged, total=False):
    """Keywords of `tpudiag.check`."""

    keep_writes: Annotated[
        str | Path | None,
        "keep what it wrote under DIR, which must be new or empty",
        Option(kind=FOLDER, group=WRITES),
    ]


class Check(CheckOptions, Named, Converted, Gated, total=False):
    """All that `check` takes."""

    baseline: Annotated[
        str | None,
        "a JSON report of an earlier check: says what grew",
        Option(metavar="REPORT", group=GATE),
    ]
    fail_on_regression: Annotated[
        float | None,
        "exit with 1 where what the TPU compiler says (HBM need, FLOPs, bytes, cycles, "
        "predicted step) grew by more than this against --baseline, e.g. 2%",
        Option(kind=SHARE, group=GATE),
    ]


class FixOptions(Meant, Rehearsed, Observed, Judged, total=False):
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


class Fix(FixOptions, Placed, Named, total=False):
    """All that `fix` takes."""


class PlanOptions(Rehearsed, OfReference, Converted, total=False):
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
        Option(
            (), BATCHES, agents="batches for each replica; by default those around the job's own"
        ),
    ]
    epochs: Annotated[
        float | None,
        "how often they are gone through (default: 1)",
        Option(kind=POSITIVE, agents="how often they are gone through"),
    ]


class Plan(PlanOptions, Kept, Named, Judged, Gated, total=False):
    """All that `plan` takes."""

    dask: Annotated[
        str | None,
        "compile on the workers of a Dask cluster, which need tpudiag[compiler] (needs the "
        "extra `dask`)",
        Option(kind=Kind(scheduler, "tcp://HOST:PORT")),
    ]
