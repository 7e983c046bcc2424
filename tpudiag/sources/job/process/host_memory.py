"""How many replicas of a model, and how much of their batches, this machine can rehearse."""

import os
from contextlib import suppress

from tpudiag.signals import VariableSeen

VARIABLES_TO_TRACE, TRACE_S, RESTART_S = 400, 0.1, 45.0
"""Trainable variables of all replicas together that are traced in bearable time; about how long
each takes on each replica; and what a start with fewer costs, which has to save more."""
MEMORY_SHARE = 0.5
"""Of the memory available at the first step; variables exist already, gradients do not."""
CORE_FLOPS_PER_S = 10e9
"""A core's speed in a step's products with others busy; a conservative guess."""
BEARABLE_STEP_S, SLOW_STEPS = 4.0, 8
"""A slower step is run on fewer replicas, where so many save more than another start costs."""
HEAVY_S = 2.0
"""What takes longer on one replica is traced but not run."""
# The backward pass has two products (by inputs, by weights) for each of the forward pass.
PASSES = 3
"""A step's work, in forward passes."""
COPIES = 3
"""Gradients and temporary copies of a variable during its update."""


def replicas_that_fit(variables: tuple[VariableSeen, ...], wanted: int) -> int:
    """The most replicas, up to `wanted`, that can be traced and held; at least 1.

    Two are kept where only time is short, so that interaction between replicas is still seen;
    except for a model that takes as long to trace by itself, as another start would.
    """
    trainable = [variable for variable in variables if variable.trainable]
    by_time = VARIABLES_TO_TRACE // max(len(trainable), 1)
    if by_time < 2 and (by_time or wanted == 2):
        by_time = 2
    if TRACE_S * len(trainable) * (wanted - by_time) < RESTART_S:
        by_time = wanted
    size_bytes = sum(variable.bytes for variable in trainable)
    by_memory = int(MEMORY_SHARE * available_bytes() / max(COPIES * size_bytes, 1))
    return max(min(wanted, by_time, by_memory), 1)


def shortage(variables: tuple[VariableSeen, ...], left_bytes: int) -> str | None:
    """Why even one replica cannot be rehearsed; None where its gradients have room."""
    size_bytes = sum(variable.bytes for variable in variables)
    gradient_bytes = sum(variable.bytes for variable in variables if variable.trainable)
    if gradient_bytes <= left_bytes:
        return None
    return (
        f"one replica is too large for this machine: its variables take {size_bytes / 2**30:.1f} "
        f"GiB so far, their gradients need {gradient_bytes / 2**30:.1f} GiB more, and "
        f"{left_bytes / 2**30:.1f} GiB are left. `tpudiag plan` asks the TPU compiler about such "
        "a model without holding it; or rehearse it on a machine with more memory"
    )


def seconds(flops: float, cores: int | None = None) -> float:
    """An estimate of this machine's time for so many FLOPs."""
    return flops / ((cores or os.cpu_count() or 1) * CORE_FLOPS_PER_S)


def is_heavy(flops: float, cores: int | None = None) -> bool:
    """Whether a call is traced but not run."""
    return seconds(flops, cores) > HEAVY_S


def replicas_in_time(step_flops: float, wanted: int, cores: int | None = None) -> int:
    """The most replicas, up to `wanted`, whose steps this machine runs in bearable time.

    `step_flops` are those of one replica's step.
    """
    one_s = max(seconds(step_flops, cores), 1e-9)
    in_time = max(min(wanted, int(BEARABLE_STEP_S / one_s)), 1)
    return in_time if SLOW_STEPS * one_s * (wanted - in_time) > RESTART_S else wanted


def replicas_in_trace(forward_s: float, wanted: int) -> int:
    """The most replicas, up to `wanted`, whose steps are traced in bearable time; at least 2.

    `forward_s` is the CPU time in which one replica's forward pass was traced: a Python loop of
    many turns is traced turn by turn, on each replica again.
    """
    one_s = max(PASSES * forward_s, 1e-9)
    in_time = min(wanted, max(int(VARIABLES_TO_TRACE * TRACE_S / one_s), 2))
    return in_time if one_s * (wanted - in_time) > RESTART_S + forward_s else wanted


def has_room(forward_bytes: float) -> bool:
    """Whether there is memory for a forward pass's activations."""
    return forward_bytes <= MEMORY_SHARE * available_bytes()


def available_bytes() -> int:
    """This machine's available memory; its physical memory where that is unknown."""
    with suppress(OSError), open("/proc/meminfo", encoding="ascii") as file:  # noqa: PTH123
        for line in file:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
