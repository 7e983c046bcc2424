"""`tpudiag compare A B`: what changed between two profiles or reports, as a gate for CI."""

from __future__ import annotations

import argparse
import math

from tpudiag.commands._progress import progress
from tpudiag.commands._report import add_output_options, check_outputs, emit, settings_for
from tpudiag.commands.read import add_engine_option, add_link_option, xprof_addresses
from tpudiag.errors import UsageError
from tpudiag.printing import say

EPILOG = """\
exit codes: 0 no regression, or none asked about; 1 a figure regressed by more than
--fail-on-regression and by more than noise, B lacks a figure of A that could regress, a host
of a run could not be read, or (--strict) there were too few steps to tell; 2 usage error, nothing
to compare, or other hardware.

examples:
  tpudiag compare old.json logs/ --fail-on-regression 5%   a report of `read`, a new profile
  tpudiag compare logs/plugins/profile/RUN1 logs/plugins/profile/RUN2
  tpudiag compare A1 A2 A3 -- B1 B2 B3     several runs a side: what differs from run to run counts
"""


def add_parser(
    verbs: argparse._SubParsersAction[argparse.ArgumentParser],  # pyright: ignore[reportPrivateUsage]
) -> None:
    """The verb's own arguments."""
    parser = verbs.add_parser(
        "compare",
        help="hold two profiles or reports against each other; a gate for CI",
        description="Compares two profiles (as `read` takes them) or JSON reports, or several runs "
        "a side: each figure with its change, and whether it is more than noise.",
        usage="tpudiag compare [options] A B | A1 A2 ... -- B1 B2 ...",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "runs",
        metavar="RUN",
        nargs="+",
        help="what was before, then what is now: profiles, or reports saved as .json; `--` stands "
        "between the sides where there are several runs",
    )
    _add_options(parser)
    parser.set_defaults(run=run, select=[], ignore=[], fail_on="never")


def _add_options(parser: argparse.ArgumentParser) -> None:
    """The options, which may stand before or behind `--`."""
    parser.add_argument(
        "--fail-on-regression",
        metavar="PERCENT",
        type=share,
        help="exit with 1 where step time (median, mean, 90th percentile), throughput, MXU "
        "utilisation, peak memory or what the TPU compiler says got worse by more than this, e.g. "
        "5%%, and by more than noise",
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        help="with --fail-on-regression, fail as well where there are too few steps to tell",
    )
    parser.add_argument(
        "--across-hardware",
        action="store_true",
        help="compare runs on different TPUs: only shares of each chip's peak are judged",
    )
    add_engine_option(parser)
    add_link_option(parser)
    add_output_options(parser)


def run(options: argparse.Namespace) -> int:
    """Read both sides, compare, report; raises UnreadableInput, UsageError, NothingDiagnosed."""
    from tpudiag.commands._process import prepare_for_vectors

    # Before what imports numpy, whose BLAS reads its number of threads as it is loaded.
    prepare_for_vectors()
    from tpudiag.diagnoses import comparison, sides

    names = _sides(options)
    check_outputs(options)
    settings = settings_for(options)
    xprof = xprof_addresses(options)
    with progress() as on_phase:
        before, after = (
            tuple(sides.loaded(name, options.engine, settings, on_phase, xprof) for name in side)
            for side in names
        )
    gated = options.fail_on_regression is not None
    limit = options.fail_on_regression if gated else comparison.DEFAULT_LIMIT
    compared = sides.compared(
        names, (before, after), limit=limit, across_hardware=options.across_hardware
    )
    if not gated:
        return emit(compared.report, options)
    report, said = sides.gated(compared, names, (before, after), limit, strict=options.strict)
    code = emit(report, options)
    if said is not None and report.partial is None:
        say(said)
    return code


def _sides(options: argparse.Namespace) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The runs of both sides; options behind `--` are read into the namespace. UsageError."""
    if not options.arguments:
        if len(options.runs) != 2:
            raise UsageError(
                f"compare takes two runs, or several a side: A1 A2 -- B1 B2 ({len(options.runs)} "
                "given)"
            )
        return (options.runs[0],), (options.runs[1],)
    tail = argparse.ArgumentParser(prog="tpudiag compare", allow_abbrev=False)
    tail.add_argument("after", nargs="+")
    _add_options(tail)
    # Into the same namespace: argparse takes `--` for the end of all options, people do not.
    tail.parse_args(options.arguments, options)
    return tuple(options.runs), tuple(options.after)


def share(text: str) -> float:
    """`5%` or `5` as 0.05."""
    value = float(text.strip().removesuffix("%")) / 100
    if not 0 <= value < math.inf:
        raise ValueError(text)
    return value
