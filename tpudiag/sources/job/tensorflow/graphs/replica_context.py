"""Tracing as replica 0 of a strategy, with XLA's all-reduce between replicas."""

import contextlib
from collections.abc import Generator, Iterable

from tpudiag.sources.job.points import Args, Call, Kwargs, Library, hooks, privates, user_lines
from tpudiag.sources.job.points.library_objects import Strategy

SUMS_FROM = (2, 16)
"""The first TensorFlow whose XLA for CPUs has XlaAllReduce, which sums over the replicas."""
PLACE_OF_SUM = "tpudiag.all_reduce."
"""In older ones a call of this name, and the replicas, marks the sum's place in the program."""
REDUCIBLE = ("float16", "bfloat16", "float32", "int32", "uint32")
"""Types of XLA's all-reduce; anything else is rare and small, and stays unchanged."""


@contextlib.contextmanager
def as_replica(tf: Library, strategy: Strategy, replicas: int) -> Generator[None]:
    """Replica 0 of `replicas`: merge_call merges only this one, and XLA sums over all of them."""
    extended = strategy.extended
    if not tf.distribute.has_strategy() and type(strategy) is type(tf.distribute.get_strategy()):
        yield
        return
    update_context = privates.UPDATE_CONTEXT.get()

    def reduce_to(reduce_op: object, value: object, *_: object, **__: object) -> object:
        return _all_reduce(tf, reduce_op, value, replicas)

    def batch_reduce_to(
        reduce_op: object, pairs: Iterable[tuple[object, object]], *_: object, **__: object
    ) -> object:
        return [_all_reduce(tf, reduce_op, value, replicas) for value, _ in pairs]

    def update(
        var: object, fn: Call, args: Args = (), kwargs: Kwargs | None = None, group: bool = True
    ) -> object:
        first = [user_lines.first_replica_value(value) for value in args]
        named = {
            name: user_lines.first_replica_value(value) for name, value in (kwargs or {}).items()
        }
        with update_context(0):
            done = fn(user_lines.first_replica_value(var), *first, **named)

        def alone(value: object) -> tuple[object]:
            return (value,)

        return tf.group(done) if group else tf.nest.map_structure(alone, done)

    def call_for_each_replica(fn: Call, args: Args = (), kwargs: Kwargs | None = None) -> object:
        # What is merged may go back to the replicas, as the step of a scaled loss does.
        with tf.distribute.ReplicaContext(strategy, 0):
            return fn(*args, **(kwargs or {}))

    changed: Kwargs = {
        "call_for_each_replica": call_for_each_replica,
        "reduce_to": reduce_to,
        "batch_reduce_to": batch_reduce_to,
        "update": update,
        # Strategies may have each replica sum by itself where XLA compiles the step; with
        # merge_call all communication goes through reduce_to above.
        privates.USES_MERGE_CALL.name: lambda: True,
    }
    context = tf.distribute.ReplicaContext(strategy, 0)
    with (
        hooks.instead(extended, **changed),
        hooks.instead(context, all_gather=_gathering(tf, replicas)),
        strategy.scope(),
        context,
    ):
        yield


def _gathering(tf: Library, replicas: int) -> object:
    """ReplicaContext.all_gather in XLA's terms; the strategy's own leaves no trace in a program.

    TensorFlow has no all-gather for XLA: each replica adds its part to the others' zeros, which
    moves at most twice as much. Its gradient is the sum over the replicas of their own parts.
    """

    def gathered(value: object, axis: int) -> object:
        def of_all(own: object) -> object:
            parts = [own, *(tf.zeros_like(own) for _ in range(replicas - 1))]

            def gradient(of_whole: object) -> object:
                whole = _all_reduce(tf, "SUM", of_whole, replicas)
                return tf.split(whole, replicas, axis)[0]

            return _all_reduce(tf, "SUM", tf.concat(parts, axis), replicas), gradient

        return tf.custom_gradient(of_all)(value)

    def all_gather(value: object, axis: int, options: object = None) -> object:
        del options
        parts = [gathered(tf.convert_to_tensor(part), axis) for part in tf.nest.flatten(value)]
        return tf.nest.pack_sequence_as(value, parts)

    return tf.autograph.experimental.do_not_convert(all_gather)


def _all_reduce(tf: Library, reduce_op: object, value: object, replicas: int) -> object:
    tensor = tf.convert_to_tensor(user_lines.first_replica_value(value))
    if replicas == 1 or tensor.dtype.name not in REDUCIBLE:
        return tensor
    if tuple(map(int, tf.__version__.split(".")[:2])) < SUMS_FROM:
        total = privates.XLA_CALL.get()(
            args=[tensor],
            target_name=f"{PLACE_OF_SUM}{replicas}",
            backend_config="",
            dtype=tensor.dtype,
            shape=tensor.shape,
        )
    else:
        total = privates.XLA_SUM.get()(
            input=tensor,
            group_assignment=[list(range(replicas))],
            reduce_op="Add",
            mode="CrossReplica",
        )
    return total / tf.cast(replicas, total.dtype) if "MEAN" in str(reduce_op).upper() else total
