# ruff: noqa: E501  (texts of other programs stay as they are)
"""JAX and PyTorch on a TPU, and TensorFlow 1's graphs and sessions."""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Phase

ERRORS = (
    KnownError(
        id="E260",
        family="tpu-driver",
        phase=Phase.INITIALISING,
        patterns=(
            r"Requested backend '?tpu_driver'?, but it failed to initialize: NOT_FOUND",
            r"jax\.tools\.colab_tpu.{0,120}?(?:no longer|not supported|deprecated|requires)",
            r"colab_tpu\.setup_tpu\(\) was a required initialization step",
            r"No module named 'jax\.tools\.colab_tpu'",
            r"colab_tpu\.setup_tpu\(\) was required",
            r"Requested backend tpu_driver",
        ),
        cause="The script reaches for a TPU over the network (tpu_driver, of Colab's old runtime and TPU Nodes); JAX gave that up in 0.4, and Colab has TPU VMs now.",
        fix="""\
# take out: import jax.tools.colab_tpu; jax.tools.colab_tpu.setup_tpu(); jax.config.FLAGS.jax_xla_backend = "tpu_driver"
pip install -U "jax[tpu]"                          # on a TPU VM, or in a Colab runtime of the kind v2-8 or v5e-1
python -c "import jax; print(jax.devices())"
# without a TPU on this machine it cannot work: choose a runtime that has one""",
        citations=(
            "google-research/vision_transformer#146",
            "googlecolab/colabtools#3405",
        ),
        example="RuntimeError: Requested backend tpu_driver, but it failed to initialize: NOT_FOUND: Unable to find driver in registry given worker:",
    ),
    KnownError(
        id="N10",
        family="no-tpu-noise",
        phase=Phase.ANY,
        level="info",
        patterns=(r"Unable to initialize backend '(?:tpu_driver|rocm|cuda|gpu|metal|plugin)'",),
        cause="No error: JAX tries each kind of device in turn and says which it did not find; harmless where the device that you use is found.",
        fix="""\
python -c "import jax; print(jax.devices())"       # the device that is used
export JAX_PLATFORMS=cpu                            # (or cuda, tpu): asks for one only, without the remarks""",
        citations=("kalininalab/alphafold_non_docker#68",),
        example="I0820 16:10:25.293788 140208504612672 xla_bridge.py:353] Unable to initialize backend 'tpu_driver': NOT_FOUND: Unable to find driver in registry given worker:",
    ),
    KnownError(
        id="E261",
        family="traced-value",
        phase=Phase.TRACING,
        patterns=(
            r"TracerArrayConversionError",
            r"ConcretizationTypeError",
            r"TracerBoolConversionError",
            r"TracerIntegerConversionError",
            r"UnexpectedTracerError",
            r"NonConcreteBooleanIndexError",
            r"Abstract tracer value encountered where concrete value is expected",
            r"Slice entries must be static integers",
            r"used in a context that requires a constant",
        ),
        cause="JAX code asks a traced array for its value (an if, a NumPy function, a shape from data, an array kept from outside), which it does not have while the function is compiled.",
        fix="""\
jnp.where(x > 0, x, 0.0); jax.lax.cond(p, f, g, x)          # in place of if and boolean masks
jax.jit(f, static_argnames=("length",))                      # sizes and flags as static arguments
import jax.numpy as jnp                                       # no np.* on traced arrays""",
        evidence="recalled",
        example="jax.errors.TracerArrayConversionError: The numpy.ndarray conversion method __array__() was called on traced array",
    ),
    KnownError(
        id="E262",
        family="torch-xla-processes",
        phase=Phase.INITIALISING,
        patterns=(
            r"Cannot replicate if number of devices \(\d{1,4}\) is different from \d{1,4}",
            r"Runtime is already initialized\. Do not use the XLA device before",
            r"ComputationClient\(\) can only be called once",
            r"ComputationClient already initialized",
            r"Check failed: !was_initialized",
            r"PJRT_DEVICE.{0,60}?(?:not set|must be set|unknown|Invalid)",
            r"nprocs.{0,80}?(?:Unsupported|must be|is not supported)",
            r"max_workers must be greater than 0",
            r"Unsupported nprocs",
        ),
        cause="PyTorch/XLA's processes and its TPU do not fit: the device was touched before the processes were started, another number of processes than chips was asked for, or torch_xla is not installed.",
        fix="""\
# nothing of torch_xla (no xm.xla_device()) before the start; then
import torch_xla; torch_xla.launch(train_fn, args=())             # one process a chip, by itself; nprocs=1 or none
export PJRT_DEVICE=TPU; unset XRT_TPU_CONFIG TPU_PROCESS_ADDRESSES
# a notebook: restart the kernel first""",
        citations=("Lightning-AI/pytorch-lightning#1538",),
        evidence="recalled",
        example="RuntimeError: Cannot replicate if number of devices (1) is different from 8",
    ),
    KnownError(
        id="E263",
        family="type-not-on-tpu",
        phase=Phase.EXECUTING,
        patterns=(
            r"Transferring data with element type (?P<type>\w{1,6}) has not been implemented on TPUs",
            r"Unsupported XLA type (?P<type>\d{1,3})",
            r"element type (?P<type>\w{1,6}) (?:is not|has not been) (?:supported|implemented) on TPU",
        ),
        cause="A tensor of a type that this TPU runtime cannot take or compute with (uint8, int8, float16, float64) reaches it.",
        details=("The type is {type}.",),
        fix="""\
x = tf.cast(x, tf.float32)                     # before it leaves the host; ids and labels: tf.int32
x = x.to(torch.float32)                        # PyTorch/XLA: no byte masks, no half(); bfloat16 in place of float16
# a newer runtime takes uint8 and int8 too""",
        citations=(
            "huggingface/transformers#7012",
            "pytorch/xla#2897",
        ),
        example="RuntimeError: Transferring data with element type U8 has not been implemented on TPUs",
    ),
    KnownError(
        id="E264",
        family="graph-and-session",
        phase=Phase.BUILDING,
        patterns=(
            r"is not an element of this graph",
            r"must be from the same graph as",
            r"Fetch argument .{0,120}? (?:has invalid type|cannot be interpreted|of .{0,40}?has invalid)",
            r"Cannot interpret feed_dict key as Tensor",
            r"(?<!aborting: Invalid argument: )(?<!message\): INVALID_ARGUMENT: )You must feed a value for placeholder tensor '(?P<name>(?!cond|while)[\w/:.-]{1,80})'",
            r"Graph is finalized and cannot be modified",
            r"Attempted to use a closed Session",
            r"No default session is registered",
            r"already exists, disallowed\. Did you mean to set reuse=True",
            r"is both fed and fetched",
            r"because a different function with the same name already exists",
            r"Tensor .{1,160}? is not an element of this graph",
            r"Variable .{1,80}? already exists, disallowed",
            r"Attempting to use uninitialized value",
            r"does not exist, or was not created with tf\.get_variable",
            r"value of a feed cannot be a tf\.Tensor",
            r"Cannot use the default session",
            r"Unknown input node",
            r"Cannot create (?:a one.?shot|initializable) iterator",
            r"The iterator does not have an initializer",
            r"graph mode without a default session",
            r"the (?:tensor|operation)'s graph is different from the session's graph",
            r"is not from the passed-in graph",
            r"The name .{1,80}? (?:appears to refer to|looks a like) a Tensor",
            r"refers to an Operation not in the graph",
            r"can't convert Operation .{1,80}? to Tensor",
            r"Session is already closed",
            r"Attempt to (?:reuse|have a second) RNNCell",
            r"Session was not created with a graph before Run",
        ),
        cause="TensorFlow 1's graph and session do not match: a tensor of one graph is used in another (another thread, a model loaded in another session), nothing was fed or initialised, or the graph was closed.",
        details=("The tensor is {name}.",),
        fix="""\
# TensorFlow 2: no graphs and sessions of your own; models are called like functions, also from threads
with strategy.scope(): model = build_model()
# a script that must stay with TensorFlow 1: sess.run([tf.compat.v1.global_variables_initializer(), tf.compat.v1.tables_initializer()]);
# graph = tf.compat.v1.get_default_graph(), and `with graph.as_default():` where it is used""",
        evidence="recalled",
        example='ValueError: Tensor Tensor("dense/Softmax:0", shape=(?, 10), dtype=float32) is not an element of this graph.',
    ),
    KnownError(
        id="E265",
        family="object-detection-config",
        phase=Phase.BUILDING,
        patterns=(
            r"load_all_detection_checkpoint_vars unsupported in TF2",
            r"(?P<name>ssd_\w{1,40}|faster_rcnn_\w{1,40}) is not supported.{0,60}?model_builder",
            r"Message type \"object_detection\.protos\.\w{1,40}\" has no field named \"(?P<name>\w{1,60})\"",
            r"'\w{1,60}BoxPredictor' object has no attribute",
            r"Checkpoint version should be V2",
            r"expected to be an object-based checkpoint",
            r"fine_tune_checkpoint_(?:type|version).{0,80}?(?:not supported|unsupported|must|should|invalid)",
        ),
        cause="The pipeline.config of the Object Detection API is of the other TensorFlow: fields or feature extractors of TensorFlow 1 in model_main_tf2.py, or the reverse.",
        details=("It is {name}.",),
        fix="""\
# take a config of the TensorFlow 2 detection zoo (its name ends in the feature extractor with _keras), and in it:
fine_tune_checkpoint_version: V2
fine_tune_checkpoint_type: "detection"          # in place of load_all_detection_checkpoint_vars: true
# for a TPU: use_bfloat16: true, a batch_size that 8 divides, fixed_shape_resizer, label map and records on gs://""",
        citations=("tensorflow/models#9897",),
        example="ValueError: train_pb2.load_all_detection_checkpoint_vars unsupported in TF2",
    ),
    KnownError(
        id="E266",
        family="execute-argument",
        phase=Phase.EXECUTING,
        patterns=(
            r"Run-time shape mismatch for TPUExecute argument\[(?P<argument>\d{1,6})\]",
            r"shape mismatch for TPUExecute",
        ),
        cause="A variable or input has another shape than the compiled TPU program was made for: the checkpoint or the model's variables changed (a vocabulary, another model restored) after it was compiled, or a batch of another size is fed in prediction.",
        fix="""\
# the model that is restored must be the one that was built: same vocabulary, layers, sizes
print([(v.name, v.shape) for v in model.variables])
dataset = dataset.batch(global_batch, drop_remainder=True)       # prediction too: pad the last batch
# a new graph or process after the shapes have changed""",
        citations=("google-research/text-to-text-transfer-transformer#76",),
        example="InvalidArgumentError: Run-time shape mismatch for TPUExecute argument[5] (dense/kernel). Expected element_type: F32",
    ),
    KnownError(
        id="E267",
        family="multiple-tpus",
        phase=Phase.RESOLVING,
        patterns=(
            r"Using multiple TPUs in a single session is not yet implemented",
            r"only one TPU (?:is|can be)",
        ),
        cause="One strategy drives one TPU (or one slice), and a list of TPUs was given.",
        fix="""\
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="NAME")     # one name
# more chips: create a slice (v3-32, v5litepod-16) and use its one name; or one job for each TPU""",
        citations=("tensorflow/tensorflow#31954",),
        example="NotImplementedError: Using multiple TPUs in a single session is not yet implemented",
    ),
    KnownError(
        id="E268",
        family="kernel-refused",
        phase=Phase.COMPILING,
        patterns=(
            r"E2\d{3}: ?Mosaic(?P<code>\w{3,60})",
            r"E1200: ?(?P<code>CompileTime\w{3,60})",
            r"E3\d{3}: ?SparseCore(?P<code>\w{3,60})",
        ),
        cause="The TPU compiler refused a kernel or a transfer and gave a documented code: E2xxx a Pallas (Mosaic) kernel that the chip cannot run as written (types, alignment), E1200 a tensor moved to the host that comes back elsewhere, E3xxx the SparseCore of embeddings.",
        details=("The code is {code}.",),
        fix="""\
# the page of XLA's errors explains each code; the line after it names the operation
# Mosaic: blocks of multiples of (8, 128) for 32 bits, (16, 128) for bfloat16; no 64-bit types
# an updated kernel library and libtpu, or the plain operation instead of the kernel""",
        citations=("openxla/xla E2003", "openxla/xla E1200"),
        evidence="recalled",
        example="E2003: MosaicUnprovenMemoryAccessAlignment: cannot statically prove that index is a multiple of 8",
    ),
    KnownError(
        id="E272",
        family="compile-attribute",
        phase=Phase.ANY,
        level="info",
        patterns=(r"has no attr named '_XlaCompile'",),
        cause="Not the error itself: TensorFlow asks each operation for this mark while it makes gradients, and goes on where there is none. The error is the one after it (`During handling of the above exception`), or the job was interrupted there.",
        fix="# read the last exception of the traceback, not this one",
        citations=(
            "tensorflow/tensorflow#41394",
            "tensorflow/tensorflow#42306",
        ),
        example="InvalidArgumentError: Operation 'TensorListPushBack_489' has no attr named '_XlaCompile'.",
    ),
    KnownError(
        id="E269",
        family="no-xla-compiler",
        phase=Phase.COMPILING,
        patterns=(
            r"[Cc]ould not find (?:registered )?compiler for platform (?P<platform>\w{2,20})",
            r"XLA is not (?:linked|enabled|supported) (?:in|on|for)",
        ),
        cause="The program asks for XLA (jit_compile=True, a saved model that was compiled) on a device whose compiler this binary does not hold (TensorFlow Serving for GPUs, a build without XLA).",
        details=("The platform is {platform}.",),
        fix="""\
model.compile(..., jit_compile=False)               # and @tf.function without jit_compile, before the model is saved
tensorflow_model_server --xla_cpu_compilation_enabled=true ...      # Serving on a CPU""",
        citations=("tensorflow/serving#2217",),
        example="OP_REQUIRES failed at xla_compile_on_demand_op.cc:290 : UNIMPLEMENTED: Could not find compiler for platform CUDA: NOT_FOUND",
    ),
    KnownError(
        id="E273",
        family="device-count",
        phase=Phase.BUILDING,
        patterns=(
            r"requires (?P<wanted>\d{1,6}) (?:logical |XLA )?devices?, but only (?P<there>\d{1,6})",
            r"requires number of (?:local )?devices",
            r"[Mm]esh (?:shape|dimensions?).{0,80}?(?:does not match|must equal|not equal).{0,40}?devices",
            r"[Nn]umber of devices .{0,40}?must (?:equal|be divisible|match)",
            r"cannot reshape array of size (?P<there>\d{1,5}) into shape \(\d{1,4},.{0,400}?(?:mesh|devices)",
            r"(?:mesh|devices).{0,800}?cannot reshape array of size (?P<there>\d{1,5}) into shape \(\d{1,4},",
            r"Multiprocess computations aren't implemented on the CPU",
            r"Requested logical device count .{1,40}? exceeds the number of available",
        ),
        cause="The program is laid out for another number of devices than there are: a mesh, pmap or device assignment written for another slice, or JAX and TensorFlow see the CPU only.",
        details=("{wanted} are wanted, {there} are there.",),
        fix="""\
python -c "import jax; print(jax.device_count(), jax.local_device_count(), jax.devices())"
devices = tf.config.list_logical_devices("TPU"); print(len(devices))
# the product of the mesh's dimensions must be the number of devices; take it from there, not from a constant""",
        evidence="recalled",
        example="ValueError: compiling computation that requires 8 logical devices, but only 1 XLA devices are available (num_replicas=8)",
    ),
)
