from tpudiag.model import BOTH, Evidence, Finding, Judgement, Severity, check
from tpudiag.signals import SameDraws, Signals

from ._loop import numerics_of
from ._need import by_framework, need

_OF_JAX = {
    "replicas": (
        "key = jax.random.fold_in(key, jax.lax.axis_index(axis))  # within shard_map or pmap"
    ),
    "twice": "key, first, second = jax.random.split(key, 3)  # one for each draw",
    "turns": "keys = jax.random.split(key, turns)  # given to the scan beside its data",
    "steps": "key = jax.random.fold_in(key, step)  # the step's number is an argument",
}
_OF_TENSORFLOW = (
    "replica = tf.distribute.get_replica_context().replica_id_in_sync_group\n"
    "seed = tf.stack([seed + replica, step])  # of the stateless draw"
)


@check("TPU511", Severity.WARNING, frameworks=BOTH)
def same_random_numbers(signals: Signals) -> Judgement:
    """Random numbers repeat that should differ.

    ## What it sees
    Stateless draws by a constant seed in functions that tf.data maps. For each draw in the traced
    step, the origin of its key or seed: draws of a batch's size whose seed is the same on all
    replicas; in JAX a key that is used for two draws, in each iteration of a loop, or (by its
    values before two calls) in each step. Numbers that are not of the batch's size (one scale for
    all, noise of weights) may be the same on all replicas.

    ## Why it costs
    No error: eight replicas draw the same noise or dropout mask, so that the batch has an eighth of
    the variety that it seems to have; two uses of a key are correlated; a mask that stays the same
    at each step switches off the same units permanently.

    ## What to do
    ```python
    key = jax.random.fold_in(jax.random.fold_in(key, step), jax.lax.axis_index("data"))
    seed = tf.stack([base + replica_context.replica_id_in_sync_group, step])   # TensorFlow
    ```

    ## Source
    https://docs.jax.dev/en/latest/random-numbers.html; tf.random.stateless_normal
    """
    fed = (op for each in signals.pipelines or () if each.trains for op in each.ops)
    for line in dict.fromkeys(op.same_draws for op in fed if op.same_draws is not None):
        yield Finding(
            "the seed of this draw is constant: each element, in each epoch, is changed by the "
            "same random numbers.",
            "counter = tf.data.Dataset.counter()\ndataset = tf.data.Dataset.zip((dataset, counter))"
            "  # seed=(SEED, number) in the function of map",
            (Evidence("seed", "constant"),),
            line,
        )
    numerics = numerics_of(signals)
    draws = need(numerics.draws or None, "a random draw in the step")
    by_line = {(draw.kind, str(draw.location)): draw for draw in numerics.same_draws}
    for draw in list(by_line.values())[:4]:
        of_jax = _OF_JAX[draw.kind] + (f"\n{_OF_JAX['steps']}" if draw.each_step else "")
        fix = by_framework(signals, _OF_TENSORFLOW, of_jax)
        evidence = [Evidence("drawn", str(list(draw.shape)))]
        if draw.copies:
            evidence.append(Evidence("the same", draw.copies, "times", 1))
        yield Finding(_what(draw), fix, tuple(evidence), draw.location)
    yield Evidence("draws in the step", draws, "draws")
    yield Evidence("draws that come again", len(by_line), "lines", 0)


def _what(draw: SameDraws) -> str:
    shape = " x ".join(map(str, draw.shape))
    if draw.kind == "replicas":
        again = ", the same in each step" if draw.each_step else ""
        return (
            f"all {draw.copies} replicas draw the same {shape} random numbers{again}: nothing of "
            f"the {'step, or of the ' if draw.each_step else ''}replica's number or data is in the "
            "seed."
        )
    if draw.kind == "twice":
        return f"the key of these random numbers was used before, at {draw.first}."
    if draw.kind == "turns":
        return f"each of {draw.copies} turns of a loop draws the same {shape} random numbers."
    at = f", at {draw.first}" if draw.first is not None else ""
    return (
        f"each step draws the same {shape} random numbers{at}: nothing that the key is made of "
        "changes from one call to the next."
    )
