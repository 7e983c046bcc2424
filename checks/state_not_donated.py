from tpudiag.model import Evidence, Finding, Framework, Judgement, Severity, check
from tpudiag.signals import ShardedStep, Signals

from ._compiler import compilation
from ._need import mib, need

LIMIT = 32 * 2**20
"""Bytes of state on a device that may lie there twice: 2.8 million parameters under Adam."""
FEWEST_HELD = 6
"""Earlier steps whose results a job keeps by no chance: an average, or a target network, is one."""
WORTH_A_WORD = 2**20
"""Nothing is reported below it; from there up to the limit a note."""
_APART = (
    "# one array is given in two places, and none is donated twice: a copy, once, before the loop\n"
    "params = jax.tree.map(jnp.copy, params)\n"
)


@check("TPU701", Severity.WARNING, frameworks=(Framework.JAX,))
def state_not_donated(signals: Signals, limit: float = LIMIT) -> Judgement:
    """The step keeps its old parameters in addition to the new ones.

    ## What it sees
    The arrays that go from one step to the next (parameters, the optimizer's moments), and which of
    them the step's jax.jit may overwrite; arrays donated in vain, since no result has their shape
    and dtype; and results of many earlier steps that the job still has. From 32 MiB on it is a
    warning, from 1 MiB on a note; and an error if the TPU compiler has no space for the step, but
    would have without the old state.

    ## Why it costs
    Without donation the new state is written next to the old one, and HBM holds both until the step
    has ended: the state takes its space twice.

    ## What to do
    ```python
    @partial(jax.jit, donate_argnums=(0, 1))     # the old params and opt_state are not read again
    def train_step(params, opt_state, batch): ...
    ```

    ## Source
    https://docs.jax.dev/en/latest/buffer_donation.html
    """
    step = need(signals.sharding, "a training step of jax.jit")
    need(step.state or None, "an array that goes from one step to the next")
    kept = [argument for argument in step.state if not argument.donated]
    size = sum(argument.own_bytes for argument in kept)
    seen = Evidence("state that is not donated, on a device", size, "B", int(limit))
    steps, held = step.held
    if steps >= FEWEST_HELD and held > limit:
        yield Finding(
            f"the job still has what {steps} earlier steps gave, {mib(held)}: with each step HBM "
            "holds more, until it is full.",
            "kept.append(jax.device_get(params))  # on the host, and rarely; or one average of all",
            (Evidence("results of earlier steps", held, "B", int(limit)),),
            step.called_at or step.location,
            cost_bytes=held,
        )
    elif size > min(limit, WORTH_A_WORD):  # what the job keeps it may not donate
        largest = max(kept, key=lambda argument: argument.bytes)
        names = dict.fromkeys(a.name.partition("[")[0].partition(".")[0] for a in step.state)
        yield Finding(
            f"{step.function} gets {mib(size)} of state on each device and may not overwrite it: "
            "the new state lies beside the old one.",
            _APART * step.one_array_twice
            + _donating(signals, step, f"({', '.join(map(repr, names))},)"),
            (seen, Evidence("largest", str(largest))),
            step.location,
            severity=_severity(signals, size, limit),
            cost_bytes=size,
        )
    lost = [argument for argument in step.arguments if argument.name in step.unusable]
    shapes = {argument.shape for argument in step.state}
    # Moments that the job casts between its steps are no longer the arrays that the step gave.
    in_vain = sum(argument.own_bytes for argument in lost if argument.shape in shapes)
    if in_vain > min(limit, WORTH_A_WORD):
        yield Finding(
            f"{step.function} may overwrite {lost[0].name}, and gives no array of its shape and "
            f"dtype ({lost[0].dtype}{list(lost[0].shape)}) that could take its place: "
            f"{mib(in_vain)} of donated state lies in HBM twice.",
            "return new state of the old shape and dtype:\n"
            "params = jax.tree.map(lambda new, old: new.astype(old.dtype), new, params)",
            (Evidence("donated and not usable", in_vain, "B", int(limit)),),
            step.location,
            severity=_severity(signals, in_vain, limit),
            cost_bytes=in_vain,
        )
    yield seen


def _donating(signals: Signals, step: ShardedStep, names: str) -> str:
    made = {each.name: each.made_by for each in signals.functions or ()}.get(step.function, "")
    if made and step.location is None:  # its arguments are not those of the user's function
        return f"{made}({step.function}, donate=...)  # or what else {made} calls it"
    own = step.function.rpartition(".")[2]  # as the lines around it call it
    if step.mapped:  # which takes no names
        return f"jax.pmap({own}, ..., donate_argnums=...)  # the places of {names}"
    return f"{made or 'jax.jit'}({own}, donate_argnames={names})"


def _severity(signals: Signals, size: int, limit: float) -> Severity:
    """By what the state that lies there twice keeps from fitting."""
    step = compilation(signals)
    full = step.out_of_memory if step is not None else None
    needed, usable = (full.needed_bytes, full.usable_bytes) if full is not None else (None, None)
    if needed and usable and needed - size <= usable:
        return Severity.ERROR
    return Severity.WARNING if size > limit else Severity.INFO
