"""Process settings for the command line, which ends with its verb, unlike a program."""

import ctypes
import gc
import os
import sys
from importlib import import_module

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
    try:
        set_option = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return
    set_option(M_TRIM_THRESHOLD, KEPT_BYTES)
    set_option(M_MMAP_THRESHOLD, MAPPED_BYTES)
