import re

from tpudiag.model import BOTH, Evidence, Finding, Framework, Judgement, Severity, check
from tpudiag.signals import FrozenState, Signals

from ._loop import loop_of
from ._need import by_framework

FEWEST_CALLS = 3
"""The least calls of an old trace before it counts as stale."""
_DRAWS = (
    ("normal|gauss|randn", "tf.random.normal(shape, mean, stddev)", "normal(draw, shape)"),
    ("shuffle|permutation", "tf.random.shuffle(values)", "permutation(draw, values)"),
    (
        "randint|randrange|choice|integers",
        "tf.random.uniform([], low, high, tf.int32)",
        "randint(draw, shape, low, high)",
    ),
    ("", "tf.random.uniform([], low, high)", "uniform(draw, shape)"),
)
"""Draws by a part of their names; TensorFlow's own; that of jax.random."""


@check("TPU107", Severity.WARNING, frameworks=BOTH)
def python_state_frozen(signals: Signals) -> Judgement:
    """Python state was frozen when a function was traced.

    ## What it sees
    Draws from Python's `random` and `np.random` while a graph is built (in a tf.function, a
    function of jax.jit or one of the input pipeline), by line; numbers that traced code writes
    (globals, variables of a closure, attributes) and that did not change in all later calls;
    numbers that traced code reads and that Python changed afterwards; a second `fit` after layers
    were freed, without `compile`. Draws for initial weights are left out.

    ## Why it costs
    The Python code of a tf.function, or of what jax.jit makes, runs while it is traced and never
    again. A random draw is the same for every example, a counter counts traces, a learning rate
    stays constant: training continues silently with another augmentation or schedule than the one
    that is written.

    ## What to do
    ```python
    angle = tf.random.uniform([], -0.1, 0.1)         # not random.uniform(-0.1, 0.1)
    counter = tf.Variable(0); counter.assign_add(1)  # not self.counter += 1
    optimizer.learning_rate.assign(0.01)             # not a Python number that the step reads
    base.trainable = True; model.compile(...)        # the next fit then makes its step anew

    key, draw = jax.random.split(key)                # in JAX: keys are given and returned,
    state = train_step(state, batch, learning_rate)  # and numbers are arguments
    ```

    ## Source
    https://www.tensorflow.org/guide/function#executing_python_side_effects
    """
    loop = loop_of(signals)
    # What is written may be a flag that is set once by right; what is read and differs by now is
    # wrong at its first call, and a draw always stands still.
    needed = {"random": 0, "written": FEWEST_CALLS}
    frozen = [state for state in loop.frozen if state.calls >= needed.get(state.kind, 1)]
    for state in frozen[:5]:
        yield _finding(state, by_framework(signals, _of_tensorflow, _of_jax)(state))
    yield Evidence("frozen Python state", len(frozen), "values")
    yield Evidence("calls that trained", loop.dispatches, "calls")


def _drawn_anew(name: str, framework: Framework) -> str:
    """The framework's own draw in the place of one of Python's or NumPy's."""
    at = 2 if framework is Framework.JAX else 1
    return next(row[at] for row in _DRAWS if re.search(row[0], name))


def _of_tensorflow(state: FrozenState) -> str:
    if state.kind == "random":
        draw = _drawn_anew(state.name, Framework.TENSORFLOW)
        return f"{draw}  # draws anew at each call; in a pipeline too"
    if state.name.startswith("len("):
        return "model.compile(optimizer, loss)  # again, after `trainable` is set"
    where = "in the function, where" if state.kind == "written" else "read at each step, where"
    return (
        f"{state.name} = tf.Variable({state.traced}, trainable=False)  # once, in the scope\n"
        f"{state.name}.assign(value)  # {where} it changes"
    )


def _of_jax(state: FrozenState) -> str:
    name = state.name.rpartition(".")[2]
    if state.of_input:
        return _of_tensorflow(state)
    if state.kind == "random":
        return (
            "key, draw = jax.random.split(key)  # the key is an argument, and is returned\n"
            f"jax.random.{_drawn_anew(state.name, Framework.JAX)}"
        )
    if state.kind == "written":
        return f"return state, {name}  # as it changed: an argument of {state.function}, too"
    return f"{state.function}(..., {name})  # as an argument, which each call reads"


def _finding(state: FrozenState, fix: str) -> Finding:
    evidence = (
        Evidence("frozen", state.name),
        *((Evidence("when traced", state.traced),) if state.traced else ()),
        *((Evidence("in Python now", state.now),) if state.now else ()),
        *((Evidence("calls of the old trace", state.calls, "calls"),) if state.calls else ()),
    )
    name, function = state.name, state.function
    messages = {
        "random": f"{name} is called while {function} is traced: its draw is a constant of the "
        "program.",
        "written": f"{function} changes {name} from {state.traced} to {state.now} while it is "
        f"traced, and in none of the {state.calls} calls after that.",
        "read": f"{function} was traced with {name} = {state.traced} and still uses that: Python "
        f"has {state.now} now.",
    }
    return Finding(messages[state.kind], fix, evidence, state.location)
