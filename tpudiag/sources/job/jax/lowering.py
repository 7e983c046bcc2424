"""Writes the step as a program for the TPU compiler: with the shardings that it ran with."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tpudiag.compiled import LoweredStep
from tpudiag.sources.job.jax.step import TracedStep
from tpudiag.sources.job.points import Library, hooks, privates
from tpudiag.sources.job.process.protocol import LoweringRequest

LONGEST = 500


def lowered(step: TracedStep, folder: str, per_device_batch: int) -> LoweredStep:
    """The step lowered for a TPU, for as many devices as it ran on."""
    try:
        # For the TPU: what a library lowers in another way there (random bits, kernels) is so.
        with _with_client():
            lower = step.call.jitted.of_device(step.traced, *step.call.arguments)
            program = lower(lowering_platforms=("tpu",))
        text: str = program.compiler_ir("stablehlo").operation.get_asm(enable_debug_info=True)
    except Exception as error:  # the job's own program, lowered for a platform that it is not on
        return _refused(error, per_device_batch, step.devices)
    path = Path(folder) / f"step-{per_device_batch}.mlir"
    path.write_text(text, encoding="utf-8")
    return LoweredStep(batch=per_device_batch, replicas=step.devices, path=str(path))


def of_batch(jax: Library, step: TracedStep, wanted: LoweringRequest, folder: str) -> LoweredStep:
    """The step with another batch, for the devices that it ran on."""
    try:
        if wanted.replicas != step.devices:
            raise ValueError(f"it ran on {step.devices} devices, of {wanted.replicas}")
        arguments = step.with_batch(wanted.batch * step.devices)
        other = TracedStep(jax, replace(step.call, arguments=arguments))
    except Exception as error:  # the job's own function, which may not take another batch
        return _refused(error, wanted.batch, wanted.replicas)
    return lowered(other, folder, wanted.batch)


def _with_client() -> AbstractContextManager[None]:
    """While it lowers, JAX has a client of a TPU's, of which a program that calls Python asks."""
    context: Any = import_module("jax.interpreters.mlir").ModuleContext
    name = next((name for name in privates.CLIENTS if hasattr(context, name)), None)
    if name is None:  # of a later release: only programs that call Python are refused then
        return nullcontext()

    def client(*_: object, **__: object) -> object:
        return SimpleNamespace(make_python_callback_from_host_send_and_recv=client)

    of_class = isinstance(getattr(context, name), property)
    return hooks.instead(context, **{name: property(client) if of_class else client})


def _refused(error: Exception, batch: int, devices: int) -> LoweredStep:
    """What the job's function said."""
    reason = f"{type(error).__name__}: {error}".strip()[:LONGEST]
    return LoweredStep(batch=batch, replicas=devices, error=reason)
