# ruff: noqa: E501  (texts of other programs stay as they are)
"""Shapes that do not meet, resources on other devices, and libtpu beside a framework of another release."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E438",
        family="tensor-list-size",
        phase=Phase.COMPILING,
        patterns=(
            r"TensorArray has size zero",
            r"non-resizable TensorArray",
            r"dynamic size of a TensorList",
            r"TensorList.{0,80}?element shape.{0,60}?fully defined",
            r"packing zero-size TensorArrays",
            r"TensorArray .{0,60}?(?:dynamic|unknown) (?:size|shape).{0,60}?(?:not supported|XLA)",
            r"write to index \d{1,9} but array is not resizeable",
            r"array is not resizeable and size is",
            r"twice because it was cleared after a previous read",
            r"access (?:a )?TensorList element using index",
            r"[Tt]ensor ?[Ll]ist.{0,60}?index -?\d{1,9} (?:with|of) (?:size|length) -?\d{1,9}",
            r"without knowing its element (?:type|shape); use set_element_type",
            r"TensorArray requires all elements to have the same (?:dtype|shape)",
        ),
        cause="A list of tensors (TensorArray) in the step has no fixed size or element shape, is written past its end, or is read twice: a compiled loop has a list of one size.",
        fix="""\
rows = tf.TensorArray(tf.float32, size=STEPS, element_shape=[BATCH, WIDTH], clear_after_read=False)      # no dynamic_size=True
for i in tf.range(STEPS):
    rows = rows.write(i, x)                  # keep what write returns
result = rows.stack()
# a Python list and tf.stack, where the number of steps is known when tracing""",
        evidence="recalled",
        example="InvalidArgumentError: TensorArray has size zero, but element shape [?,128] is not fully defined. Currently only static shapes are supported when packing zero-size TensorArrays.",
        yields_to=("E86",),
    ),
    KnownError(
        id="E439",
        family="shape-conflict",
        phase=Phase.TRACING,
        kind=Kind.BROAD,
        patterns=(
            r"Shapes must be equal rank",
            r"Shapes? must be at (?:least|most) rank",
            r"Shape must be rank \d{1,2} but is rank (?P<rank>\d{1,2})",
            r"Dimension \d{1,3} in both shapes must be equal",
            r"Dimensions must be equal, but are (?P<first>\d{1,9}) and (?P<second>\d{1,9})",
            r"must have the same (?:first|batch|leading|static) dimension",
            r"merging shape \d{1,4} with other shapes",
            r"Inconsistent shapes: saw (?P<first>.{1,40}?) but expected (?P<second>.{1,40})",
            r"Shapes .{1,60}? and .{1,60}? are incompatible",
            r"operands could not be broadcast together with shapes (?P<first>\([\d,]{0,40}\)) ?(?P<second>\([\d,]{0,40}\))",
            r"Slice dim size \d{1,9} greater than dynamic slice dimension",
            r"Trying to (?:share|reuse partitioned) variable .{1,120}?, but specified shape",
        ),
        cause="Two shapes that must agree do not: of labels and predictions, of a layer and its input, of the parts that are joined, or a batch that is smaller than the others.",
        details=("They are {first} and {second}.",),
        fix="""\
print(dataset.element_spec); model.summary()                       # what comes in, what is expected
dataset = dataset.batch(global_batch, drop_remainder=True)         # no smaller last batch
labels = tf.one_hot(labels, CLASSES)                               # categorical losses; sparse_* take integers of shape [batch]
x = tf.reshape(x, [-1, WIDTH]); y = tf.squeeze(y, axis=-1)         # a dimension too many or too few""",
        evidence="recalled",
        example="ValueError: Shapes must be equal rank, but are 2 and 1 for '{{node cond/Merge}}'",
        yields_to=("E88", "E89", "E194"),
    ),
    KnownError(
        id="E447",
        family="device-placement",
        phase=Phase.EXECUTING,
        patterns=(
            r"access resource using the wrong type",
            r"mismatched device",
            r"Buffer passed to Execute\(\) as argument .{0,60}?(?:on device|unexpected|which is on)",
            r"Multiple devices in computation",
            r"Cannot place the graph because a reference or resource edge",
            r"resource .{1,80}? is on (?:a )?different device",
            r"Could not colocate node with its resource",
        ),
        cause="A variable, table or tensor lies on one device and is used on another: made on the host (or outside the scope) and used in the TPU's step, a look-up table in the step, or two TPUs in one function.",
        fix="""\
with strategy.scope():
    model, optimizer, counters = build()               # all variables of the step, made in the scope
dataset = dataset.map(lambda x: table.lookup(x))       # tables, tokenizers: in the pipeline, on the host
@tf.function
def step(batch): return strategy.run(replica_step, args=(batch,))      # no tf.device("/TPU:0") by hand
tf.config.set_soft_device_placement(True)              # before anything is built""",
        evidence="recalled",
        example="InvalidArgumentError: Trying to access resource using the wrong type. Expected tensorflow::lookup::LookupInterface got tensorflow::Var",
        yields_to=("E132", "E121", "E69", "E24", "E220"),
    ),
    KnownError(
        id="E448",
        family="libtpu-pair",
        phase=Phase.INITIALISING,
        patterns=(
            r"runtime version .{1,40}? is (?:incompatible|not compatible) with",
            r"Failed to find symbol Tpu\w{3,60}",
            r"undefined symbol:? ?Tpu\w{3,60}",
            r"fingerprint mismatch",
            r"libtpu.{0,60}? incompatible",
            r"libtpu.{0,60}? not compatible",
            r"requires? (?:a )?(?:newer|older|different) (?:version of )?libtpu",
            r"current TPU runtime ABI",
            r"ABI version for TPU version",
            r"PJRT (?:API|plugin|C API).{0,80}? incompatible",
            r"not supported by (?:this )?libtpu",
            r"nable to parse TPUCompileMetadata",
        ),
        cause="libtpu and the framework (or the TPU's machine image) are of releases that do not belong together, or a program that was compiled by one is loaded by another.",
        fix="""\
pip list | grep -iE "tensorflow|libtpu|jax|torch"             # one framework in one environment
<<tpu_install>>; then do not upgrade libtpu alone
pip install -U "jax[tpu]"                                     # JAX: jax, jaxlib and libtpu together
env | grep TPU_LIBRARY_PATH                                   # an older libtpu.so of the image is loaded in its place: unset it
rm -rf ~/.cache/*compilation* /tmp/jax_cache                  # programs of another release""",
        evidence="recalled",
        example="tpu_library_init_fns.inc:95] Failed to find symbol TpuExecutable_Serialize",
        yields_to=("E05", "E70"),
    ),
    KnownError(
        id="E459",
        family="tpu-name",
        phase=Phase.RESOLVING,
        patterns=(
            r"tpu_cluster_resolver.{0,400}?(?:got None|NoneType)",
            r"KeyError: '(?P<name>TPU_NAME|TPU_WORKER_ID|TPU_ACCELERATOR_TYPE|XRT_TPU_CONFIG|KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS)'",
            r"XRT_TPU_CONFIG (?:environment variable )?(?:is )?(?:not set|not defined|missing|must be set)",
            r"""(?<!['"]ERROR: )(?<!['"])Not connected to a TPU runtime""",
        ),
        cause="The program takes the TPU's name or address from the environment or a flag, and there is none: it is made for another place (Colab's old runtime, a TPU Node, Kubernetes).",
        details=("Missing is {name}.",),
        fix="""\
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")      # TPU VM, Colab, Kaggle today
export TPU_NAME=local                                                          # scripts that read it; flags: --tpu=local
export PJRT_DEVICE=TPU; unset XRT_TPU_CONFIG                                   # torch_xla 2.x
# no TPU wanted: --use_tpu=false, and no resolver: strategy = tf.distribute.get_strategy()""",
        citations=("tensorflow/tpu#160",),
        kind=Kind.TELLING,
        rivals=(
            Rival(
                cause="a TPU runtime is there, but the script looks for an older form of it",
                look_for="/dev/accel or /dev/vfio on this machine",
                decide="ls /dev/accel* /dev/vfio/*",
                families=("no-tpu-devices",),
            ),
            Rival(
                cause="this machine or notebook has no TPU",
                look_for="no such devices; the notebook's accelerator is CPU or GPU",
                decide="ls /dev/accel* /dev/vfio/*",
                families=("no-device", "no-tpu-devices"),
            ),
        ),
        example="KeyError: 'TPU_NAME'",
    ),
)
