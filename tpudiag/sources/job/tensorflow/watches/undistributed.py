"""Watches strategy.run for training steps whose replicas all get the same tensors."""

from collections.abc import Iterable

from tpudiag.signals.training_loop import UndistributedInput
from tpudiag.sources.job.points import Call, Library, hooks, table, user_lines
from tpudiag.sources.job.points.library_objects import Dataset, Spec, Strategy, Tensor
from tpudiag.sources.job.tensorflow.watches.function_record import described
from tpudiag.sources.job.tensorflow.watches.training import GradientWatch


class UndistributedWatch:
    """Hooks strategy.run, and reads of plain datasets."""

    def __init__(self, tf: Library, gradients: GradientWatch) -> None:
        self._tf, self._gradients = tf, gradients
        self._specs: list[Spec] = []
        self._inside = False
        self._own_part = False
        self.input: UndistributedInput | None = None
        hooks.before(table.DATASET_READ, self._read)
        hooks.around(table.STRATEGY_RUN, self._run)
        hooks.before(table.REPLICA_NUMBER, self._numbered)

    def _numbered(self, _: object) -> None:
        """A replica reads its index: it may select its own part of a common input."""
        if user_lines.direct_caller() is not None:
            self._own_part = True

    def _read(self, dataset: Dataset) -> None:
        if self._tf.executing_eagerly() and user_lines.direct_caller() is not None:
            self._specs.extend(self._tf.nest.flatten(dataset.element_spec))

    def _run(self, original: Call, strategy: Strategy, *args: object, **kwargs: object) -> object:
        if self._inside or self.input is not None:
            return original(strategy, *args, **kwargs)
        before, self._own_part = self._gradients.taken, False
        with hooks.instead(self, _inside=True):
            result = original(strategy, *args, **kwargs)
        if self._gradients.taken > before and not self._own_part:
            hooks.quietly(self._judge, strategy, (args[1:], kwargs))
        return result

    def _judge(self, strategy: Strategy, given: object) -> None:
        # With one running device a plain tensor is right anyway.
        if strategy.num_replicas_in_sync < 2 or len(strategy.extended.worker_devices) < 2:
            return
        plain: list[Tensor] = []
        for leaf in self._tf.nest.flatten(given):
            # One distributed argument suffices: a step that gets its batch so may take a plain
            # learning rate or mask beside it.
            if self._distributed(leaf):
                return
            if hasattr(leaf, "shape") and hasattr(leaf, "dtype") and _is_batch(leaf.shape):
                plain.append(leaf)
        if plain:
            self.input = UndistributedInput(
                replicas=strategy.num_replicas_in_sync,
                shapes=tuple(described(leaf)[1] for leaf in plain[:4]),
                from_dataset=all(self._of_dataset(leaf) for leaf in plain),
                location=user_lines.caller(),
            )

    def _distributed(self, leaf: object) -> bool:
        """Whether a value differs between replicas, or yields such values."""
        if "Iterator" in type(leaf).__name__ or "DistributedDataset" in type(leaf).__name__:
            return True
        values = self._tf.distribute.DistributedValues
        return isinstance(leaf, values) and not isinstance(leaf, self._tf.Variable)

    def _of_dataset(self, leaf: Tensor) -> bool:
        return any(
            getattr(spec, "dtype", None) == self._tf.as_dtype(leaf.dtype)
            and self._tf.TensorShape(leaf.shape).is_compatible_with(spec.shape)
            for spec in self._specs
        )


def _is_batch(shape: Iterable[int | None]) -> bool:
    sizes = list(shape) if getattr(shape, "rank", 1) is not None else []
    return bool(sizes) and sizes[0] != 1
