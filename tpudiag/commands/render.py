"""Writes a report that was saved as JSON in any other format, as it was.

Nothing is run or judged again.
"""

import argparse

from tpudiag.commands._report import check_outputs, write

EPILOG = """\
examples:
  tpudiag render report.json -o report.html
  tpudiag render report.json --format markdown

exit codes: 0 written; 2 no report of tpudiag, or a file that cannot be written.
"""


def run(options: argparse.Namespace) -> int:
    """Read the report and write it; raises UnreadableInput and UsageError."""
    check_outputs(options)
    from tpudiag import report_json

    write(report_json.load(options.report), options)
    return 0
