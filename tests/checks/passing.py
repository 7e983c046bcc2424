"""What each check must pass on its evidence, and what it must leave open."""

from dataclasses import replace

from tests.checks.rehearsal import *
from tpudiag.hardware import target
from tpudiag.signals import *
from tpudiag.signals.run_state import RunState, StateKind

WEIGHTS = CheckpointUse("orbax.checkpoint", "ckpt", 9, HERE, shapes=(STATE.shape,))
EACH_EPOCH = (CheckpointUse("Model.save_weights", f"{n}.weights.h5", 4, HERE) for n in (10, 20))
PREFETCHES = pipeline(BATCHED, op("Prefetch", buffer_size=-1))
UNKNOWN = StepOp("X", "x", False, HERE)
SMALLER = product(9, 8)
ALONG_DATA = StepMesh(axes=("data",), sizes=(8,), devices=(0, 1))
PASSES: tuple[tuple[str, Signals], ...] = (
    ("TPU701", of_jax(STATE, SHARD, held=(2, 1 << 30))),
    # The second of a shape may be an average of the weights.
    ("TPU601", replace(of_jax(STATE, STATE), checkpoints=Checkpoints((WEIGHTS,)))),
    # Two of a shape may be the moment, though a buffer of the script's own has the same.
    (
        "TPU601",
        h(
            variables=(
                replace(KERNEL, trained=True),
                replace(KERNEL, trained=False),
                replace(KERNEL, optimizer=True, trained=False),
            ),
            checkpoints=Checkpoints((replace(WEIGHTS, shapes=(KERNEL.shape,) * 2),)),
        ),
    ),
    ("TPU701", of_jax(replace(STATE, donated=False, bytes=1 << 20), SHARD)),
    ("TPU705", of_mesh((4, 4), placed_by_jax=True)),
    ("TPU705", of_mesh((16, 1))),
    ("TPU208", of_hosts(uses=(replace(ORBAX, path="gs://bucket/job"),))),
    ("TPU702", of_jax(STATE, SHARD)),
    ("TPU703", of_jax(replace(STATE, parts=8), SHARD)),
    ("TPU704", compiling(40.0, "gs://b/c")),
    ("TPU702", of_jax(STATE, replace(SHARD, parts=1, placed=False))),
    # A table that the step indexes by numbers which it draws, shared out.
    ("TPU702", of_jax(STATE, replace(SHARD, parts=1), mesh=ALONG_DATA)),
    ("TPU003", h(origin=Origin.TPU, tpu=TpuAttempt(asked="local", reached=True, phase="strategy"))),
    ("TPU101", h(functions=retraced("python value", "bool True", "bool False", 1))),
    ("TPU106", h(dispatch=Dispatch(steps=50, steps_per_dispatch=10))),
    ("TPU204", fed(op("ParallelMap"), ENDLESS, BATCHED)),
    ("TPU204", fed(op("Cache"), op("Shuffle"), BATCHED)),
    ("TPU204", fed(COSTLY, ENDLESS, BATCHED, speeds=(InputSpeed("cache", 9, 9),))),
    ("TPU204", fed(op("Shuffle"), op("Cache"), READER, BATCHED)),
    ("TPU201", h(origin=Origin.TPU)),
    ("TPU203", h(pipelines=(pipeline(op("Map", inside_library=True), BATCHED),))),
    ("TPU203", fed(op("Map"), speeds=(slower("parallel calls"),))),
    ("TPU202", fed(BATCHED, speeds=(slower("prefetch"),))),
    ("TPU202", fed(ops=(*PREFETCHES.ops, op("Map")))),
    ("TPU102", h(pipelines=(*given(BATCHED), replace(given(UNEVEN)[0], trains=False)))),
    ("TPU403", h(matrix_ops=(product(128, 10, dtype="float32"),))),
    ("TPU403", replace(numerics(double=(HERE,)), step_ops=StepOps(9, (UNKNOWN,)))),
    # One small product in many.
    ("TPU403", h(matrix_ops=(product(8, 8, dtype="float32", passes=6), *[product(784, 128)] * 9))),
    # A solver of a library's asks for it.
    ("TPU403", h(matrix_ops=(product(8, 8, dtype="float32", passes=6, location=None), SMALLER))),
    ("TPU301", h(variables=(replace(BIG, bytes=2**30),))),
    ("TPU401", h(target=target("v4-8"), batch=Batch(512, 128, 4))),
    ("TPU402", h(matrix_ops=(product(784, 256), product(256, 10)))),
    ("TPU402", h(matrix_ops=(product(130, 10),))),
    # An autoencoder, whose examples are as wide as its output.
    (
        "TPU402",
        h(
            matrix_ops=(product(130, 256), product(256, 130)),
            step_inputs=(TensorSeen("x", "float32", (64, 130)),),
        ),
    ),
    ("TPU501", h(variables=(KERNEL, replace(KERNEL, name="epoch", shape=(), in_scope=False)))),
    ("TPU501", h(variables=(KERNEL, replace(KERNEL, in_scope=False, trained=False)))),
    ("TPU502", h(loss=(LossScale(1.0, 8, True, HERE),))),
    # Summed once more, and the loss makes up for it.
    ("TPU502", replace(numerics(summed_twice=HERE), loss=(LossScale(1 / 64, 8, False),))),
    ("TPU502", h(loss=(LossScale(1.0, 1, False, HERE, penalty=True),))),
    ("TPU603", watched()),
    ("TPU607", watched(watched_h=3.0)),
    ("TPU607", watched(drift=replace(DRIFT, per_s=0.9), watched_h=3.0)),
    ("TPU603", watched(drops=(replace(SLOWER, ended_ns=SLOWER.since_ns + 300 * 10**9),))),
    ("TPU603", watched(drops=(replace(SLOWER, per_s=0.95),))),
    ("TPU604", watched(silent_s=119.0)),
    ("TPU604", watched(silent_s=None)),
    ("TPU604", watched(state=RunState(StateKind.KILLED, "process 7 is gone"))),
    ("TPU608", watched(delivered_per_s=990.0, watched_s=600.0)),
    ("TPU609", watched()),
    ("TPU609", watched(state=RunState(StateKind.COMPLETED, "the run has ended"))),
    ("TPU610", watched()),
    ("TPU611", watched(losses_said=40)),
    ("TPU205", fed(sized(128, "BATCH", "per_replica"), per_replica=True)),
    ("TPU205", fed(sized(128, "batch_per_core", "global_batch"), replicas=1)),
    ("TPU205", fed(sized(1024, "GLOBAL_BATCH"))),
    ("TPU205", fed(sized(10), sized(4))),
    ("TPU206", on_pod(op("Shard"), BATCHED, per_replica=True)),
    ("TPU206", on_pod(READER, files=FilesRead(4, ("gs://b/1",)))),
    ("TPU206", on_pod(op("TensorSlice"), BATCHED)),
    ("TPU208", on_pod(READER, files=FilesRead(4, ("gs://b/1",)))),
    ("TPU208", h(pipelines=given(READER, BATCHED, files=TWO_FILES), tpu_named="local")),
    ("TPU602", saved("ModelCheckpoint", "m/{epoch}.h5")),
    # Several files, and a folder of checkpoints.
    ("TPU602", h(checkpoints=Checkpoints(tuple(EACH_EPOCH)))),
    ("TPU602", saved("flax.training.checkpoints.save_checkpoint", "run", 4)),
    ("TPU602", saved("BackupAndRestore", "backup", tpu_named="local")),
    ("TPU602", h(checkpoints=Checkpoints((replace(WEIGHTS, saved=1, of_this_run=True),)))),
    ("TPU007", loop(gpu=(GpuUse("tf.distribute.MirroredStrategy", HERE),))),
    ("TPU606", loop(pauses=(EVALUATES,))),
    ("TPU107", loop(frozen=(frozen("written", 2),))),
    (
        "TPU108",
        replace(
            loop(fetches=(ResultFetch("result", 25, 25, HERE),)),
            dispatch=Dispatch(steps=2500, steps_per_dispatch=100),
        ),
    ),
    ("TPU109", set_up(kind="compile", times=2, changed=True, fits=1)),
    ("TPU211", loop(iterators=(replace(REBUILT, cardinality=1),))),
    ("TPU211", loop(iterators=(replace(LOOP.iterators[0], datasets=3, steps_between=0),))),
    ("TPU212", loop(fits=(replace(LOOP.fits[0], batches=20, starts_again=True),))),
    ("TPU212", loop(fits=(replace(LOOP.fits[0], batches=-1),))),
    (
        "TPU507",
        h(
            loss=(LossScale(1.0, 8, True, HERE),),
            loop=replace(
                LOOP, replica_reads=(ReplicaRead(kind="mean", replicas=8, location=HERE),)
            ),
        ),
    ),
    (
        "TPU508",
        h(strategy_replicas=1, numerics=replace(NUMERICS, batch_norms=(BatchNorm("bn", 4, HERE),))),
    ),
    ("TPU508", numerics(batch_norms=(BatchNorm("bn", None, HERE),))),
    ("TPU509", numerics(routings=(routing(320),))),
    (
        "TPU606",
        loop(
            pauses=(
                replace(SAVES, times=9, spent_ms=4e3, training_ms=1e2),
                replace(SAVES, spent_ms=9e2, dispatches_between=500.0, each_batch=True),
            )
        ),
    ),
    ("TPU213", fed(holding("Shuffle", 30_000_000, 60_000), BATCHED)),
    ("TPU213", fed(holding("Shuffle", 5_000_000), BATCHED)),
    ("TPU213", on_pod(holding("Cache", None, 20_000_000), BATCHED)),
    ("TPU213", fed(replace(holding("Cache", None, 40_000_000), in_file=True), BATCHED)),
    ("TPU214", fed(op("Shuffle", buffer_size=64, elements=64), BATCHED)),
    ("TPU214", fed(MIXED, op("Take"), op("Skip"), BATCHED)),
    # One that holds all of them, and batches that are made of few classes.
    ("TPU214", fed(replace(MIXED, elements=9_999), BATCHED, unmixed=SORTED)),
    ("TPU214", fed(MIXED, op("Window"), BATCHED, unmixed=SORTED)),
    *(
        ("TPU216", fed(BATCHED, padded=replace(SHORT, longest=n, width=w)))
        for n, w in ((256, 512), (9, 64))
    ),
    ("TPU112", h(matrix_ops=(product(784, 128, weight_uses=24),))),
    ("TPU214", h(pipelines=given(MIXED, BATCHED, unmixed=SORTED), stood_in=("tfds",))),
    # A constant order separates the validation data from the rest.
    ("TPU214", fed(replace(MIXED, keeps_order=True), op("Skip"), ENDLESS, BATCHED)),
    # Windows of a text, shuffled and then batched.
    ("TPU214", fed(BATCHED, MIXED, BATCHED)),
    ("TPU214", fed(op("Shuffle", buffer_size=8), READER, BATCHED)),
)


SKIPS: tuple[tuple[str, Signals], ...] = (
    ("TPU521", loop(trained_in_evaluation=None)),
    ("TPU216", h(pipelines=given(BATCHED, padded=SHORT), stood_in=("tfds",))),
    ("TPU216", fed(BATCHED, elements=(TensorSeen("ids", "int32", (1024, 512)),))),
    # It solves for a few numbers, and has no examples.
    (
        "TPU702",
        replace(of_jax(STATE, devices=1, makes_batch=True), numerics=replace(NUMERICS, draws=0)),
    ),
    ("TPU515", numerics(similarities=ReplicaSimilarities(0, HERE))),
    ("TPU516", numerics(cross_entropies=0)),
    ("TPU517", loop(schedules=())),
    ("TPU202", of_jax(STATE, SHARD)),
    ("TPU303", of_work(recomputed_flops=30, made_bytes=20 << 30)),
    ("TPU705", of_jax(STATE, SHARD)),
    ("TPU602", of_hosts()),
    ("TPU501", of_jax(STATE, SHARD)),
    ("TPU501", h(dispatch=None, variables=(replace(KERNEL, in_scope=False),))),
    # A model to look at, where no step told what is trained.
    (
        "TPU501",
        h(
            variables=(replace(KERNEL, in_scope=False),),
            end=JobEnd(how="exception", error="TypeError: Cannot iterate over a Tensor with"),
        ),
    ),
    ("TPU701", of_jax(SHARD)),
    ("TPU201", jax_waits(3.0, 2.0)),
    ("TPU502", h(loss=(LossScale(0.5 / 8, 8, False, HERE),))),
    ("TPU001", h(tensorflow=TensorFlowImport(succeeded=False))),
    ("TPU201", h(steps=StepTimes(step_ms=(10.0,), input_wait_ms=None, source="job"))),
    ("TPU201", h(steps=waits(7.0))),
    (
        "TPU502",
        h(
            loss=(LossScale(128.0, 8, False, HERE),),
            precision=MixedPrecision(("float32",), "LossScaleOptimizer", HERE),
        ),
    ),
    ("TPU301", h(activations=ActivationEstimate(11 * 2**30))),
    ("TPU301", h(activations=ActivationEstimate(1, unknown_tensors=3))),
    ("TPU502", h(loss=None)),
    ("TPU502", h(loss=(LossScale(1.0, 8, False, HERE),), loop=replace(LOOP, undistributed=SAME))),
    # One epoch of fit, for which Keras 2 begins two passes.
    (
        "TPU204",
        h(
            pipelines=(replace(pipeline(op("ParallelMap"), BATCHED), passes=2),),
            keras=KerasUse(package="keras", version="2.15.0", loop="fit"),
        ),
    ),
    ("TPU601", h(checkpoints=Checkpoints((), (HERE,)))),
    *((each, fed(op("Map"), BATCHED, debugged=HERE)) for each in ("TPU202", "TPU203")),
    ("TPU603", watched(baseline_per_s=None)),
    ("TPU603", watched(doubt="its minutes differ")),
    ("TPU607", watched(watched_h=0.5)),
    ("TPU607", watched(watched_h=3.0, drops=(SLOWER,))),
    ("TPU604", watched(steps=0, silent_s=60.0)),
    ("TPU604", watched(state=RunState(StateKind.LOST, "gone, or cannot write"))),
    ("TPU608", watched(watched_s=40.0)),
    ("TPU609", watched(state=RunState(StateKind.LOST, "gone, or cannot write"))),
    ("TPU610", watched(state=RunState(StateKind.LOST, "no answer"), unsure="it may have ended")),
    ("TPU611", watched()),
    ("TPU604", watched(silent_s=200_000.0, unsure="event files do not say")),
    ("TPU602", h(checkpoints=Checkpoints(()))),
    ("TPU602", h(buckets=(BucketSeen("b", None, "no credentials"),))),
    ("TPU602", saved("ModelCheckpoint", "m/{epoch}.h5", tpu_named="my-tpu")),
    ("TPU208", h(pipelines=given(READER, files=TWO_FILES), tpu_named="my-tpu")),
    ("TPU107", h(loop=None)),
    ("TPU108", loop(dispatches=3)),
    ("TPU212", loop(fits=(replace(LOOP.fits[0], batches=-2),))),
    ("TPU505", loop(dispatches=0)),
    ("TPU507", h(loop=None)),
    ("TPU508", h(numerics=None)),
    ("TPU509", numerics(routings=(routing(None),))),
    ("TPU606", loop(pauses=())),
    ("TPU606", replace(loop(), stood_in=("gs://bucket/*",))),
    ("TPU213", fed(holding("Cache", None, None), BATCHED)),
    # Of a cache of unknown length a shuffle's small buffer says nothing, nor does a stand-in's.
    ("TPU213", fed(holding("Cache", None), holding("Shuffle", 9), BATCHED)),
    ("TPU213", h(stood_in=("tfds",), pipelines=given(holding("Cache", None, 9), BATCHED))),
    ("TPU213", h(target=None)),
)
