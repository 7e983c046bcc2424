from tpudiag.model import Evidence, Finding, Judgement, Severity, check
from tpudiag.signals import Signals

from ._loop import loop_of
from ._need import mib, need

LIMIT = 100_000
"""Steps after which the results fill the HBM, below which it is told."""
FEWEST = 5
"""Steps: three that are over, and the last two, whose results a loop still works on."""
_SOON = 10_000
"""Fewer steps than this are taken by most jobs: a warning."""


@check("TPU304", Severity.WARNING)
def results_held(signals: Signals, limit: float = LIMIT) -> Judgement:
    """What each training step returns stays on the device.

    ## What it sees
    Tensors of 4 KiB or more that training steps returned and that the job still holds at the end of
    the observed steps, of nearly all of them but the last two; losses and other small results are
    left out. After how many steps they would fill the target's HBM, if nothing else were in it.
    In JAX TPU701 tells it.

    ## Why it costs
    A list of logits or gradients that grows with each step is an out-of-memory after hours, far
    from the line that fills it.

    ## What to do
    ```python
    metric.update_state(labels, logits)   # in the step; or logits.numpy(), now and then
    ```

    ## Source
    https://www.tensorflow.org/api_docs/python/tf/distribute/Strategy#experimental_local_results
    """
    held = loop_of(signals, fewest=FEWEST).kept_results
    target = need(signals.target, "the target", "name it: `--for v5e-8`")
    if held is None:
        yield Evidence("results held of each step", 0, "B")
        return
    steps = target.hardware.usable_hbm_bytes // held.bytes
    seen = Evidence("steps that fill the HBM", steps, "steps", int(limit))
    if steps < limit:
        yield Finding(
            f"the job still holds what its steps returned, {mib(held.bytes)} a step on each "
            f"device ({held.steps} of {held.of_steps} steps): where it is kept so, {steps:,} steps "
            f"fill the HBM of {target.generation}.",
            "update a metric in the step, or keep what is needed on the host, now and then:\n"
            "outputs.append([each.numpy() for each in strategy.experimental_local_results(y)])",
            (seen, Evidence("held of each step", held.bytes, "B", source="job")),
            held.location,
            severity=Severity.WARNING if steps < _SOON else Severity.INFO,
        )
    else:
        yield seen
