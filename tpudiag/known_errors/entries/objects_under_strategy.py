# ruff: noqa: E501  (texts of other programs stay as they are)
"""Variables and strategies used as if they were plain ones; small slips of types and messages."""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Phase

ERRORS = (
    KnownError(
        id="E759",
        family="distributed-variable",
        phase=Phase.TRACING,
        patterns=(
            r"'(?P<type>(?:TPU)?(?:Lazy)?(?:Mirrored|Distributed|SyncOnRead|Uninitialized|Aggregating|AutoCastDistributed|LazyDistributed)Variable)' object has no attribute '(?P<name>(?:scatter_\w{1,20}|batch_scatter_\w{1,20}|sparse_read|gather_nd|assign_moving_average|assign_\w{1,20}|count_up_to|load|eval|initializer|value_index|[a-z]\w{0,30}?_ema|numpy_\w{1,20}|is_initialized|_?cached_value|_use_\w{1,20}|swap_\w{1,20}))'",
        ),
        cause="Under a strategy a variable is a bundle of copies, one for each replica, and lacks what a plain variable has: code that updates it by rows (scatter_update of a memory bank, an embedding, a queue), by moving averages or through a session reaches for such a method.",
        details=("It is a {type}, asked for {name}.",),
        fix="""\
variable.assign(tf.tensor_scatter_nd_update(variable, indices[:, None], rows))      # by value, in place of scatter_update; inside strategy.run
variable = tf.Variable(x, trainable=False, synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA)     # how the copies go together
average = keras.optimizers.Adam(1e-3, use_ema=True)                                    # moving averages by the optimizer
pip install -U tensorflow                                                               # later releases have more of these methods""",
        evidence="recalled",
        example="AttributeError: 'TPUMirroredVariable' object has no attribute 'scatter_update'",
    ),
    KnownError(
        id="E769",
        family="strategy-called",
        phase=Phase.BUILDING,
        patterns=(
            r"'(?P<type>(?:TPU|Mirrored|OneDevice|MultiWorkerMirrored|Default|_Default\w{0,20})Strategy\w{0,4}|TPUClusterResolver|DeviceMesh)' object is not callable",
            r"'(?:generator|_GeneratorContextManager|\w{0,30}ScopeContextManager)' object .{0,40}?(?:not callable|is not an iterator)",
            r"'(?P<type>(?:TPU|Mirrored|OneDevice)Strategy\w{0,4})' object does not support the context manager protocol",
        ),
        cause="The strategy itself is called or entered: what is entered is its scope, and what is called is its run.",
        details=("It is a {type}.",),
        fix="""\
with strategy.scope(): model = make_model()                 # not `with strategy:` and not `strategy()`
losses = strategy.run(step_fn, args=(batch,))                # not strategy(step_fn)""",
        evidence="recalled",
        example="TypeError: 'TPUStrategyV2' object is not callable",
    ),
    KnownError(
        id="E770",
        family="abstract-class",
        phase=Phase.BUILDING,
        patterns=(
            r"Can't instantiate abstract class (?P<type>\w{1,60}) with(?:out an implementation for)? abstract methods? '?(?P<name>\w{1,60})",
        ),
        cause="A class of your own (a Sequence, a Strategy, a LearningRateSchedule, a callback) does not define a method that its base leaves to it, or defines it with another name or indent.",
        details=("{type} has no {name}.",),
        fix="""\
class Batches(keras.utils.PyDataset):                        # Sequence before Keras 3
    def __len__(self): return len(self.x) // self.batch_size
    def __getitem__(self, index): return self.x[index * self.batch_size:(index + 1) * self.batch_size]
class Schedule(keras.optimizers.schedules.LearningRateSchedule):
    def __call__(self, step): ...
    def get_config(self): return {}""",
        evidence="recalled",
        example="TypeError: Can't instantiate abstract class Batches with abstract methods __len__",
    ),
    KnownError(
        id="E771",
        family="bfloat16-in-numpy",
        phase=Phase.READING,
        patterns=(
            r"data type '?bfloat16'? not understood",
            r"[Cc]annot interpret '.{0,20}?bfloat16.{0,20}?' as a data type",
            r"(?:No loop|ufunc).{0,120}?dtype\(?(?:\[?bfloat16|'?E'?|\('V2'\))",
            r"(?:numpy|np)\.?.{0,60}?(?:does not support|unsupported).{0,20}?bfloat16",
            r"Got unsupported ScalarType BFloat16",
        ),
        cause="NumPy knows no bfloat16 by itself: arrays of it come from a TPU or from mixed precision, and are to be computed with, plotted or saved as they are.",
        fix="""\
x = tf.cast(x, tf.float32).numpy()                          # first float32, then NumPy; JAX: np.asarray(x.astype(jnp.float32)); PyTorch: x.float().numpy()
import ml_dtypes; np.zeros(3, dtype=ml_dtypes.bfloat16)       # NumPy with bfloat16
outputs = keras.layers.Dense(CLASSES, dtype="float32")(x)      # a model's end in float32""",
        evidence="recalled",
        example="TypeError: data type 'bfloat16' not understood",
    ),
    KnownError(
        id="E772",
        family="list-expected",
        phase=Phase.TRACING,
        patterns=(
            r"Expected list for '(?P<name>\w{1,30})' argument to '(?P<op>\w{1,60})' Op, not",
            r"Expected list for attr ",
            r"Expected list for '(?P<name>\w{1,30})' argument to '(?P<op>\w{1,60})' Op",
        ),
        cause="An operation over several tensors (stack, concat, add_n) is given one thing that is no list: a tensor, a generator, a PerReplica, a dict.",
        details=("The argument is {name} of {op}.",),
        fix="""\
x = tf.stack([a, b]); x = tf.concat([a, b], axis=0)                 # a list in brackets
x = tf.concat(strategy.experimental_local_results(per_replica), axis=0)
x = tf.stack(list(generator))""",
        evidence="recalled",
        example="TypeError: Expected list for 'values' argument to 'Pack' Op, not Tensor(\"x:0\").",
        yields_to=("E553",),
    ),
)
