"""How many replicas of a model this machine can rehearse, and how much of their batches."""

from __future__ import annotations

import os

from tpudiag.signals import VariableSeen

VARIABLES_TO_TRACE = 400
"""Trainable variables, all replicas together, that are traced in bearable time: tracing takes
about 0.1 s for each layer of each replica."""
MEMORY_SHARE = 0.5
"""Of the memory available at the first step; variables are there already, gradients are not."""
CORE_FLOPS_PER_S = 10e9
"""What a core does of a step's products, others at work beside it; a guess on the safe side."""
BEARABLE_STEP_S, UNBEARABLE_STEP_S = 4.0, 20.0
"""A step that takes longer than the first is run on two replicas; and then the second, on one."""
UNBEARABLE_ALONE_S = 8.0
"""A step of one replica that takes longer is run on some of its examples."""
FEWEST_EXAMPLES = 2
# The backward pass has two products (by inputs, by weights) for each of the forward pass.
PASSES = 3
"""A step's work, in forward passes."""
COPIES = 3
"""Gradients and temporary copies of a variable while it is updated."""


def replicas_that_fit(variables: tuple[VariableSeen, ...], wanted: int) -> int:
    """The most replicas, up to `wanted`, that can be traced and held; at least 1.

    Two are kept where time alone is short, so that what happens between replicas is still seen.
    """
    trainable = [variable for variable in variables if variable.trainable]
    by_time = max(VARIABLES_TO_TRACE // max(len(trainable), 1), 2)
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


def replicas_in_time(forward_flops: float, wanted: int, cores: int) -> int:
    """The most replicas, up to `wanted`, whose steps this machine runs in bearable time.

    `forward_flops` are those of one replica's forward pass.
    """
    replica_s = PASSES * forward_flops / (cores * CORE_FLOPS_PER_S)
    if replica_s * wanted <= BEARABLE_STEP_S:
        return wanted
    if replica_s * 2 > UNBEARABLE_STEP_S:
        return 1
    return max(min(int(BEARABLE_STEP_S / replica_s), wanted), min(2, wanted))


def examples_in_time(forward_flops: float, examples: int, cores: int) -> int:
    """The most examples of one replica's batch whose step this machine runs in bearable time.

    `forward_flops` are those of the whole batch.
    """
    replica_s = PASSES * forward_flops / (cores * CORE_FLOPS_PER_S)
    if replica_s <= UNBEARABLE_ALONE_S:
        return examples
    return _some_of(examples, BEARABLE_STEP_S / replica_s)


def examples_that_fit(forward_bytes: float, examples: int) -> int:
    """The most examples of one replica's batch whose activations have room."""
    room = MEMORY_SHARE * available_bytes() / max(forward_bytes, 1)
    return examples if room >= 1 else _some_of(examples, room)


def _some_of(examples: int, share: float) -> int:
    """A share of a batch; two examples at least, of which a script's means and norms are made."""
    return max(int(examples * share), min(FEWEST_EXAMPLES, examples))


def available_bytes() -> int:
    """Memory that this machine can still give; the physical memory where that is not told."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:  # noqa: PTH123
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
