"""`tpudiag read PATH`: what a TensorBoard profile says."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING

from tpudiag.commands._parser import Verb
from tpudiag.commands._progress import progress
from tpudiag.commands._report import beside_profile, check_outputs, emit, settings_for
from tpudiag.options.verbs import request_of
from tpudiag.printing import put
from tpudiag.sanitized import one_line

if TYPE_CHECKING:
    from tpudiag.diagnoses.profile import ProfileRequest


EPILOG = """\
exit codes: 0 nothing at or above --fail-on failed; 1 something did, or a host of the run could
not be read (every figure mentions its absence); 2 usage error, or nothing could be read.
"""


VERB = Verb(
    help="report on a TensorBoard profile",
    description="Reads a TensorBoard profile: where the step time goes, operations, input, "
    "memory, stragglers, checks.",
    epilog=EPILOG,
)


def run(options: argparse.Namespace) -> int:
    """Read, examine, report; raises UnreadableInput and UsageError."""
    # Before importing numpy, whose BLAS reads its number of threads at import.
    prepare_for_vectors()
    from tpudiag.diagnoses import profile

    if options.list:
        runs = profile.runs(options.path)
        names = [one_line(run_.name) for run_ in runs]
        width = max(map(len, names))
        for run_, name in zip(runs, names, strict=True):
            hosts = f"{len(run_.files)} host{'' if len(run_.files) == 1 else 's'}"
            put(f"{name:<{width}}  {hosts:>9}  {run_.bytes / 1e6:10.1f} MB")
        return 0
    check_outputs(options)
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


BLAS_THREADS = "OPENBLAS_NUM_THREADS"
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""Parameters of glibc's mallopt."""
KEPT_BYTES, MAPPED_BYTES = 32 << 20, 8 << 20


def prepare_for_vectors() -> None:
    """Prepare for reading profiles, which allocates and frees many vectors of a megabyte.

    The C library returns such memory each time, and the kernel clears it again; numpy's BLAS starts
    a thread per core, which spins for a while, although nothing here multiplies matrices.
    """
    _keep_freed_memory()
    gc.set_threshold(50_000, 20, 20)  # imported objects live to the end
    if "numpy" in sys.modules or BLAS_THREADS in os.environ:
        return
    os.environ[BLAS_THREADS] = "1"
    try:
        import_module("numpy")
    finally:
        del os.environ[BLAS_THREADS]  # not for child processes


def _keep_freed_memory() -> None:
    """Make glibc's malloc keep freed memory for the next vector; others have no such setting."""
    if not sys.platform.startswith("linux"):
        return
    import ctypes  # not for the list of verbs

    try:
        set_option = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return
    set_option(M_TRIM_THRESHOLD, KEPT_BYTES)
    set_option(M_MMAP_THRESHOLD, MAPPED_BYTES)
