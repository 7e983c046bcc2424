from tpudiag.model import Evidence, Finding, Framework, Judgement, Severity, check
from tpudiag.signals import Signals

from ._loop import numerics_of
from ._need import mib, need

MOST = 0.5
"""Of the bytes of the state: where more is apart, each replica trains a model of its own."""

_OF_INPUT = """\
# one program for all devices: what they are given differs. Of an array that several devices hold
# whole, or hold the same part of, each must have the same values:
batch = jax.device_put(batch, NamedSharding(mesh, P("data")))"""


@check("TPU512", Severity.WARNING, frameworks=(Framework.JAX,))
def replicas_apart(signals: Signals) -> Judgement:
    """State that should be the same on all replicas differs between them after a step.

    ## What it sees
    Values: the arrays of the state that were the same on all devices before the first step and
    differ after two, in jax.pmap and in arrays that a shard_map returns as whole ones; in one
    program for all devices where copies of its input differ. State that
    another function of the job's synchronises before it is used is left out; so is state that
    differed at the start, such as that of several models.

    ## Why it costs
    Gradients that are not summed train eight models, of which one is kept. Batch normalisation
    statistics that are not averaged come from an eighth of the data and differ on each device, and
    the checkpoint keeps those of the first.

    ## What to do
    ```python
    gradients = jax.lax.pmean(gradients, "data")
    batch_stats = jax.lax.pmean(batch_stats, "data")    # or BatchNorm(axis_name="data")
    ```

    ## Source
    https://flax-linen.readthedocs.io/en/latest/guides/training_techniques/batch_norm.html
    """
    numerics = numerics_of(signals)
    need(numerics.state_compared or None, "the state of several replicas over three steps")
    apart = numerics.replicas_apart
    if apart is not None:
        whole = apart.bytes / max(apart.of_bytes, 1) > MOST
        axis = f'"{apart.axes[0]}"' if len(apart.axes) == 1 else apart.axes or "axis_name"
        yield Finding(
            f"{len(apart.names)} arrays of the state ({mib(apart.bytes)}), the first "
            f"{apart.names[0]}, were one on all {apart.replicas} devices and differ after two "
            f"steps: {'each device trains a model of its own' if whole else 'nothing reduces them'}"
            ".",
            _OF_INPUT
            if not apart.by_program
            else f"gradients = jax.lax.pmean(gradients, {axis})  # before they are applied"
            if whole
            else f"batch_stats = jax.lax.pmean(batch_stats, {axis})  # or BatchNorm(axis_name=...)",
            (
                Evidence("state that differs", apart.bytes, "B", 0),
                Evidence("state", apart.of_bytes, "B"),
                *(Evidence("differs", name) for name in apart.names[1:4]),
            ),
            apart.location,
            severity=Severity.ERROR if whole else Severity.WARNING,
        )
    yield Evidence("arrays that differ", len(apart.names) if apart is not None else 0, "arrays", 0)
