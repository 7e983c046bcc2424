"""Private names of TensorFlow and Keras that are read or called, one row each.

They are used where nothing public has the information; where one is missing, the information is
unknown. Hooked names are in `table.py`; `python -m tests.points` checks both.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Any

_RAISES = object()


@dataclass(frozen=True)
class Private:
    """A private name."""

    name: str
    why: str
    module: str = ""
    """Empty for an attribute of the job's objects."""
    releases: str = "2.13 to 2.21"

    def of(self, owner: object, otherwise: object = _RAISES) -> Any:
        """An object's attribute; AttributeError, or the given default, where it is missing."""
        if otherwise is _RAISES:
            return getattr(owner, self.name)
        return getattr(owner, self.name, otherwise)

    def get(self) -> Any:
        """A module's value of that name; None where it is missing."""
        with suppress(ImportError):
            return getattr(import_module(self.module), self.name, None)
        return None

    def names(self, value: object) -> bool:
        """Whether a value is of the named class, or its TensorFlow 1 version."""
        return type(value).__name__.startswith(self.name)


_CONFIG = "tensorflow.python.framework.config"
DETERMINISTIC = Private("is_op_determinism_enabled", "whether it was asked for", _CONFIG)
DETERMINISM_OFF = Private("disable_op_determinism", "what XLA for the CPU refuses then", _CONFIG)

# Of datasets and their iterators.
INPUTS = Private("_inputs", "the datasets that a dataset is made from")
BATCH_SIZE = Private("_batch_size", "the size of a batch")
DROP_REMAINDER = Private("_drop_remainder", "whether a last, smaller batch is left out")
COUNT = Private("_count", "how often data are repeated, or how many are taken")
BUFFER_SIZE = Private("_buffer_size", "how many elements are prefetched or shuffled")
SEED = Private("_seed", "the first number that a shuffle begins with")
SEED_2 = Private("_seed2", "the second one")
RESHUFFLES = Private("_reshuffle_each_iteration", "whether each pass has another order")
PARALLEL_CALLS = Private("_num_parallel_calls", "how many elements are worked on at once")
MAP_FUNCTION = Private("_map_func", "the function of a map, traced")
PREDICATE = Private("_predicate", "the function of a filter, traced")
KEEPS_CARDINALITY = Private("_preserve_cardinality", "whether a map gives as many as it is given")
FLAT_STRUCTURE = Private("_flat_structure", "types and shapes, as the operations take them")
VARIANT = Private("_variant_tensor", "the dataset as a tensor")
ZIPPED = Private("_datasets", "the datasets that are zipped")
HELD = Private("_dataset", "the dataset that one of TensorFlow 1, a reader or an iterator holds")
READER = Private("_impl", "the dataset that a reader holds")
FILE_NAMES = Private("_filenames", "the files that a reader names")
CACHE_FILE = Private("_filename", "the file of a cache")
TYPE_SPEC = Private("_type_spec", "what tracing looks at in an iterator of a strategy")
TENSORS = Private("_tensors", "what a source is made of")
ITERATOR_RESOURCE = Private("_iterator_resource", "what ends slowly when an iterator goes")
SERIALIZED = Private("_as_serialized_graph", "the pipeline as a graph, to measure what a fix gives")
CONCATENATED = Private("_Concatenate", "the class of two datasets, one after the other")
VARIANT_DATASET = Private(
    "_VariantDataset", "a dataset of a changed graph", "tensorflow.python.data.ops.dataset_ops"
)
INTERFACE = "tensorflow._api.v2."
"""The modules that implement `tf.io` and the like."""
DATASET_MODULES = "tensorflow.python.data.ops."
"""The modules that make a dataset for a call by the user, not by another library."""

# Of graphs, variables and models.
SET_ATTRIBUTE = Private("_set_attr", "changes a constant of a graph that is being traced")
GRAPH_FUNCTION = Private("_get_function", "the body of a function that a graph calls")
AUTOGRAPH = Private("_autograph", "whether a tf.function is converted")
METRIC_OPTIONS = Private("_fn_kwargs", "the threshold of a metric that is a function")
METRIC_OF_SCORES = Private("_from_logits", "whether a metric takes scores")
VALUE = Private("_value", "TensorFlow's variable behind one of Keras 3", releases="Keras 3")
INITIALIZES = Private(
    "_initialize_with_initializer", "tells a variable of Keras 3", releases="Keras 3"
)
SHAPES_BUILT = Private("_build_shapes_dict", "what a model was built for", releases="Keras 3")
SHAPE_BUILT = Private("_build_input_shape", "what a model was built for", releases="Keras 2")
ITERATIONS = Private("_iterations", "an optimizer's counter of steps, if it was made by now",
                     releases="Keras 2 and 3")  # fmt: skip
STEPS_PER_EXECUTION = Private("_steps_per_execution", "of a model", releases="Keras 2")
VALIDATION = Private(
    "_eval_epoch_iterator", "where the next validation reads on", releases="Keras 3"
)
USES_MERGE_CALL = Private("_use_merge_call", "whether replicas are summed through merge_call")
DEFAULT_STRATEGY = Private("_DefaultDistributionStrategy", "where a job made no strategy")
SOFT_PLACEMENT = Private("_soft_device_placement", "what was asked for, from the default")
OPERATIONS = Private(
    "get", "is an operation stateful", "tensorflow.python.framework.op_def_registry"
)
UPDATE_CONTEXT = Private(
    "UpdateContext",
    "a replica updates its variables",
    "tensorflow.python.distribute.distribute_lib",
)
CONVERT = Private("tf_convert", "as strategy.run has it; the public one takes no methods",
                  "tensorflow.python.autograph.impl.api")  # fmt: skip
CONVERSION = Private("ControlStatusCtx", "the same", "tensorflow.python.autograph.core.ag_ctx")
CONVERSION_STATUS = Private("Status", "the same", "tensorflow.python.autograph.core.ag_ctx")
EAGER_CONTEXT = Private("context", "TensorFlow's own settings", "tensorflow.python.eager.context")
RECORDED = Private(
    "could_possibly_record", "a gradient may be taken of it", "tensorflow.python.eager.record"
)
TF2_ENABLED = Private("enabled", "the switch for version 2", "tensorflow.python.tf2")
XLA_SUM = Private(
    "xla_all_reduce", "a sum over replicas", "tensorflow.compiler.tf2xla.ops.gen_xla_ops"
)
XLA_CALL = Private(
    "xla_custom_call", "the same before 2.15", "tensorflow.compiler.tf2xla.ops.gen_xla_ops"
)
BUILDER_FOLDER = Private("_data_dir", "a builder's data", releases="tensorflow_datasets 4")
TUNNEL = Private("_tunnel_host", "the host behind a proxy", releases="Python 3.10 to 3.13")
BASE_URL = Private("_base_url", "what the addresses of a session begin with", releases="aiohttp 3")
CALLBACKS = "jax._src.callback"
"""The module by which a compiled program calls Python, of JAX 0.4.30 to 0.10."""
KERNELS = "jax._src.pallas.pallas_call"
"""The module of Pallas' kernels, of JAX 0.4.30 to 0.10."""
CLIENTS = ("get_backend", "backend")
"""By which a program in the making asks for its platform's client: since JAX 0.4.36, and before."""
PMAP = "xla_pmap"
"""The operation that jax.pmap is, from JAX 0.4.30 to 0.7."""
PMAP_LOWERED_IN, PMAP_LOWERED_BY = "jax._src.interpreters.pxla", "lower_parallel_callable"
"""What lowers one device's program of it, in releases that do not trace it, as 0.7."""
KERNEL = Private("pallas_call_p", "runs a kernel", releases="JAX 0.4.30 to 0.10")
KERNEL_LOWERING = Private("_pallas_call_lowering", "the same", releases="JAX 0.4.30 to 0.10")
JAX_COMPILED = "/jax/core/compile/backend_compile_duration"
"""Event of `jax.monitoring`, of JAX 0.4.30 to 0.10: a program was compiled."""


def steps_taken(optimizer: Any) -> int | None:
    """The number of steps taken by a Keras optimizer; None for none.

    Its property would create the counter of an older one, outside the strategy's scope.
    """
    counter = ITERATIONS.of(getattr(optimizer, "inner_optimizer", optimizer), None)
    with suppress(AttributeError, TypeError, ValueError, RuntimeError):
        return int(counter.numpy())
    return None


def inputs(dataset: Any) -> Sequence[Any]:
    """The datasets that a dataset is made from."""
    made_from: Sequence[Any] = INPUTS.of(dataset)()
    return made_from
