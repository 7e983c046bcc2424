"""tpudiag fix: change a script so that its findings are gone, and prove it by a rehearsal."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tpudiag.commands import _job_request, _report
from tpudiag.commands._progress import progress
from tpudiag.errors import UsageError
from tpudiag.options.verbs import request_of

if TYPE_CHECKING:
    from tpudiag.diagnoses.fix import FixRequest

EPILOG = """\
`fix` rehearses the script, makes the changes for its findings in a copy, and rehearses the copy on
the same seed. It drops a change if the finding is not gone, if something new fails, or if losses
change that must not change. Without --write nothing is changed. The job's writes are discarded.

examples:
  tpudiag fix train.py --for v5e-8              shows the changes and the gain of each
  tpudiag fix train.py --for v5e-8 --write      writes the proven changes into the file
  tpudiag fix train.py --select TPU2,TPU101 --patch fixes.patch
  tpudiag fix train.ipynb -- --epochs 3

exit codes: 0 nothing is left to fix, 1 something is, 2 not rehearsed.
"""


def run(options: argparse.Namespace) -> int:
    """Fix the job and write the report; 0 where no finding is left, 1 otherwise."""
    settings = _report.settings_for(options)
    from dataclasses import replace

    from tpudiag import scratch, snippets
    from tpudiag.diagnoses import fix

    with scratch.folder("log") as folder:
        options.log_dir = options.log_dir or folder
        request = _request(options, settings.select)
        with progress() as on_phase:
            # All checks examine each rehearsal, since a change must not make any fail; the
            # selection only decides what is fixed.
            report = fix.diagnose(request, replace(settings, select=()), on_phase)
    _report.write(snippets.added(report), options)
    _report.say_each(report.mending.refused if report.mending is not None else ())
    return report.exit_code()


def _request(options: argparse.Namespace, select: tuple[str, ...]) -> FixRequest:
    from tpudiag.diagnoses.fix import FixRequest

    if options.program is None and options.module is None:
        raise UsageError("fix: name the script that is to be mended")
    if options.write and options.patch is not None:
        raise UsageError("--write and --patch: choose one")
    if options.patch is not None:
        file = options.patch
        _report.refuse_target("--patch", file, options)
        if file.is_file():
            with file.open("rb") as stream:
                head = stream.read(4)
            # A module that the script imports is an input, too, and no patch.
            if head and head not in (b"--- ", b"diff"):
                raise UsageError(f"--patch {file}: is there, and holds no patch; name another file")
    return request_of(FixRequest, vars(options), job=_job_request.of(options), select=select)
