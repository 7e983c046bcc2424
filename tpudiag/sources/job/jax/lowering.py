"""Writes the step as a program for the TPU compiler: with the shardings that it ran with."""

from __future__ import annotations

import time
from pathlib import Path

from tpudiag.compiled import LoweredStep
from tpudiag.sources.job.jax.step import TracedStep

LONGEST = 500


def lowered(step: TracedStep, folder: str, per_device_batch: int) -> LoweredStep:
    """The step lowered for a TPU, for as many devices as it ran on."""
    started = time.perf_counter()
    try:
        # For the TPU: what a library lowers in another way there (random bits, kernels) is so.
        program = step.traced.lower(lowering_platforms=("tpu",))
        module = program.compiler_ir("stablehlo")
        text: str = module.operation.get_asm(enable_debug_info=True)
    except Exception as error:  # the job's own program, lowered for a platform that it is not on
        reason = f"{type(error).__name__}: {error}".strip()[:LONGEST]
        return LoweredStep(batch=per_device_batch, replicas=step.devices, error=reason)
    path = Path(folder) / "step.mlir"
    path.write_text(text, encoding="utf-8")
    return LoweredStep(
        batch=per_device_batch,
        replicas=step.devices,
        path=str(path),
        took_s=time.perf_counter() - started,
    )
