"""Reads the training step from its trace: products, inputs, batch, loss."""

from tpudiag.signals import Batch, LossScale, MatrixOp, StepOps, TensorSeen
from tpudiag.sources.job.points import Library, barrier
from tpudiag.sources.job.process.protocol import Recorder
from tpudiag.sources.job.tensorflow.graphs import graphs, loss, matrix_products, penalties
from tpudiag.sources.job.tensorflow.graphs.batches import batch_of
from tpudiag.sources.job.tensorflow.watch_order import Watches
from tpudiag.sources.job.tensorflow.watches.training import GradientCall


class StepReader:
    """Sends the facts of the traced step, once."""

    def __init__(self, tf: Library, watches: Watches, recorder: Recorder) -> None:
        self._tf, self._watches, self._recorder = tf, watches, recorder
        self._read = False
        self._main: GradientCall | None = None
        self._ops: StepOps | None = None
        self.batch: Batch | None = None
        """The read step's batch; None before, and where unknown."""

    def read(self) -> None:
        """Read the traced step, if gradients were traced and it was not read yet."""
        calls = self._watches.gradients.calls
        if not calls or self._read:
            return
        self._read = True
        # A job may take several gradients (a GAN, a gradient penalty): the largest forward pass is
        # the step.
        self._main = main = max(calls, key=lambda call: call.forward_operations)
        same = [call for call in calls if call.graph is main.graph]
        inputs = self._watches.strategies.last_inputs or graphs.step_inputs(main)
        self.batch = batch = self.batch_of(inputs)
        watches, self._ops = self._watches, barrier.attempt("step_ops", graphs.step_ops, main)
        barrier.send_each(
            self._recorder.put,
            matrix_ops=lambda: self._matrix_ops(same, batch),
            activations=lambda: graphs.activations(main),
            step_ops=lambda: self._ops,
            step_inputs=lambda: inputs,
            numerics=lambda: watches.loop.numerics(main, watches.keras.layers.line_of),
        )
        if batch is not None:
            averaged = watches.gradients.reduced_by_mean
            barrier.send_each(
                self._recorder.put,
                batch=lambda: batch,
                loss=lambda: self._loss(same, batch, averaged),
            )

    def _loss(
        self, calls: list[GradientCall], batch: Batch, averaged: bool
    ) -> tuple[LossScale, ...] | None:
        """The scale of each loss; where it is right, of penalties that are not scaled with it."""
        replicas = batch.replicas
        scales = loss.scales(self._tf, calls, batch, averaged)
        if not scales or averaged or any(scale.weight * replicas > 1.001 for scale in scales):
            return scales
        lines = [penalties.undivided(self._tf, call, replicas) for call in calls]
        return *scales, *(
            LossScale(1.0, replicas, False, line, penalty=True) for line in lines if line
        )

    def read_others(self) -> None:
        """Add operations of other steps that no TPU can run, or that call the host.

        Not their products, batches and losses: past the observed steps batches are reduced.
        """
        first, main = self._ops, self._main
        if first is None or main is None:
            return
        # A retraced step has another graph, but nothing new.
        later = {id(call.graph): call for call in self._watches.gradients.calls if call.in_strategy}
        later.pop(id(main.graph), None)
        merged = graphs.merged_ops([first, *map(graphs.step_ops, later.values())])
        if merged != first:
            self._recorder.put(step_ops=merged)

    def batch_of(self, inputs: tuple[TensorSeen, ...]) -> Batch | None:
        """The batch of one replica, and so the global one."""
        watches = self._watches
        return batch_of(
            inputs,
            watches.pipelines.facts(),
            watches.strategies.replicas or 1,
            watches.keras.fit_at,
            watches.keras.fit_batch,
        )

    def batch_per_replica(self) -> int | None:
        """The batch of the step that was read, or is being traced."""
        batch = self.batch or self.batch_of(self.inputs())
        return batch.per_replica_batch if batch is not None else None

    def inputs(self) -> tuple[TensorSeen, ...]:
        """The inputs of the step traced last, read or not."""
        inputs = self._watches.strategies.last_inputs
        if not inputs and self._watches.gradients.calls:
            return graphs.step_inputs(self._watches.gradients.calls[-1])
        return inputs

    def _matrix_ops(self, calls: list[GradientCall], batch: Batch | None) -> tuple[MatrixOp, ...]:
        layer_line = self._watches.keras.layers.line_of
        rows = batch.per_replica_batch if batch is not None else None
        products = {
            op.name: op
            for call in calls
            for op in matrix_products.matrix_ops(self._tf, call, layer_line, rows)
        }
        return tuple(products.values())
