"""What the checks of random numbers, of state and of the devices' shares must find, and pass."""

from dataclasses import replace
from typing import Any

from tests.checks.rehearsal import *
from tpudiag.model import Location, Severity
from tpudiag.signals import *

KINDS: tuple[SameDrawsKind, ...] = ("replicas", "twice", "turns", "steps")
DROPPED = tuple(LostMoments(names=("mu",), location=HERE, returned=kept) for kept in (True, False))
SMALL = replace(STATE, bytes=1 << 20)
MOMENT = replace(SMALL, name="moment")
CONSTANT = StepOps(9, (), (), (StepConstant("c", 2**21, (2048, 256), HERE),))
COUNTING = BatchCallback(name="Warmup.on_train_batch_begin", counter="step", calls=9, location=HERE)


def of_state(**seen: Any) -> Signals:
    """A job of JAX of which the state was compared."""
    return replace(of_jax(STATE, SHARD), numerics=StepNumerics(state_compared=True, **seen))


def apart(size: int) -> ReplicasApart:
    """So much of a mebibyte of state differs between replicas."""
    return ReplicasApart(
        names=("state.batch_stats",),
        bytes=size,
        of_bytes=1 << 20,
        axes=("data",),
        replicas=8,
        location=HERE,
    )


def half(unchanged: float) -> HalfState:
    """Trained state of which a step left so much as it was."""
    return HalfState(dtype="bfloat16", bytes=1 << 20, unchanged=unchanged, location=HERE)


def on_devices(**seen: Any) -> Signals:
    """A step of JAX whose devices were looked at."""
    return of_jax(SMALL, SHARD, **seen)


def crossed(**other: Any) -> Signals:
    """An input whose features are shared out, beside labels whose examples are."""
    across = replace(SHARD, example_parts=1, axes=("data",))
    return of_jax(STATE, across, replace(across, **{"name": "y", "example_parts": 8, **other}))


def along_one() -> Signals:
    """Eight devices along `data`, and a batch that is shared out along `model`."""
    mesh = StepMesh(axes=("data", "model"), sizes=(8, 1), devices=tuple(range(8)))
    batch = replace(SHARD, parts=1, axes=("model",))
    return of_jax(STATE, batch, mesh=mesh, idle_axes=(("data", 8),))


def draws(*kinds: SameDrawsKind) -> Signals:
    """A step that draws twice, and so."""
    same = (
        SameDraws(kind=kind, shape=(32, 64), copies=8, location=HERE, first=Location("a.py", 3))
        for kind in kinds
    )
    return numerics(draws=2, same_draws=tuple(same))


def dispatched(at_once: int, *callbacks: BatchCallback) -> Signals:
    """A fit of so many steps in a dispatch."""
    return replace(
        loop(batch_callbacks=callbacks), dispatch=Dispatch(steps=32, steps_per_dispatch=at_once)
    )


def eager(products: int) -> Signals:
    """24 steps, and a model that is called beside them outside jax.jit."""
    forward = EagerForward(products, 10 * products, 24, HERE, programs=0 if products else 20)
    return h(dispatch=Dispatch(steps=24, steps_per_dispatch=1, eager_forward=forward))


def by_keras(**why: Any) -> Signals:
    """A fit of Keras on JAX that is not compiled."""
    dispatch = Dispatch(steps=24, steps_per_dispatch=1, eager_steps=24, eager_location=HERE, **why)
    return replace(on_devices(), dispatch=dispatch)


def shapes(*calls: int, sizes: str = "[32, {}]") -> Signals:
    """A step that was traced again in these of its 30 calls."""
    first, *others = (f"int32{sizes}".format(n) for n in range(8, 9 + len(calls)))
    changes = [ArgumentChange("x", first, other, "shape") for other in others]
    again = [Retrace(n, 300.0, (change,), HERE) for n, change in zip(calls, changes, strict=True)]
    return h(functions=(traced("train_step", 30, *again),))


def scheduled(steps: int, each: int = 100, epochs: int = 5, **others: Any) -> Signals:
    """A fit of 5 epochs, mostly of 100 steps, on 8 replicas, and its schedule; a loop has none."""
    of_fit = FitSchedule(
        name="CosineDecay",
        steps=steps,
        steps_per_epoch=each,
        epochs=epochs,
        location=HERE,
        **others,
    )
    return loop(schedules=(of_fit,))


def monitored(*reported: str) -> Signals:
    """A callback that waits for val_auc, and what an epoch reports."""
    return loop(monitors=(Monitor("ModelCheckpoint", "val_auc", reported, HERE),))


def keeping(size_bytes: int) -> Signals:
    """A loop that holds so much of each of its steps."""
    return loop(kept_results=KeptResults(steps=9, of_steps=9, bytes=size_bytes, location=HERE))


UNUSED = UnusedRegularizer(variables=3, name="w (L2)", location=HERE)
UNREPORTED = (("loss", "roc", "val_loss", "val_roc"), ("loss", "learning_rate"), ())


ROWS: tuple[Row, ...] = (
    *(("TPU511", draws(kind)) for kind in KINDS),
    ("TPU511", fed(op("ParallelMap", same_draws=HERE))),
    ("TPU510", of_state(frozen_norms=(FrozenNorm("[1]", HERE, statistics_lost=True),))),
    ("TPU510", of_state(frozen_norms=(FrozenNorm("[1]", HERE),))),
    ("TPU512", of_state(replicas_apart=apart(1 << 10))),
    *(
        ("TPU512", of_state(replicas_apart=replace(apart(1 << 20), by_program=by)), Severity.ERROR)
        for by in (True, False)
    ),
    ("TPU513", numerics(unused_regularizer=UNUSED)),
    ("TPU514", numerics(paired_loss=PairedLoss(512, HERE))),
    ("TPU514", of_state(loss_followed=True, paired_loss=PairedLoss(0, HERE))),
    *(
        ("TPU515", numerics(similarities=ReplicaSimilarities(rows, HERE)), Severity.WARNING)
        for rows in (128, 256)
    ),
    ("TPU516", numerics(loss_inputs=(LossInput("softmax", "scores", HERE),))),
    ("TPU516", numerics(loss_inputs=(LossInput("none", "probabilities"),))),
    *(("TPU518", of_state(lost_moments=lost), Severity.ERROR) for lost in DROPPED),
    ("TPU518", of_state(lost_moments=replace(DROPPED[0], restarts=2))),
    *(("TPU517", scheduled(steps)) for steps in (6, 5, 3, 4000)),
    ("TPU517", scheduled(4400, warmup=400)),
    ("TPU517", scheduled(4, each=20, epochs=3, warmup=1)),
    ("TPU517", scheduled(6, each=48, epochs=0)),
    ("TPU517", scheduled(48, each=48, epochs=0, calls_each=4)),
    *(("TPU517", scheduled(5, each=steps)) for steps in (4, 8)),
    ("TPU409", numerics(serial_maps=(SerialMap(128, HERE),))),
    ("TPU520", loop(kept_metrics=(KeptMetric("valid_mae", 3, HERE),))),
    *(
        (
            "TPU521",
            loop(trained_in_evaluation=TrainedInEvaluation(norms=n, dropouts=1, location=HERE)),
            severity,
        )
        for n, severity in ((2, Severity.WARNING), (0, Severity.INFO))
    ),
    ("TPU516", loop(metrics_on_scores=(MetricOnScores("auc", HERE),))),
    *(
        ("TPU304", keeping(size), severity)
        for size, severity in ((2**21, Severity.WARNING), (2**19, Severity.INFO))
    ),
    ("TPU519", loop(endless_sum=EndlessSum(4, HERE)), Severity.ERROR),
    *(("TPU612", monitored(*names)) for names in UNREPORTED),
    ("TPU408", of_state(half_state=half(0.6))),
    ("TPU408", of_state(half_state=half(0.01)), Severity.INFO),
    ("TPU403", numerics(double=(HERE,))),
    ("TPU502", h(loss=(LossScale(512.0, 8, False, HERE, values_summed=4096),)), Severity.ERROR),
    ("TPU502", h(loss=(LossScale(1.0, 8, False, HERE, penalty=True),))),
    # Small in itself, and more than half of what is trained.
    ("TPU110", h(step_ops=CONSTANT, variables=(replace(KERNEL, bytes=2**20),))),
    ("TPU111", dispatched(16, COUNTING)),
    # Moments of the shape of parameters that are shared out, however small.
    ("TPU703", of_jax(replace(SMALL, parts=8), MOMENT, SHARD)),
    ("TPU703", of_jax(MOMENT, SHARD, unmatched=(UnmatchedLayout("table/embeddings", 2, HERE),))),
    ("TPU702", on_devices(idle_axes=(("model", 4),)), Severity.ERROR),
    ("TPU702", on_devices(gathered=("x", HERE))),
    ("TPU706", on_devices(reduced_in_loop=ReducedInLoop(1 << 20, 4, HERE))),
    # The batch lies along the axis of one device, and the mesh has another.
    ("TPU702", along_one(), Severity.ERROR),
    ("TPU702", crossed(shape=(1024,))),
    ("TPU403", h(matrix_ops=(product(784, 128, dtype="float32", passes=6), product(784, 128)))),
    (
        "TPU502",
        replace(on_devices(), loss=(LossScale(1.0, 8, False, HERE),), batch=HEALTHY.batch),
        Severity.ERROR,
    ),
    *(("TPU104", eager(products)) for products in (40, 0)),
    ("TPU104", by_keras(not_compiled=("RandomCrop",)), Severity.ERROR),
    ("TPU104", by_keras(run_eagerly=True), Severity.ERROR),
    ("TPU104", eager(18), Severity.INFO),
    ("TPU402", h(matrix_ops=(product(784, 130), product(130, 10))), Severity.INFO),
    # New shapes to the end, and one smaller last batch, that comes in each epoch.
    ("TPU101", shapes(2, 3, 9, 14, 22)),
    ("TPU101", shapes(10, sizes="[{}, 32]")),
)
PASSES: tuple[tuple[str, Signals], ...] = (
    ("TPU409", numerics(serial_maps=(SerialMap(7, HERE),))),
    ("TPU409", replace(numerics(serial_maps=(SerialMap(8, HERE),)), batch=Batch(64, 8, 8))),
    ("TPU511", draws()),
    ("TPU510", of_state()),
    ("TPU512", of_state()),
    ("TPU518", of_state()),
    ("TPU408", of_state()),
    *(("TPU517", scheduled(steps)) for steps in (260, 450, 500, 3500)),
    ("TPU517", scheduled(6, last_rate=1e-5)),
    ("TPU517", scheduled(3, each=8, last_rate=1e-5)),
    *(("TPU517", scheduled(48, each=48 * n, epochs=0, calls_each=n)) for n in (1, 4)),
    ("TPU612", monitored("loss", "val_auc")),
    ("TPU515", numerics(similarities=ReplicaSimilarities(1024, HERE))),
    ("TPU515", numerics(similarities=ReplicaSimilarities(96, HERE))),
    ("TPU110", h(step_ops=CONSTANT, variables=(replace(KERNEL, bytes=2**24),))),
    ("TPU111", dispatched(1, COUNTING)),
    ("TPU111", dispatched(16)),
    ("TPU703", of_jax(replace(SMALL, parts=8), replace(MOMENT, shape=(4096,)), SHARD)),
    ("TPU702", crossed(example_parts=1)),
    ("TPU702", crossed(shape=(512,))),
    ("TPU702", crossed(axes=("model",))),
    ("TPU706", on_devices()),
    ("TPU104", eager(4)),
    ("TPU101", shapes(2, 3, 9)),
)
