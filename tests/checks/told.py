"""What the one finding of a check says, by what was seen of the job."""

from dataclasses import replace
from typing import Any, NamedTuple

from tests.checks.rehearsal import *
from tpudiag.model import Framework, Location, Severity
from tpudiag.signals import *

LINE = Location("train.py", 35)
OWN = Location("train.py", 12)
WIDE = tuple(replace(op, dtype="float32") for op in (product(784, 128), product(128, 10)))
MESH = StepMesh(axes=("model",), sizes=(4,), devices=(0, 1, 2, 3), location=LINE)
TIMES = replace(SHARD, counts_steps=1)
PYTHON = op("FlatMap", python=True, location=HERE)
CACHE = op("Cache", location=HERE)
WEIGHTS = StepOps(9, (), (), (StepConstant("c", 2**25, (2048, 4096), HERE, factor=True),))
OUTSIDE = OutsideVariable("teacher/kernel", HERE)
TRAINED = replace(KERNEL, in_scope=False, trained=True)
BY_CALLBACK = CheckpointUse("ModelCheckpoint", "m.keras", 0, HERE)
SAVED = BY_CALLBACK, CheckpointUse("Model.save", "m.keras", 3, HERE)


EAGER = Dispatch(steps=9, steps_per_dispatch=1, eager_steps=9, not_compiled=("RandomZoom",))
UNKNOWN_HOST = "URLError: <urlopen error [Errno -2] Name or service not known>"
FITTED = KerasUse(package="keras", version="3.15.1", loop="fit", fit_at=LINE)


class Told(NamedTuple):
    """A check, what it judges, and the words of its finding; what is not given is not compared."""

    id_: str
    signals: Signals
    message: str = ""
    fix: str = ""
    location: Location | None = None
    severity: Severity | None = None
    unsaid: str | None = None


def alone(**seen: Any) -> Signals:
    """A step of JAX that runs on one device of eight."""
    return of_jax(replace(STATE, devices=1), SHARD, devices=1, **seen)


def kept(own: Location | None) -> Signals:
    """A step of flax.nnx that does not donate its state."""
    made = traced("train_step", 9, location=own, made_by="flax.nnx.jit")
    step = of_jax(replace(STATE, donated=False), SHARD, location=own)
    return replace(step, functions=(made,))


def wide(precision: MixedPrecision, *switches: PrecisionSwitch) -> Signals:
    """A step in float32."""
    return h(matrix_ops=WIDE, precision=precision, precision_switches=switches)


def under(policy: str, **more: Any) -> MixedPrecision:
    """Layers of a policy that is set for all."""
    return MixedPrecision((policy,), global_policy=policy, **more)


HEAD = (product(784, 10, dtype="float32"),)
LATE = under("mixed_bfloat16", made_before=OWN, set_at=LINE)


def layers(given: str) -> Signals:
    """A library's layer in float32 under another policy."""
    place = Location("site-packages/models/blocks.py", 31)
    layer = WideLayer(name="dense", location=place, dtype_given=given)
    return wide(replace(under("mixed_bfloat16", wide_layers=(layer,)), policies=("float32",)))


def callback(framework: Framework, kind: str) -> Signals:
    """A step that calls back to Python."""
    ops = StepOps(9, (StepOp(kind, "callback", True, HERE),))
    return h(step_ops=ops, framework=framework)


def half(policy: str) -> Signals:
    """A variable in 16 bit, and the policy."""
    variable = replace(KERNEL, dtype="bfloat16", location=HERE)
    return h(variables=(variable,), precision=under(policy, set_at=LINE))


def failed_import(failure: str) -> Signals:
    """An environment whose TensorFlow cannot be imported."""
    tensorflow = TensorFlowImport(succeeded=False, failure=failure)
    return h(environment=installed(tensorflow="2.15.1", numpy="2.4.6"), tensorflow=tensorflow)


TOLD = (
    *(
        Told("TPU001", h(tf1=(Tf1Use(api, None),)), fix=successor)
        for api, successor in (
            ("tf.contrib.cluster_resolver.TPUClusterResolver", "tf.distribute.cluster_resolver"),
            ("tf.contrib.distribute.TPUStrategy", "tf.distribute.TPUStrategy"),
            ("tf.contrib.layers.fully_connected", "tf.contrib is gone"),
            ("tf.logging.set_verbosity", "absl.logging has set_verbosity"),
            ("tf.flags.DEFINE_string", "absl.flags"),
            ("tf.compat.v1.estimator.tpu.TPUConfig", "Estimator is gone"),
            ("tf.Session", "@tf.function"),
        )
    ),
    # The catalogue of errors is asked first.
    Told(
        "TPU002",
        failed_import("ImportError: numpy.core.umath failed to import"),
        fix='pip install "numpy<2"',
    ),
    Told(
        "TPU002",
        failed_import("ImportError: something of its own"),
        fix="pip install --force-reinstall tensorflow-cpu",
    ),
    # No download that failed.
    Told(
        "TPU003",
        h(tpu=TpuAttempt(asked="mine", reached=False, phase="resolver", error=UNKNOWN_HOST)),
        "its name is unknown here",
        unsaid="download",
    ),
    Told("TPU105", callback(Framework.TENSORFLOW, "EagerPyFunc"), "py_function inside", "Flow ops"),
    Told("TPU105", callback(Framework.JAX, "pure_callback"), "pure_callback inside", "jax.numpy"),
    Told("TPU105", callback(Framework.JAX, "debug_callback"), "jax.debug.print", "jax.numpy"),
    # A draw keeps its distribution.
    *(
        Told("TPU107", loop(frozen=(replace(frozen("random", 0), name=name),)), fix=instead)
        for name, instead in (
            ("np.random.normal", "tf.random.normal("),
            ("np.random.randn", "tf.random.normal("),
            ("random.randint", "tf.int32"),
            ("np.random.permutation", "tf.random.shuffle("),
            ("random.uniform", "tf.random.uniform([], low, high)"),
        )
    ),
    Told("TPU110", h(step_ops=WEIGHTS), "never trained", "an attribute of the model"),
    # A cache behind it makes it a note.
    Told("TPU207", fed(PYTHON), severity=Severity.WARNING, unsaid="first epoch"),
    Told("TPU207", fed(PYTHON, CACHE), "first epoch", severity=Severity.INFO),
    Told("TPU207", fed(PYTHON, debugged=HERE), "debug mode", severity=Severity.WARNING),
    Told("TPU207", fed(CACHE, PYTHON), severity=Severity.WARNING, unsaid="first epoch"),
    # Rows are positions where they are more than the batch.
    Told("TPU401", h(batch=Batch(64, 8, 8), matrix_ops=rows_of(8)), "enough, since"),
    Told("TPU401", h(batch=Batch(64, 8, 8), matrix_ops=rows_of(4096)), "4,096 rows (examples x"),
    # What made a step wide says what mends it.
    Told("TPU403", h(matrix_ops=(product(9, 9, dtype="float64"),)), fix="set_floatx('float32')"),
    Told("TPU403", wide(under("float32")), fix="set_global_policy"),
    *(
        Told("TPU403", layers(given), "blocks.py:31", fix, unsaid="set_global_policy")
        for given, fix in (
            ("self.dtype", "dtype=self.dtype_policy"),
            ('"float32"', 'leave out dtype="float32"'),
            ("", "after the policy is set"),
        )
    ),
    Told("TPU403", wide(under("mixed_bfloat16")), fix="tf.cast", unsaid="set_global_policy"),
    Told(
        "TPU404",
        wide(MixedPrecision(("mixed_float16",), "LossScaleOptimizer", HERE)),
        message="is for float16",
    ),
    Told("TPU403", h(matrix_ops=HEAD, precision=LATE), message="made before"),
    Told(
        "TPU403",
        wide(replace(LATE, policies=("float32",))),
        "made before it was set, the first at train.py:12",
        "before building",
        LINE,  # that is to move up
        unsaid="tf.cast",
    ),
    Told(
        "TPU403",
        wide(
            MixedPrecision(("float32",)),
            PrecisionSwitch("mixed_precision_dtype: float32", Location("vit.yaml", 4)),
            PrecisionSwitch("--bf16=false"),
        ),
        "`mixed_precision_dtype: float32` (vit.yaml:4); `--bf16=false`",
    ),
    Told("TPU403", wide(under("float32", unused_at=LINE)), "set nowhere", "global_policy", LINE),
    # The policy is the cause where it is of that type.
    Told("TPU408", half("bfloat16"), location=LINE),
    Told("TPU408", half("mixed_bfloat16"), location=HERE),
    # Metrics of a model that is outside itself are mended with it.
    Told(
        "TPU501",
        replace(numerics(outside_metrics=(OUTSIDE,)), variables=(TRAINED,)),
        "made outside strategy.scope(), the first",
        severity=Severity.ERROR,
    ),
    Told(
        "TPU501",
        numerics(outside_read=(OUTSIDE,)),
        "the step reads variables that were made outside",
        severity=Severity.WARNING,
    ),
    Told(
        "TPU501",
        h(variables=(TRAINED, replace(TRAINED, name="base/kernel", trained=False))),
        "1 of 1 model and optimizer variables",
    ),
    # A loss that Keras makes of a whole batch is mended in the model.
    Told("TPU502", h(keras=FITTED, loss=(LossScale(1.0, 8, False),)), "", "(batch, 1)", LINE),
    Told("TPU502", h(loss=(LossScale(1 / 64, 8, False, LINE),)), "replicas twice", "leave one"),
    Told("TPU502", numerics(summed_twice=LINE), location=LINE),
    Told(
        "TPU601",
        h(framework=Framework.JAX, checkpoints=Checkpoints(()), dispatch=EAGER),
        fix="BackupAndRestore",
    ),
    # What a callback saves is told once.
    Told("TPU602", h(checkpoints=Checkpoints(SAVED)), "ModelCheckpoint writes over one file"),
    Told("TPU602", h(checkpoints=Checkpoints(SAVED[1:])), "Model.save writes"),
    Told("TPU701", kept(LINE), fix="flax.nnx.jit(train_step, donate_argnames=('params',))"),
    Told("TPU701", kept(None), fix="flax.nnx.jit(train_step, donate=...)"),
    Told("TPU702", alone(location=None, called_at=LINE), location=LINE),
    Told("TPU702", alone(location=OWN, called_at=LINE), location=OWN),
    Told("TPU702", of_jax(STATE, SHARD, mesh=MESH, devices=4), "its mesh has 4", location=LINE),
    Told("TPU702", alone(makes_batch=True), fix="with_sharding_constraint"),
    Told("TPU702", alone(makes_batch=False), unsaid="with_sharding_constraint"),
    Told(
        "TPU702", of_jax(STATE, replace(SHARD, parts=1), fed_at=LINE), "", "", LINE, Severity.ERROR
    ),
    Told("TPU702", of_jax(STATE, SHARD, mesh=MESH, idle_axes=(("model", 4),)), location=LINE),
    Told(
        "TPU705",
        of_mesh((4, 4), by_fit=True, location=None),
        fix="DeviceMesh((4, 4,), ['data', 'model'], names)",
        location=HERE,
    ),
    Told("TPU702", of_jax(STATE, TIMES, devices=1), fix="NamedSharding(mesh, P(None, 'data'))"),
    Told("TPU702", of_jax(STATE, TIMES, SHARD, devices=1), fix="P('data')))  # of arrays whose"),
    # A report names one batch: what fills all devices, or what they can share where that is enough.
    *(
        Told(id_, replace(alone(), batch=Batch(n, n, 1), matrix_ops=rows_of(rows)), fix=fix)
        for id_ in ("TPU401", "TPU702")
        for n, rows, fix in (
            (172, 172, "global_batch = 1024  # 128 x 8 replicas"),
            (2, 1024, "global_batch = 8  # not 2"),
        )
    ),
    Told("TPU702", replace(alone(), batch=Batch(16, 16, 1)), unsaid="global_batch"),
)
