"""What a process of the command line sets for itself: it ends with its verb, a program does not."""

from __future__ import annotations

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
    """Make ready for the reading of profiles, which makes and drops many vectors of a megabyte.

    The C library gives such memory back each time, and the kernel clears it again; numpy's BLAS
    starts a thread for each core, which spin for a while, and nothing here multiplies matrices.
    """
    _keep_freed_memory()
    gc.set_threshold(50_000, 20, 20)  # what imports make lives to the end
    if "numpy" in sys.modules or BLAS_THREADS in os.environ:
        return
    os.environ[BLAS_THREADS] = "1"
    try:
        import_module("numpy")
    finally:
        del os.environ[BLAS_THREADS]  # not for the processes that this one starts


def _keep_freed_memory() -> None:
    """Tell glibc's malloc to keep what is freed for the next vector; others have no such knob."""
    if not sys.platform.startswith("linux"):
        return
    try:
        set_option = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return
    set_option(M_TRIM_THRESHOLD, KEPT_BYTES)
    set_option(M_MMAP_THRESHOLD, MAPPED_BYTES)
