"""Reads a TensorBoard profile.

Where the step time goes, operations, input, memory, stragglers, checks.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tpudiag.commands._progress import progress
from tpudiag.commands._report import beside_profile, emit, settings_for
from tpudiag.options.verbs import request_of
from tpudiag.printing import put
from tpudiag.sanitized import one_line

if TYPE_CHECKING:
    from tpudiag.diagnoses.profile import ProfileRequest


EPILOG = """\
exit codes: 0 nothing at or above --fail-on failed; 1 something did, or a host of the run could
not be read (every figure mentions its absence); 2 usage error, or nothing could be read.
"""


def run(options: argparse.Namespace) -> int:
    """Read, examine, report; raises UnreadableInput and UsageError."""
    from tpudiag.diagnoses import profile

    if options.list:
        runs = profile.runs(options.path)
        names = [one_line(run_.name) for run_ in runs]
        width = max(map(len, names))
        for run_, name in zip(runs, names, strict=True):
            hosts = f"{len(run_.files)} host{'' if len(run_.files) == 1 else 's'}"
            put(f"{name:<{width}}  {hosts:>9}  {run_.bytes / 1e6:10.1f} MB")
        return 0
    settings = settings_for(options)
    with progress() as on_phase:
        report = profile.diagnose(request(options), settings, on_phase)
    code = emit(report, options)
    if options.tensorboard:
        beside_profile(report, options.path, options.run)
    return code


def request(options: argparse.Namespace) -> ProfileRequest:
    """The command line as a request."""
    from tpudiag.diagnoses import profile

    return request_of(profile.ProfileRequest, vars(options), xprof=xprof_addresses(options))


def xprof_addresses(options: argparse.Namespace) -> tuple[str, ...]:
    """The addresses of --xprof, or XProf's usual ones."""
    from tpudiag.xprof_pages import USUAL_SERVERS

    if options.xprof is None:
        return USUAL_SERVERS
    if options.xprof == "off":
        return ()
    from tpudiag.sources.profile.xprof_server import refuse_odd

    refuse_odd(options.xprof)
    return (options.xprof,)
