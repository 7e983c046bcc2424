"""Compares two profiles (as `read` takes them) or JSON reports, or several runs a side.

Each figure with its change, and whether it is more than noise.
"""

import argparse

from tpudiag.commands._parser import add_options
from tpudiag.commands._progress import progress
from tpudiag.commands._report import emit, settings_for
from tpudiag.commands.read import xprof_addresses
from tpudiag.errors import UsageError
from tpudiag.printing import say

EPILOG = """\
exit codes: 0 no regression, or none requested; 1 a figure regressed by more than
--fail-on-regression and by more than noise, B lacks a figure of A that could regress, a host
of a run could not be read, or (--strict) a test had too few steps; 2 usage error, nothing to
compare, or different hardware.

examples:
  tpudiag compare old.json logs/ --fail-on-regression 5%   a report of `read`, a new profile
  tpudiag compare logs/plugins/profile/RUN1 logs/plugins/profile/RUN2
  tpudiag compare A1 A2 A3 -- B1 B2 B3     several runs a side, tested against run-to-run noise
"""


USAGE = "tpudiag compare [options] A B | A1 A2 ... -- B1 B2 ..."


def run(options: argparse.Namespace) -> int:
    """Read both sides, compare, report; raises UnreadableInput, UsageError, NothingDiagnosed."""
    from tpudiag.diagnoses import comparison, sides

    names = _sides(options)
    settings = settings_for(options)
    gated = options.fail_on_regression is not None
    limit = options.fail_on_regression if gated else comparison.DEFAULT_LIMIT
    xprof, across = xprof_addresses(options), options.across_hardware
    with progress() as on_phase:
        compared = sides.compared_runs(
            names, options.engine, settings, on_phase,
            limit=limit, across_hardware=across, xprof=xprof,
        )  # fmt: skip
    if not gated:
        return emit(compared.report, options)
    report, said = sides.gated(compared, limit, strict=options.strict)
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
    add_options(tail, "compare", without=("runs",))
    # Into the same namespace: argparse takes `--` for the end of all options, people do not.
    tail.parse_args(options.arguments, options)
    return tuple(options.runs), tuple(options.after)
