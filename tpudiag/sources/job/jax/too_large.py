"""Whether this machine can run a step at all, judged by its equations before it runs."""

import os

from tpudiag.sources.job.jax.equations import live_bytes
from tpudiag.sources.job.jax.step import TracedStep
from tpudiag.sources.job.process.host_memory import CORE_FLOPS_PER_S, available_bytes

MOST_S = 120.0
"""Of one step on this machine, by its products: what is seen takes a few steps."""
JOINED = 2.0
"""How many times too large the sum of live arrays is, since XLA joins operations; a guess."""


def why(step: TracedStep) -> str | None:
    """Why the step is only read; None where it can run."""
    flops = step.work.flops * step.steps * max(step.devices, 1)
    if flops > MOST_S * (os.cpu_count() or 1) * CORE_FLOPS_PER_S:
        return f"a step of {flops / 1e12:,.1f} TFLOP takes this machine minutes"
    copies = sum(a.bytes * (a.devices // max(a.parts, 1) - 1) for a in step.arguments)
    needs = live_bytes(step.traced.jaxpr.jaxpr) / JOINED + copies
    free = available_bytes()
    if needs > free:
        return f"a step of some {needs / 2**30:,.0f} GiB has {free / 2**30:,.0f} GiB here"
    return None
