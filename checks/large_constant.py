from tpudiag.model import BOTH, Evidence, Finding, Judgement, Severity, check
from tpudiag.signals import Signals, StepConstant

from ._need import by_framework, mib, need, of_a_job

LIMIT = 8 * 2**20
"""The largest constant, in bytes, that is no matter of itself."""
OF_WEIGHTS = 0.5
"""A constant this large relative to all trained state is reported, too: it grows with the state."""

_VARIABLE = (
    "with strategy.scope():\n    table = tf.Variable(array, trainable=False)  "
    "# outside the tf.function, and read inside it"
)
_ARGUMENT = "train_step(params, batch, table)  # an argument of the step, not captured by it"
_PARAMETER = (
    "# to be trained: an attribute of the model, as its other parameters are, not in a closure\n"
    f"# to stay as it is:\n{_ARGUMENT}"
)


@check("TPU110", Severity.WARNING, frameworks=BOTH)
def large_constant(signals: Signals, limit: float = LIMIT) -> Judgement:
    """An array is part of the program of the step.

    ## What it sees
    Constants of the traced step and of the functions that it calls, with their sizes and the lines
    that made them. NumPy arrays that the step's code uses become such constants; variables, and
    tensors that were made outside the tf.function, do not. In JAX also whether a product takes it
    as weights, which are then never trained.

    ## Why it costs
    At each trace the array is written into the graph, and once more into the TPU's program. Each
    time it is copied, folded and compiled, and HBM holds it once for each compiled program. A graph
    of 2 GiB is refused ("GraphDef cannot be larger than 2GB").

    ## What to do
    ```python
    with strategy.scope():
        table = tf.Variable(array, trainable=False)     # once, outside the tf.function
    rows = tf.gather(table, ids)                        # inside it
    ```

    ## Source
    https://www.tensorflow.org/guide/data#consuming_numpy_arrays (arrays embedded in the graph)
    """
    of_a_job(signals, "the constants of the step")
    ops = need(signals.step_ops, "a traced training step")
    weights = (
        sum(each.own_bytes for each in signals.sharding.state)
        if signals.sharding is not None
        else sum(v.bytes for v in signals.variables or () if v.trainable and not v.optimizer)
    )
    least = min(limit, OF_WEIGHTS * weights) if weights else limit
    for constant in [each for each in ops.large_constants if each.bytes > least][:3]:
        fix = _PARAMETER if constant.factor else by_framework(signals, _VARIABLE, _ARGUMENT)
        yield _finding(constant, limit, fix)
    total = sum(constant.bytes for constant in ops.large_constants)
    yield Evidence("constants of a mebibyte and more", total, "B", int(limit))


def _finding(constant: StepConstant, limit: float, fix: str) -> Finding:
    sizes = " x ".join(map(str, constant.shape))
    return Finding(
        f"an array of {sizes} ({mib(constant.bytes)}) is a constant of the traced step: it is part "
        "of the program, at every trace and compilation."
        + " A product takes it as weights, and no gradient reaches it: it is never trained."
        * constant.factor,
        fix,
        (Evidence("constant", constant.name), Evidence("size", constant.bytes, "B", int(limit))),
        constant.location,
    )
