"""`tpudiag render REPORT`: a saved report in another format."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from tpudiag.commands._report import add_output_options, check_outputs, write

if TYPE_CHECKING:
    from tpudiag.commands._report import Verbs

EPILOG = """\
examples:
  tpudiag render report.json -o report.html
  tpudiag render report.json --format markdown

exit codes: 0 written; 2 no report of tpudiag, or a file that cannot be written.
"""


def add_parser(verbs: Verbs) -> None:
    """The verb's own arguments."""
    parser = verbs.add_parser(
        "render",
        help="write a saved report in another format",
        description="Writes a report that was saved as JSON in any other format, as it was: "
        "nothing is run or judged again.",
        epilog=EPILOG,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "report", metavar="REPORT", type=Path, help="a report that was saved with -o FILE.json"
    )
    add_output_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read the report and write it; raises UnreadableInput and UsageError."""
    check_outputs(options)
    from tpudiag import report_json

    write(report_json.load(options.report), options)
    return 0
