"""`tpudiag compare A B`: what changed between two profiles or reports, as a gate for CI."""

from __future__ import annotations

import argparse
import math
import sys
from typing import TYPE_CHECKING

from tpudiag.commands._report import add_output_options, check_outputs, emit
from tpudiag.commands.read import add_engine_option

if TYPE_CHECKING:
    from tpudiag.model import Report

DEFAULT_LIMIT = 0.05
EPILOG = """\
exit codes: 0 no regression, or none asked about; 1 a figure regressed by more than
--fail-on-regression and by more than noise, B lacks a figure of A that could regress, or a host
of a run could not be read; 2 usage error, or nothing to compare.

examples:
  tpudiag compare old.json logs/ --fail-on-regression 5%   a report of `read`, a new profile
  tpudiag compare logs/plugins/profile/RUN1 logs/plugins/profile/RUN2
"""


def add_parser(
    verbs: argparse._SubParsersAction[argparse.ArgumentParser],  # pyright: ignore[reportPrivateUsage]
) -> None:
    """The verb's own arguments."""
    parser = verbs.add_parser(
        "compare",
        help="hold two profiles or reports against each other; a gate for CI",
        description="Compares two profiles (as `read` takes them) or JSON reports: each figure "
        "with its change, and whether it is more than noise.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    for name, what in (("a", "what was before"), ("b", "what is now")):
        parser.add_argument(
            name, metavar=name.upper(), help=f"{what}: a profile, or a report saved as .json"
        )
    parser.add_argument(
        "--fail-on-regression", metavar="PERCENT", type=_share,
        help="exit with 1 where step time, throughput, MXU utilisation or peak memory got worse by "
        "more than this, e.g. 5%%, and by more than noise",
    )  # fmt: skip
    add_engine_option(parser)
    add_output_options(parser)
    parser.set_defaults(run=run, select=[], ignore=[], fail_on="never")


def run(options: argparse.Namespace) -> int:
    """Read both, compare, report; raises UnreadableInput, UsageError and NothingDiagnosed."""
    from tpudiag.diagnoses import comparison
    from tpudiag.errors import NothingDiagnosed

    check_outputs(options)
    names = (options.a, options.b)
    reports = (_report(options.a, options), _report(options.b, options))
    found = comparison.changes(*reports)
    limit = DEFAULT_LIMIT if options.fail_on_regression is None else options.fail_on_regression
    if options.fail_on_regression is not None and not any(c.worse is not None for c in found):
        raise NothingDiagnosed(
            f"{options.a} and {options.b} share no figure that could regress (step time, "
            "throughput, MXU utilisation, peak memory)"
        )
    made = comparison.report(names, reports, found, limit)
    emit(made, options)
    if made.partial is not None:
        print(f"tpudiag: {made.partial}", file=sys.stderr)
        return 1
    if options.fail_on_regression is None:
        return 0
    if missing := comparison.lost(*reports):
        print(f"tpudiag: {options.b} does not tell {', '.join(missing)}", file=sys.stderr)
        return 1
    return int(any(change.regressed(limit) for change in found))


def _report(path: str, options: argparse.Namespace) -> Report:
    """A saved report, or that of a profile; raises UnreadableInput."""
    from tpudiag import report_json
    from tpudiag.commands._report import settings_for
    from tpudiag.diagnoses import profile

    if path.endswith(".json"):
        return report_json.load(path)
    request = profile.ProfileRequest(path, None, options.engine, 0)
    report = profile.diagnose(request, settings_for(options))
    if report.interrupted:
        raise KeyboardInterrupt
    return report


def _share(text: str) -> float:
    """`5%` or `5` as 0.05."""
    value = float(text.strip().removesuffix("%")) / 100
    if not 0 <= value < math.inf:
        raise ValueError(text)
    return value
