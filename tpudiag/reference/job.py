"""The reference training job: finds its TPU, trains, saves and resumes as a good job does.

`python -m tpudiag.reference.job --model mlp --loop custom` runs it by itself.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from tpudiag.reference import data, loops, models
from tpudiag.reference.options import JobOptions, parse


def connect(tpu: str) -> Any:
    """The strategy of the TPU with this name; `local` on a TPU VM."""
    # In this order, and before anything else: initialising a TPU drops what lies in its memory.
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu=tpu)
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    return tf.distribute.TPUStrategy(resolver)


def cpu_strategy(replicas: int) -> Any:
    """A MirroredStrategy over logical CPU devices, for the job without a TPU."""
    # Before the first op: a running TensorFlow does not change its logical devices.
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(
        cpu, [tf.config.LogicalDeviceConfiguration()] * replicas
    )
    return tf.distribute.MirroredStrategy([f"CPU:{index}" for index in range(replicas)])


@dataclass(kw_only=True)
class Job:
    """What the loops train, and where its checkpoints go."""

    strategy: Any
    model: Any
    optimizer: Any
    dataset: Any
    global_batch: int
    checkpoints: Any
    step: Any
    first_step: int
    checkpoint_every: int

    def step_done(self, step: int) -> None:
        """Save now and then; `step` counts from 0 over restarts."""
        if (step + 1) % self.checkpoint_every == 0:
            self.step.assign(step + 1)
            self.checkpoints.save(step + 1)


def prepare(options: JobOptions) -> Job:
    """Build everything inside the strategy's scope and resume from the last checkpoint."""
    strategy = cpu_strategy(options.cpu_replicas) if options.cpu_replicas else connect(options.tpu)
    tf.keras.mixed_precision.set_global_policy(options.precision)
    global_batch = options.replica_batch * strategy.num_replicas_in_sync
    with strategy.scope():
        model, spec = models.BUILDERS[options.model](tf.keras, options.full_size)
        optimizer = tf.keras.optimizers.Adam(1e-3)
        # Keras 3 cannot make these variables in a replicated function; and what is restored must
        # exist.
        optimizer.build(model.trainable_variables)
        step = tf.Variable(0, trainable=False, dtype=tf.int64, name="step")
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer, step=step)
    manager = tf.train.CheckpointManager(checkpoint, options.checkpoint_dir, max_to_keep=3)
    if manager.latest_checkpoint:
        checkpoint.restore(manager.latest_checkpoint)
        print(f"resumed from {manager.latest_checkpoint} at step {int(step.numpy())}")
    return Job(
        strategy=strategy,
        model=model,
        optimizer=optimizer,
        dataset=data.pipeline(spec, global_batch),
        global_batch=global_batch,
        checkpoints=manager,
        step=step,
        first_step=int(step.numpy()),
        checkpoint_every=options.checkpoint_every,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the job to its end."""
    options = parse(sys.argv[1:] if arguments is None else arguments)
    loss = (loops.fit if options.loop == "fit" else loops.custom)(prepare(options), options)
    print(f"trained {options.model} to step {options.train_steps}: loss {loss:.4f}")


if __name__ == "__main__":
    main()
