from tpudiag.model import Evidence, Finding, Framework, Judgement, Severity, check
from tpudiag.signals import Signals

from ._loop import numerics_of
from ._need import need

_KEEP = "params, opt_state, loss = train_step(params, opt_state, batch)  # as they are returned"
_ONCE = "opt_state = optimizer.init(params)  # once, before the loop over the epochs"
_RETURN = (
    "updates, opt_state = optimizer.update(gradients, opt_state, params)\n"
    "return optax.apply_updates(params, updates), opt_state, loss  # and given to the next call"
)


@check("TPU518", Severity.ERROR, frameworks=(Framework.JAX,))
def optimizer_state_lost(signals: Signals) -> Judgement:
    """The optimizer starts anew at each step: its state is not kept.

    ## What it sees
    In the traced step, arguments of which a share and the gradients make new values, and that the
    loss does not read: momentum, Adam's moments, sums of squares. By its values before three calls,
    whether any of them changes. Where only some steps make new ones, a counter that the step gives
    raised by one. At later calls whether they are twice begun anew, as in each epoch, while
    parameters go on.

    ## Why it costs
    No error: momentum has no past, Adam divides by the moments of a single batch, and a schedule
    that counts steps in this state stays at its first rate (0 with a warmup). Training is slow or
    stands still.

    ## What to do
    ```python
    updates, opt_state = optimizer.update(gradients, opt_state, params)
    ...
    params, opt_state, loss = train_step(params, opt_state, batch)  # both go to the next call
    ```

    ## Source
    https://optax.readthedocs.io/en/latest/getting_started.html
    """
    numerics = numerics_of(signals)
    need(numerics.state_compared or None, "the state over three steps")
    lost = numerics.lost_moments
    count = len(lost.names) if lost is not None else 0
    seen = Evidence("moments that are lost", count, "arrays", 0)
    if lost is not None and lost.restarts:
        yield Finding(
            f"The optimizer's state (its arrays: {len(lost.names)}, the first {lost.names[0]}) was "
            f"begun anew {lost.restarts} times in the steps that ran, and the parameters went on.",
            _ONCE,
            (Evidence("begun anew", lost.restarts, "times", 0),),
            lost.location,
            severity=Severity.WARNING,
        )
    elif lost is not None:
        where = "the step returns new ones, which" if lost.returned else "the new ones"
        yield Finding(
            f"The optimizer's state (its arrays: {len(lost.names)}, the first {lost.names[0]}) is "
            f"at each call what it was at the first: {where} nothing keeps.",
            _KEEP if lost.returned else _RETURN,
            (seen,),
            lost.location,
        )
    yield seen
