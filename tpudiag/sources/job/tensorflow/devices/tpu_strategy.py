"""The replacement of TPUStrategy: a MirroredStrategy over CPU replicas that looks like one.

It must be a class whose name starts with TPUStrategy: Keras uses isinstance() and class names.
"""

import contextlib
import functools
import random
from collections.abc import Callable
from typing import Any

from tpudiag.script_run import InterventionKind
from tpudiag.sources.job.points import Args, Call, Kwargs, hooks, interventions, python_slots
from tpudiag.sources.job.points.library_objects import Dataset, Strategy, Tensor
from tpudiag.sources.job.tensorflow.devices import tpu_system
from tpudiag.sources.job.tensorflow.devices.tpu_system import CpuReplicas, TpuSystem
from tpudiag.sources.job.tensorflow.shortening import thin_batches

Pair = tuple[Any, object]
"""A value of each replica, and where its reduction goes."""


class _Strategy:
    """What TPUStrategy has in addition to MirroredStrategy, over the CPU replicas."""

    tpudiag_system: TpuSystem
    tpudiag_cpus: CpuReplicas
    tpudiag_whole_batches = False
    """Give the real replicas whole batches, where results must have the data's length."""
    tpudiag_sparing = False
    """Whether some examples represent each batch, whose steps were observed before."""
    steps_per_run = 1

    def __init__(
        self,
        tpu_cluster_resolver: object = None,
        experimental_device_assignment: object = None,
        experimental_spmd_xla_partitioning: bool = False,  # noqa: ARG002
        **named: object,
    ) -> None:
        assignment = named.get("device_assignment") or experimental_device_assignment
        wanted = getattr(assignment, "num_replicas", None)
        self._tpudiag_replicas = wanted if isinstance(wanted, int) else self.tpudiag_system.replicas
        self._tpudiag_resolver = tpu_cluster_resolver
        mirrored: Any = super()
        mirrored.__init__([f"CPU:{index}" for index in range(self._tpudiag_real())])
        strategy: Any = self
        _as_tpu(strategy.extended, strategy, self.tpudiag_system)

    @classmethod
    def tpudiag_share(cls) -> tuple[int, int]:
        """The number of running replicas, and the target's."""
        replicas = cls.tpudiag_system.replicas
        return min(cls.tpudiag_cpus.count, replicas), replicas

    def _tpudiag_real(self) -> int:
        return min(self.tpudiag_cpus.count, self.num_replicas_in_sync)

    @property
    def cluster_resolver(self) -> object:
        """The resolver passed to the constructor."""
        return self._tpudiag_resolver

    @property
    def num_replicas_in_sync(self) -> int:
        """The target's replicas, not this machine's."""
        return int(self._tpudiag_replicas)

    def run(
        self,
        fn: Call,
        args: Args = (),
        kwargs: Kwargs | None = None,
        options: object = None,  # noqa: ARG002
    ) -> object:
        """Run the function on the running replicas, without the TPU's options."""
        mirrored: Any = super()
        self._tpudiag_note_fewer()
        return mirrored.run(fn, args=args, kwargs=kwargs)

    # AutoGraph leaves TensorFlow's code as it is. It would convert this, and each hook on it: for
    # every traced function seconds. What `fn` says is converted by the real `run`.
    run.__module__ = "tensorflow"

    def _tpudiag_note_fewer(self) -> None:
        """Note that a step's or batch's results come from fewer replicas."""
        if self._tpudiag_real() < self._tpudiag_replicas:
            interventions.note(InterventionKind.REPLICAS)

    def _tpudiag_part(self, dataset: Dataset, real_replicas: int, replicas: int) -> Dataset:
        self._tpudiag_note_fewer()
        return _share(dataset, real_replicas, replicas, type(self).tpudiag_sparing)

    def experimental_distribute_dataset(self, dataset: Dataset, options: object = None) -> object:
        """The running replicas' part of each global batch."""
        mirrored: Any = super()
        if not type(self).tpudiag_whole_batches:
            dataset = self._tpudiag_part(dataset, self._tpudiag_real(), self.num_replicas_in_sync)
        return mirrored.experimental_distribute_dataset(dataset, options)

    def distribute_datasets_from_function(
        self, dataset_fn: Callable[[object], Dataset], options: object = None
    ) -> object:
        """The function's dataset for one host of the target."""
        mirrored: Any = super()

        def with_context(_: object) -> object:
            import tensorflow as tf

            dataset = dataset_fn(tf.distribute.InputContext(1, 0, self.num_replicas_in_sync))
            return self._tpudiag_part(dataset, 1, 1)

        return mirrored.distribute_datasets_from_function(with_context, options)

    experimental_distribute_datasets_from_function = distribute_datasets_from_function

    def _tpudiag_whole(self, tensor: Tensor, *_: object, **__: object) -> object:
        """One CPU replica holds what a TPU would place on, split over or copy to its devices."""
        return tensor

    experimental_assign_to_logical_device = _tpudiag_whole
    experimental_split_to_logical_devices = _tpudiag_whole
    experimental_replicate_to_logical_devices = _tpudiag_whole


def strategy_class(mirrored: type, system: TpuSystem, cpus: CpuReplicas) -> type:
    """A MirroredStrategy over the CPU replicas that looks like a TPUStrategy."""
    base: Any = mirrored

    class TPUStrategy(_Strategy, base):  # type: ignore[misc]
        """Replaces TPUStrategy in a rehearsal."""

        tpudiag_system = system
        tpudiag_cpus = cpus

    return TPUStrategy


def _as_tpu(extended: object, strategy: Strategy, system: TpuSystem) -> None:
    """Add to the CPU replicas' extended strategy what a TPU's has in addition."""
    base: Any = extended.__class__

    class TPUExtended(base):  # type: ignore[misc]
        """The attributes that Keras and others use on a TPU's strategy."""

        steps_per_run = 1
        lazy_variable_tracker = None

        @property
        def num_hosts(self) -> int:
            return system.hosts

        @property
        def num_replicas_per_host(self) -> int:
            return max(int(strategy.num_replicas_in_sync) // system.hosts, 1)

        @property
        def tpu_hardware_feature(self) -> object:
            import tensorflow as tf

            return tf.tpu.experimental.HardwareFeature(tpu_system.hardware_feature())

        def call_for_each_replica(
            self, fn: Call, args: Args = (), kwargs: Kwargs | None = None
        ) -> object:
            # On a TPU this code runs once for all replicas; here once each, and its counters would
            # count twice.
            alike = hooks.quietly(started_alike, fn) or fn
            try:
                return base.call_for_each_replica(self, alike, args, kwargs)
            except RuntimeError as error:
                if len(self.worker_devices) > 1 or "merge_call" not in str(error):
                    raise
            return _alone(strategy, alike, args, kwargs or {})

        def _batch_reduce_to(self, reduce_op: object, pairs: list[Pair], options: object) -> object:
            # CPU replicas sum one tensor of all that is to be summed, and it has one type.
            types = [strategy.experimental_local_results(each)[0].dtype for each, _ in pairs]
            reduced: list[Any] = [None] * len(pairs)
            for dtype in dict.fromkeys(types):
                own = [place for place, each in enumerate(types) if each == dtype]
                some = base._batch_reduce_to(self, reduce_op, [pairs[i] for i in own], options)
                for place, value in zip(own, some, strict=True):
                    reduced[place] = value
            return reduced

        def experimental_logical_device(self, logical_device_id: int) -> object:
            return logical_device(self, logical_device_id)

        def tpu_run(self, fn: Call, args: Args, kwargs: Kwargs, options: object = None) -> object:
            return strategy.run(fn, args, kwargs, options)

    # MirroredStrategy's constructor has already made the object and accepts no other class: change
    # its class afterwards.
    extended.__class__ = TPUExtended


def _alone(strategy: Strategy, fn: Call, args: Args, kwargs: Kwargs) -> object:
    """The result of a single replica that runs on no thread of its own.

    Replicas on threads cannot meet in a branch or loop (`merge_call`), unlike a TPU's; a single
    one need not.
    """
    import tensorflow as tf

    def own(value: object) -> object:
        return strategy.experimental_local_results(value)[0]

    given, named = tf.nest.map_structure(own, (args, kwargs))
    with tf.device("CPU:0"), tf.distribute.ReplicaContext(strategy, 0):
        return fn(*given, **named)


def _share(dataset: Dataset, real_replicas: int, replicas: int, sparing: bool) -> Dataset:
    """The real replicas' part of each global batch: one per-replica batch each.

    Only these examples are made where the pipeline allows it, and only some of them where it is
    `sparing`.
    """
    is_whole = real_replicas == replicas
    sparing = sparing and interventions.allowed(InterventionKind.BATCHES)
    if is_whole and not sparing:
        return dataset
    import tensorflow as tf

    def used(size: Any) -> Any:
        # At least one per replica, if there are enough.
        lower, higher = (tf.minimum, tf.maximum) if tf.is_tensor(size) else (min, max)
        return higher(size * real_replicas // replicas, lower(size, real_replicas))

    def part(tensor: Any) -> object:
        if tensor.shape.rank == 0:
            return tensor
        size = tensor.shape[0] if tensor.shape.rank else None
        # The last batch of uneven data is smaller: its share is known only then.
        return tensor[: used(tf.shape(tensor)[0] if size is None else size)]

    made = (thin_batches.few_of,) if sparing else ()
    thin: Dataset | None = hooks.quietly(thin_batches.thinned, tf, dataset, used, *made)
    if thin is not None:
        if sparing:
            interventions.note(InterventionKind.BATCHES)
        return thin
    if is_whole:
        return dataset
    return dataset.map(thin_batches.by_part(tf, part), num_parallel_calls=tf.data.AUTOTUNE)


def logical_device(_: object, logical_device_id: int) -> contextlib.nullcontext[None]:  # noqa: ARG001
    """A CPU replica is one device."""
    return contextlib.nullcontext()


def started_alike(fn: Call) -> Call:
    """A replica function that starts from the same numbers and random state on each replica.

    TPUStrategy runs its Python code once, CPU replicas once each: a counter or random draw would
    differ between them, and with it the branch taken ("Some replicas made a different number of
    replica_context().merge_call() calls"), which happens on no TPU.
    """
    own = hasattr(fn, "get_concrete_function")  # a tf.function keeps traces of its own
    if own or not interventions.allowed(InterventionKind.ALIKE):
        return fn
    restore = hooks.quietly(_restorer, fn)
    if restore is None:
        return fn

    @functools.wraps(fn)
    def replica(*args: object, **kwargs: object) -> object:
        hooks.quietly(restore)
        return fn(*args, **kwargs)

    vars(replica)["autograph_info__"] = {}  # `fn` is converted already: AutoGraph skips it
    return replica


def _restorer(fn: Call) -> Callable[[], None]:
    """Restores the counters and random state that a function changes to their current values."""
    import numpy

    slots = [(slot, slot.get()) for slot in python_slots.written_slots(fn)]
    draws, numpy_draws = random.getstate(), numpy.random.get_state()

    def restore() -> None:
        for slot, value in slots:
            if slot.get() is not value:
                interventions.note(InterventionKind.ALIKE)
            slot.put(value)
        random.setstate(draws)
        numpy.random.set_state(numpy_draws)

    return restore
