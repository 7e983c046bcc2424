"""tpudiag plan: which TPU and which batch, by the TPU compiler's word, with no TPU."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from tpudiag.commands import _job_options, _job_request, _report
from tpudiag.commands._progress import progress
from tpudiag.errors import UsageError

DEFAULT_FOR = "v5e-8"
LARGEST = 1 << 20
EPILOG = """\
The script runs up to its first training step, which is lowered and compiled for each TPU and
batch instead of being run. Needs the extra `compiler` (jax and libtpu) or --compiler-python.

examples:
  tpudiag plan --for v5e-8,v6e-8 --batch 64..1024
  tpudiag plan train.py --for v4-8,v5e-8,v5p-8,v6e-8 -- --epochs 1
  tpudiag plan train.py --for v5e-8 --batch 128,256,384 --cost prices.toml
  tpudiag plan train.py --for v4-8,v5e-8,v6e-8 --dask tcp://scheduler:8786
  tpudiag plan train.py --for v5e-16,v5e-64 --examples 1281167 --epochs 90 --cost prices.toml

prices.toml, the price of a chip-hour by generation:
  [chip_hour]
  v5e = 1.20
"""


def add_parser(verbs: _report.Verbs) -> None:
    """The options of `plan`."""
    parser = verbs.add_parser(
        "plan",
        help="which TPU and which batch, by the TPU compiler's word",
        description=__doc__,
        epilog=EPILOG,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "target",
        metavar="TARGET",
        nargs="?",
        help="a script (train.py) or module:function; default: the reference job",
    )
    parser.add_argument(
        "--for",
        dest="for_",
        metavar="TPUS",
        default=DEFAULT_FOR,
        help="the TPUs to compare: v5e-8,v6e-8 (default: %(default)s)",
    )
    _add_search_options(parser)
    _job_options.add_log_dir(parser, "where the job may leave its files")
    _job_options.add_options(parser, "plan")
    _report.add_report_options(parser)
    parser.set_defaults(run=run, tpu="none", module=None)


def _add_search_options(parser: argparse.ArgumentParser) -> None:
    """Which batches are tried, where, and what the training and a chip-hour are worth."""
    parser.add_argument(
        "--batch",
        metavar="BATCHES",
        type=batches,
        help="per-replica batches: 64..1024 (doubled), or 128,256 (default: half the job's own "
        "to four times)",
    )
    parser.add_argument(
        "--cost",
        metavar="FILE",
        type=Path,
        help="prices of a chip-hour (TOML or JSON): adds examples for the money",
    )
    parser.add_argument(
        "--examples",
        metavar="N",
        type=positive,
        help="examples of the data set: adds hours, and with --cost what they cost",
    )
    parser.add_argument(
        "--epochs",
        metavar="N",
        type=positive,
        default=None,
        help="how often they are gone through (default: 1)",
    )
    parser.add_argument(
        "--dask",
        metavar="tcp://HOST:PORT",
        type=scheduler,
        help="compile on the workers of a Dask cluster, which need tpudiag[compiler] "
        "(needs the extra `dask`)",
    )


def run(options: argparse.Namespace) -> int:
    """Compile the job's step for every TPU and batch, and write the plan."""
    from tpudiag import hardware
    from tpudiag.diagnoses import plan
    from tpudiag.planning import prices

    _report.check_outputs(options)
    names = dict.fromkeys(name.strip() for name in options.for_.split(",") if name.strip())
    targets = tuple(hardware.sold_target(name) for name in names)
    if not targets:
        raise UsageError("--for: name at least one TPU, e.g. v5e-8")
    examples = _examples(options)
    known = prices.load(options.cost) if options.cost is not None else {}
    # The job is started once: the step is lowered for any number of replicas.
    options.for_ = targets[0].name
    request = _job_request.of(options, "plan")
    installed = plan.installed_compiler(options.compiler_python, options.dask)
    wanted = plan.PlanRequest(
        job=plan.up_to_its_step(request),
        installed=installed,
        targets=targets,
        batches=options.batch or (),
        prices=known,
        examples=examples,
        epochs=options.epochs or 1,
        timeout_s=options.timeout_s,
        compile_timeout_s=options.compile_timeout_s,
        dask=options.dask,
    )
    with progress() as on_phase:
        report = plan.diagnose(wanted, _report.settings_for(options), on_phase)
    return _report.emit(report, options)


def _examples(options: argparse.Namespace) -> float | None:
    """The examples of the whole training; UsageError where only the epochs are known."""
    if options.examples is None and options.epochs is not None:
        raise UsageError("--epochs: say with --examples how many examples the data set has")
    return None if options.examples is None else options.examples * (options.epochs or 1)


def positive(text: str) -> float:
    """A number above 0, such as 1281167 or 1.28e6."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r}: write a number above 0")
    return number


def scheduler(text: str) -> str:
    """The address of a Dask scheduler."""
    if not re.fullmatch(r"(tcp|dask)://[^/\s]+:\d{1,5}", text):
        raise argparse.ArgumentTypeError(f"{text!r}: write tcp://HOST:PORT")
    return text


def batches(text: str) -> tuple[int, ...]:
    """`64..1024` as 64, 128, ... 1024; `128,256` as it stands."""
    from tpudiag.planning.candidates import doubled

    if bounds := re.fullmatch(r"(\d+)\.\.(\d+)", text.strip()):
        first, last = int(bounds[1]), int(bounds[2])
        numbers = doubled(first, last) if 1 <= first <= last <= LARGEST else ()
    else:
        parts = [part.strip() for part in text.split(",") if part.strip()]
        numbers = tuple(int(part) for part in parts if part.isdecimal())
        numbers = numbers if len(numbers) == len(parts) else ()
    if not numbers or not all(1 <= number <= LARGEST for number in numbers):
        raise argparse.ArgumentTypeError(f"{text!r}: write 64..1024 or 128,256")
    return tuple(sorted(set(numbers)))
