"""TPU107."""

from tpudiag.model import Evidence, Finding, Judgement, Severity, check
from tpudiag.signals import FrozenState, Signals

from ._loop import loop_of

FEWEST_CALLS = 3
"""The least calls of an old trace before it counts as stale."""


@check("TPU107", Severity.WARNING)
def python_state_frozen(signals: Signals) -> Judgement:
    """Python state was frozen when a function was traced.

    ## What it sees
    Draws from Python's `random` and `np.random` while a graph is built (in a tf.function or a
    function of the input pipeline), by line; numbers that traced code writes (globals, variables of
    a closure, attributes) and that did not change in all later calls; numbers that traced code
    reads and that Python changed afterwards. Draws for initial weights are left out.

    ## Why it costs
    The Python code of a tf.function runs while it is traced and never again. A random draw is the
    same for every example, a counter counts traces, a learning rate stays constant: training
    continues silently with another augmentation or schedule than the one that is written.

    ## What to do
    ```python
    angle = tf.random.uniform([], -0.1, 0.1)         # not random.uniform(-0.1, 0.1)
    counter = tf.Variable(0); counter.assign_add(1)  # not self.counter += 1
    optimizer.learning_rate.assign(0.01)             # not a Python number that the step reads
    ```

    ## Source
    https://www.tensorflow.org/guide/function#executing_python_side_effects
    """
    loop = loop_of(signals)
    frozen = [state for state in loop.frozen if _matters(state)]
    for state in frozen[:5]:
        yield _finding(state)
    yield Evidence("frozen Python state", len(frozen), "values")
    yield Evidence("calls that trained", loop.dispatches, "calls")


def _matters(state: FrozenState) -> bool:
    """Whether it was seen to stand still; a draw always does."""
    if state.kind == "random":
        return True
    # What is written may be a flag that is set once by right; what is read and differs in Python by
    # now is wrong at its first call.
    return state.calls >= (FEWEST_CALLS if state.kind == "written" else 1)


def _drawn_anew(name: str) -> str:
    """TensorFlow's own draw in the place of one of Python's or NumPy's."""
    if any(word in name for word in ("normal", "gauss", "randn")):
        return "tf.random.normal(shape, mean, stddev)"
    if any(word in name for word in ("shuffle", "permutation")):
        return "tf.random.shuffle(values)"
    if any(word in name for word in ("randint", "randrange", "choice", "integers")):
        return "tf.random.uniform([], low, high, tf.int32)"
    return "tf.random.uniform([], low, high)"


def _finding(state: FrozenState) -> Finding:
    evidence = (
        Evidence("frozen", state.name),
        *((Evidence("when traced", state.traced),) if state.traced else ()),
        *((Evidence("in Python now", state.now),) if state.now else ()),
        *((Evidence("calls of the old trace", state.calls, "calls"),) if state.calls else ()),
    )
    if state.kind == "random":
        return Finding(
            f"{state.name} is called while {state.function} is traced: its draw is a constant of "
            "the graph.",
            f"{_drawn_anew(state.name)}  # draws anew at each call; in a pipeline too",
            evidence,
            state.location,
        )
    if state.kind == "written":
        return Finding(
            f"{state.function} changes {state.name} from {state.traced} to {state.now} while it is "
            f"traced, and in none of the {state.calls} calls after that.",
            f"{state.name} = tf.Variable(0, trainable=False)  # once, outside the function\n"
            f"{state.name}.assign_add(1)                      # inside it",
            evidence,
            state.location,
        )
    fix = (
        f"{state.name} = tf.Variable({state.traced}, trainable=False)  # once, in the scope\n"
        f"{state.name}.assign(value)  # where it changes: the graph reads it at each step"
    )
    return Finding(
        f"{state.function} was traced with {state.name} = {state.traced} and still uses that: "
        f"Python has {state.now} now.",
        fix,
        evidence,
        state.location,
    )
