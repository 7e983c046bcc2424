"""What the checks of memory, device, strategy and running must find: TPU3 to TPU6."""

from dataclasses import replace

from tests.checks.rehearsal import *
from tpudiag.hardware import target
from tpudiag.model import Severity
from tpudiag.signals import *
from tpudiag.signals.delivery import DeliveryFall, LossTrouble
from tpudiag.signals.run_state import RunState, StateKind

AGAIN = SentAgain(32 << 20, 20, 22, HERE)
NOT_IN_SCOPE = "ValueError: metric was not created in the strategy's scope"
REFUSED = JobEnd(how="exception", error=NOT_IN_SCOPE)
FALL = DeliveryFall(
    lost=0.6,
    usual=0.02,
    span_s=300.0,
    times=40,
    kinds=(("checkpoint", 170.0), ("evaluation", 10.0)),
    per_s=400.0,
    stepping_per_s=1_000.0,
)
BARE = CheckpointUse("orbax.checkpoint.CheckpointManager", "ckpt", 1, HERE, shapes=(STATE.shape,))
DATED = CheckpointUse("tf.train.CheckpointManager", "/job/20261201-0502", 1, HERE, of_this_run=True)
IDLE = Checkpoints((replace(BARE, saved=0),), (HERE,))
BAD = LossTrouble(what="NaN", step=1_234, last=2.5, first=7.1, said=9)
DOUBLE = TensorSeen("weight", "float64", (128,))
CAST = replace(STATE, name="moments", state=False)
ROWS: tuple[Row, ...] = (
    ("TPU701", of_jax(replace(STATE, donated=False), SHARD)),
    ("TPU701", of_jax(STATE, SHARD, unusable=("params",))),
    ("TPU701", of_jax(replace(STATE, bytes=4 << 20), unusable=("params",)), Severity.INFO),
    ("TPU701", of_jax(STATE, CAST, unusable=("moments",))),
    ("TPU701", of_jax(STATE, SHARD, held=(9, 1 << 30))),
    ("TPU701", of_jax(replace(STATE, donated=False, bytes=4 << 20), SHARD), Severity.INFO),
    ("TPU303", of_work(recomputed_flops=35)),
    ("TPU303", of_work(recomputed_flops=20), Severity.INFO),
    ("TPU602", of_hosts(gathered=(GatheredArrays(1 << 30, HERE),))),
    (
        "TPU602",
        replace(
            of_hosts(gathered=(GatheredArrays(STATE.bytes, HERE, 2, True),)),
            sharding=of_jax(replace(STATE, parts=8), SHARD).sharding,
        ),
    ),
    ("TPU602", of_hosts(uses=(ORBAX,))),
    ("TPU208", of_hosts(uses=(ORBAX,)), Severity.ERROR),
    ("TPU705", of_mesh((4, 4)), Severity.INFO),
    ("TPU705", of_mesh((2, 8), placed_by_jax=False), Severity.INFO),
    ("TPU703", of_jax(STATE, SHARD), Severity.INFO),
    ("TPU703", replace(of_jax(replace(STATE, bytes=6 << 30), SHARD), target=target("v5e-8"))),
    ("TPU704", compiling(90.0, None), Severity.INFO),
    ("TPU210", of_jax(STATE, SHARD, sent_again=(AGAIN,))),
    ("TPU210", of_jax(STATE, replace(SHARD, resent=True, bytes=16 << 20))),
    ("TPU201", jax_waits(90.0, 60.0)),
    ("TPU201", of_work(made_alone_ms=80.0)),
    ("TPU201", of_work(made_alone_ms=40.0), Severity.INFO),
    ("TPU403", h(matrix_ops=(product(784, 128, dtype="float64"),))),
    ("TPU702", of_jax(replace(STATE, devices=4), SHARD, devices=4)),
    ("TPU301", h(variables=(BIG, BIG_SLOT, BIG_SLOT))),
    ("TPU301", h(activations=ActivationEstimate(20 * 2**30)), Severity.INFO),
    ("TPU301", h(activations=None, variables=(BIG, *[BIG_SLOT] * 4)), Severity.ERROR),
    ("TPU401", h(batch=Batch(1000, 125, 8, HERE)), Severity.INFO),
    ("TPU401", h(batch=Batch(64, 8, 8, HERE), matrix_ops=()), Severity.INFO),
    ("TPU401", h(batch=Batch(896, 112, 8, HERE), matrix_ops=rows_of(112, 100)), Severity.INFO),
    ("TPU401", h(batch=Batch(64, 8, 8, HERE), matrix_ops=rows_of(8, 100) * 1000)),
    ("TPU401", h(batch=Batch(200, 25, 8, HERE), matrix_ops=rows_of(25 * 169, 100)), Severity.INFO),
    # The rows are positions: nothing is lost, and the finding says so.
    ("TPU401", h(batch=Batch(64, 8, 8, HERE), matrix_ops=rows_of(8 * 512, 24) * 30), Severity.INFO),
    ("TPU401", h(batch=Batch(200, 25, 8, HERE), matrix_ops=rows_of(25 * 676, 100)), Severity.INFO),
    ("TPU402", h(matrix_ops=(product(784, 130, flops=10**10), product(130, 10)))),
    ("TPU112", h(matrix_ops=(product(784, 128, weight_uses=32),))),
    ("TPU402", h(matrix_ops=(product(130, 10, reads_embedding=True),)), Severity.INFO),
    ("TPU403", h(step_inputs=(DOUBLE,), numerics=None)),
    ("TPU403", h(step_inputs=(DOUBLE,)), Severity.INFO),
    ("TPU403", h(matrix_ops=(product(784, 128, dtype="float32"), product(128, 1))), Severity.INFO),
    ("TPU404", h(precision=MixedPrecision((), "LossScaleOptimizer", HERE))),
    ("TPU404", h(matrix_ops=(product(784, 128, dtype="float16"),))),
    ("TPU404", h(precision=MixedPrecision(("mixed_float16",)))),
    ("TPU501", h(variables=(replace(KERNEL, in_scope=False),)), Severity.ERROR),
    ("TPU501", h(variables=(replace(KERNEL, in_scope=False),), end=REFUSED), Severity.ERROR),
    ("TPU502", h(loss=(LossScale(128.0, 8, False, HERE),))),
    ("TPU502", h(loss=(LossScale(1.0, 8, False, HERE, linear=False),)), Severity.ERROR),
    ("TPU502", h(loss=(LossScale(1 / 8, 8, True, HERE),)), Severity.ERROR),
    ("TPU601", h(checkpoints=Checkpoints(()))),
    ("TPU601", h(checkpoints=IDLE, coverage=Coverage(end="whole"))),
    ("TPU601", replace(of_jax(STATE, STATE, STATE), checkpoints=Checkpoints((BARE,)))),
    (
        "TPU601",
        h(
            variables=(replace(KERNEL, trained=True), replace(KERNEL, optimizer=True)),
            checkpoints=Checkpoints(
                (
                    replace(BARE, shapes=(KERNEL.shape,)),
                    CheckpointUse("Model.save", "model.keras", 1, HERE),
                )
            ),
        ),
    ),
    ("TPU603", watched(drops=(SLOWER,)), Severity.ERROR),
    ("TPU607", watched(drift=DRIFT, watched_h=3.0)),
    ("TPU604", watched(state=RunState(StateKind.STOPPED, "stopped by a signal")), Severity.ERROR),
    ("TPU604", watched(silent_s=121.0), Severity.ERROR),
    ("TPU608", watched(delivery=FALL), Severity.ERROR),
    ("TPU608", watched(delivery=replace(FALL, usual=None, lost=0.4))),
    ("TPU609", watched(state=RunState(StateKind.KILLED, "process 7 is gone")), Severity.ERROR),
    ("TPU609", watched(state=RunState(StateKind.EXITED, "exited with code 3")), Severity.ERROR),
    ("TPU609", watched(state=RunState(StateKind.FAILED, "ended by ValueError")), Severity.ERROR),
    ("TPU610", watched(state=RunState(StateKind.LOST, "gone, or cannot write")), Severity.ERROR),
    ("TPU610", watched(state=RunState(StateKind.LOST, "it lives", lives=True))),
    ("TPU610", watched(lost_steps=7)),
    ("TPU611", watched(loss=BAD, losses_said=9), Severity.ERROR),
    ("TPU611", watched(loss=replace(BAD, what="stands still"), losses_said=9)),
    ("TPU604", watched(steps=0, silent_s=1_201.0), Severity.ERROR),
    ("TPU602", saved("tf.train.CheckpointManager", "ckpt", target=POD)),
    ("TPU602", saved("ModelCheckpoint", "model.h5")),
    ("TPU602", h(checkpoints=Checkpoints((DATED,), looked_for=True))),
    ("TPU602", h(checkpoints=Checkpoints((replace(DATED, kind="BackupAndRestore"),)))),
    (
        "TPU602",
        h(checkpoints=Checkpoints((CheckpointUse("ModelCheckpoint", "m.h5", 1, HERE, True),))),
        Severity.INFO,
    ),
    ("TPU602", saved("ModelCheckpoint", "gs://b/m.h5", buckets=(BucketSeen("b", False),))),
    ("TPU602", h(buckets=(BucketSeen("b", False),)), Severity.INFO),
    ("TPU510", numerics(frozen_norms=(FrozenNorm("batch_normalization", HERE),))),
    ("TPU606", loop(pauses=(replace(EVALUATES, eager=True),))),
    ("TPU407", numerics(low_precision=(LowPrecisionOp("Softmax", "d/Softmax", "bfloat16", HERE),))),
    ("TPU407", numerics(loss_dtype="bfloat16")),
    ("TPU407", numerics(merged=(MergedNumbers("bfloat16", 1024, 512, HERE),))),
    ("TPU505", loop(undistributed=SAME), Severity.ERROR),
    ("TPU505", loop(undistributed=replace(SAME, from_dataset=False))),
    ("TPU501", numerics(outside_metrics=(OutsideVariable("total", HERE),))),
    ("TPU506", numerics(clipped=(ClippedGradients("tf.clip_by_norm", 8, HERE),)), Severity.INFO),
    ("TPU507", read_of_replicas(kind="first", taken=0.3, mean=0.4)),
    ("TPU507", read_of_replicas(kind="mean")),
    ("TPU507", read_of_replicas(kind="sum"), Severity.INFO),
    ("TPU508", numerics(batch_norms=(BatchNorm("bn", 4, HERE),))),
    ("TPU509", numerics(routings=(routing(128),))),
    ("TPU606", loop(pauses=(replace(LOOP.pauses[0], spent_ms=1.2e4),))),
    ("TPU606", loop(pauses=(replace(LOOP.pauses[0], kind="predict", each_batch=True),))),
)
