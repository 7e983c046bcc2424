# ruff: noqa: E501  (texts of other programs stay as they are)
"""The known errors of TensorFlow training on TPU: how each is recognised, why it happens, what mends it.

To add one: append an entry; tests/test_known_errors.py tries its example and its near miss.

- `id`: E01.. from the collected facts, R01.. where only a rehearsal on CPU replicas says it; never reused.
- `level`: error (the job cannot go on), warning (it goes on, worse), info (worth knowing).
- `patterns`: Python regular expressions, the most telling first; one match is enough. A space stands
  for any white space, or none: texts are searched without theirs. No unbounded repeat (`*`, `+`,
  `{n,}`) and no bare `|` outside a group: that keeps the search linear. Named groups become values.
- `cause`: one sentence. `details`: sentences with {values}, said where the text gave all of theirs.
- `fix`: what to do, copyable. `citations`: repository#number.
- `evidence`: reproduced (by us, without a TPU), reported (in the citations), recalled (unverified).
- `example`: a real text that must match. `near_miss`: a similar one that must not.
- `yields_to`: ids of which this one is a consequence, or "*" for any other error.
- `rehearsal_only`: a TPU does not say this.
"""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Silent

ERRORS = (
    # reaching the TPU, installation
    KnownError(
        id="E01",
        level="error",
        patterns=(r"Please provide a TPU Name to connect to",),
        cause="TPUClusterResolver was not told which TPU to use, and nothing in the environment says it.",
        fix="""\
# on a TPU VM
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
# on a TPU Node
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="NAME_OF_THE_TPU")""",
        citations=(
            "tensorflow/tensorflow#70827",
            "googlecolab/colabtools#4637",
            "googlecolab/colabtools#4699",
            "googlecolab/colabtools#5718",
        ),
        evidence="reproduced",
        example="ValueError: Please provide a TPU Name to connect to.",
        near_miss="ValueError: Please provide a name for the TPU profile.",
    ),
    KnownError(
        id="E02",
        level="error",
        patterns=(
            r"No OpKernel was registered to support Op 'ConfigureDistributedTPU'.{1,500}?Registered devices: \[(?P<devices>[\w, ]{1,80})\]",
            r"No OpKernel was registered to support Op 'ConfigureDistributedTPU'",
            r"TPUs not found in the cluster\. Failed in initialization",
        ),
        cause="The installed TensorFlow is a CPU or GPU build: it cannot drive a TPU.",
        details=("It knows only these devices: {devices}.",),
        fix="""\
pip uninstall -y tensorflow tensorflow-cpu
pip install "tensorflow-tpu==2.20.0" "libtpu>=0.0.14,<=0.0.31"
# for an older tensorflow-tpu take libtpu from the vendor's libtpu release page""",
        citations=(
            "googlecolab/colabtools#5203",
            "googlecolab/colabtools#5228",
            "googlecolab/colabtools#5419",
        ),
        evidence="reproduced",
        example="""\
NotFoundError: TPUs not found in the cluster. Failed in initialization: No OpKernel was registered to support Op 'ConfigureDistributedTPU' used by {{node ConfigureDistributedTPU}} with these attrs: [tpu_cancellation_closes_chips=2, compilation_failure_closes_chips=false, tpu_embedding_config="", is_global_init=false, embedding_config="", enable_whole_mesh_compilations=false]
Registered devices: [CPU]
Registered kernels:
  <no registered kernels>""",
        near_miss="InvalidArgumentError: No OpKernel was registered to support Op 'PyFunc' used by {{node PyFunc}} Registered devices: [CPU]",
    ),
    KnownError(
        id="E03",
        level="error",
        patterns=(r"No TPU platform registered",),
        cause="libtpu offered TensorFlow no TPU: this TensorFlow or TPUEstimator cannot drive the generation (v5 and later), or there is no TPU on the machine.",
        fix="""\
# TensorFlow 2.15 or later with the PJRT runtime, and TPUStrategy instead of TPUEstimator
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)""",
        citations=("tensorflow/tensorflow#90807",),
        evidence="reproduced",
        example="2025-04-02 20:43:38.683: I tensorflow/core/tpu/tpu_api.cc:72] No TPU platform registered. Waiting 1 second and trying again... (1 of 4)",
        near_miss="XLA service initialized for platform TPU (this does not guarantee that XLA will be used).",
    ),
    KnownError(
        id="E04",
        level="error",
        patterns=(
            r"module 'libtpu' has no attribute 'get_library_path'",
            r"TPU-enabled jaxlib or libtpu is not installed",
        ),
        cause="tensorflow-tpu and JAX want different versions of libtpu, and both live in this environment.",
        fix="""\
python -m venv tf-env  && tf-env/bin/pip install "tensorflow-tpu==2.20.0" "libtpu>=0.0.14,<=0.0.31"
python -m venv jax-env && jax-env/bin/pip install "jax[tpu]\"""",
        citations=("jax-ml/jax#29989",),
        evidence="reported",
        example="AttributeError: module 'libtpu' has no attribute 'get_library_path'",
        near_miss="AttributeError: module 'torch' has no attribute 'library'",
        yields_to=("E06",),
    ),
    KnownError(
        id="E05",
        level="error",
        patterns=(
            r"(?P<symbol>(?:Tpu|ConfigureDistributedTpu)\w{1,80}) not available in this library",
        ),
        cause="The installed libtpu is older or newer than this TensorFlow was built for, so the process aborts.",
        details=("libtpu lacks {symbol}.",),
        fix="""\
pip install "tensorflow-tpu==2.20.0" "libtpu>=0.0.14,<=0.0.31"
# where TensorFlow is only there for TensorBoard, keep it from loading libtpu
export TPU_LOAD_LIBRARY=0""",
        citations=(
            "pytorch/xla#3786",
            "huggingface/pytorch-image-models#1318",
        ),
        evidence="reproduced",
        example="""\
2022-06-25 12:32:56.624354: F ./tensorflow/core/tpu/tpu_library_init_fns.inc:98] TpuEmbeddingEngine_ExecutePartitioner not available in this library.
Aborted (core dumped)""",
        near_miss="ImportError: cv2.gapi not available in this library build",
    ),
    KnownError(
        id="E06",
        level="error",
        patterns=(
            r"The TPU is already in use by (?:another )?process with pid (?P<pid>\d{1,10})",
            r"The TPU is already in use by (?:another )?process",
            r"libtpu\.so already in use",
        ),
        cause="Another process holds the TPU, or one that died has left its lock file behind.",
        details=("The process is said to be {pid}.",),
        fix="""\
sudo lsof -w /dev/accel* /dev/vfio/*      # who holds the TPU: stop that process
rm -f /tmp/libtpu_lockfile                # only if nobody holds it""",
        citations=(
            "jax-ml/jax#10192",
            "jax-ml/jax#13260",
            "pytorch/xla#3214",
            "huggingface/diffusers#2745",
        ),
        evidence="reported",
        example="ABORTED: The TPU is already in use by process with pid 2718466. Not attempting to load libtpu.so in this process.",
        near_miss="OSError: [Errno 98] Address already in use by process with pid 2718466",
    ),
    KnownError(
        id="E07",
        level="error",
        patterns=(
            r"(?P<op>\w{1,80})' is neither a type of a primitive operation nor a name of a function registered in binary running on",
            r"Op type not registered '(?P<op>\w{1,80})' in binary running on n-",
        ),
        cause="The TensorFlow of the client and that of the TPU Node are of different versions: the node does not know an operation.",
        details=("The operation is {op}.",),
        fix="""\
pip install "tensorflow==VERSION_OF_THE_TPU_NODE"
# or create the TPU Node with the client's version:
#   gcloud compute tpus create NAME --version="$(python -c 'import tensorflow as tf; print(tf.__version__)')" ...""",
        citations=(
            "tensorflow/tensorflow#34391",
            "tensorflow/tensorflow#48602",
            "tensorflow/tpu#785",
        ),
        evidence="reported",
        example="NotFoundError: '_EagerConst' is neither a type of a primitive operation nor a name of a function registered in binary running on n-d02110c1-w-0. Make sure the operation or function is registered in the binary running in this process.",
        near_miss="NotFoundError: Op type not registered 'SentencepieceOp' in binary running on laptop. Make sure the Op and Kernel are registered.",
    ),
    KnownError(
        id="E08",
        level="error",
        patterns=(
            r"NodeDef expected inputs 'string' do not match 0 inputs specified.{0,60}?_Send",
        ),
        cause="A newer (often nightly) TensorFlow client talks to an older TPU runtime.",
        fix="""\
python -c "import tensorflow as tf; print(tf.__version__)"   # the client
# install the TensorFlow release that the TPU runtime has, not a nightly
pip uninstall -y tf-nightly && pip install "tensorflow==VERSION_OF_THE_TPU_RUNTIME\"""",
        citations=("tensorflow/tensorflow#40196",),
        evidence="reported",
        example="InvalidArgumentError: NodeDef expected inputs 'string' do not match 0 inputs specified; Op<name=_Send; signature=tensor:T -> ; attr=T:type; attr=tensor_name:string>; NodeDef: {{node _Send}}",
        near_miss="InvalidArgumentError: NodeDef expected inputs 'float, float' do not match 1 inputs specified; Op<name=Add; signature=x:T, y:T -> z:T>",
    ),
    KnownError(
        id="E10",
        level="error",
        patterns=(
            r"(?:Core halted unexpectedly|Accelerator device halted prematurely).{0,600}?observed errors are: \[(?P<observed>[\w/, ]{1,60})\]",
            r"Core halted unexpectedly",
            r"Accelerator device halted prematurely",
        ),
        cause="A TPU core stopped: a hardware fault, hosts that run different programs (launch group mismatch), or an access out of bounds.",
        details=("The runtime observed: {observed}.",),
        fix="""\
grep -n "observed errors are\\|unexpected leader shows up\\|BoundsCheck" LOG
# Hardware, Network or Power: run again; if the same host fails, drain it
# unexpected leader: same code, same libtpu and same XLA_FLAGS on every host""",
        citations=(
            "openxla/xla E0200",
            "tensorflow/tpu#785",
        ),
        evidence="reported",
        example="INTERNAL: Core halted unexpectedly: INTERNAL: Accelerator device halted prematurely, perhaps due to an on-device check-failure. Node 0 halted unexpectedly at tag:pc TensorCoreSequencer:887:0x6f1 (from TensorCoreSequencer:887:0x3b91): no debugging message found for this tag:pc. HLO: fusion.1",
        near_miss="The data loader halted unexpectedly; the accelerator device is idle.",
    ),
    # compilation
    KnownError(
        id="E11",
        level="error",
        patterns=(
            r"could not find registered transfer manager for platform Host -- check target linkage",
        ),
        cause="A function was compiled by XLA for the host's CPU on a TensorFlow built for TPU (Keras 3 fit, grouped Conv2D, jit_compile=True).",
        fix="""\
with strategy.scope():                 # build and compile inside the scope
    model = build_model()
    model.compile(optimizer, loss, jit_compile=False)
# or train with Keras 2: pip install tf-keras, and set TF_USE_LEGACY_KERAS=1 before TensorFlow is imported
# (these help users; no maintainer has confirmed them)""",
        citations=(
            "tensorflow/tensorflow#88960",
            "tensorflow/tensorflow#58934",
            "tensorflow/tensorflow#61976",
            "keras-team/tf-keras#655",
            "keras-team/keras#19448",
            "googlecolab/colabtools#5124",
            "Kaggle/docker-python#1370",
        ),
        evidence="reported",
        example="""\
NotFoundError: Graph execution error:
could not find registered transfer manager for platform Host -- check target linkage
      [[{{node StatefulPartitionedCall}}]] [Op:__inference_multi_step_on_iterator_33145]""",
        near_miss="NotFoundError: could not find registered computation placer for platform Host -- check target linkage",
    ),
    KnownError(
        id="E12",
        level="error",
        patterns=(
            r"Reshape's input dynamic dimension is decomposed into multiple output dynamic dimensions",
        ),
        cause="A reshape splits a batch whose size the compiler does not know.",
        fix="""\
dataset = dataset.batch(global_batch, drop_remainder=True)
model.compile(optimizer, loss)          # no jit_compile=True on TPU: XLA compiles there anyway""",
        citations=(
            "keras-team/keras-hub#443",
            "tensorflow/tensorflow#48602",
        ),
        evidence="reported",
        example="""\
InvalidArgumentError: 9 root error(s) found.
  (0) INVALID_ARGUMENT: {{function_node __inference_train_function_16010}} Reshape's input dynamic dimension is decomposed into multiple output dynamic dimensions, but the constraint is ambiguous and XLA can't infer the output dimension %reshape.21 = f32[16,128,512]{2,1,0} reshape(f32[2048,512]{1,0} %transpose.6), metadata={op_type="Reshape"}.""",
        near_miss="InvalidArgumentError: Input to reshape is a tensor with 100 values, but the requested shape has 50",
    ),
    KnownError(
        id="E13",
        level="error",
        patterns=(
            r"with op (?P<op>\w{1,60}?) must be a compile-time constant",
            r"XLA compilation requires that operator arguments that represent shapes",
        ),
        cause="A size or shape inside the compiled step depends on data, and XLA needs it when it compiles.",
        details=("The operation is {op}.",),
        fix="""\
mask = tf.sequence_mask(lengths, maxlen=128)     # a Python number, not a tensor
images = tf.image.resize(images, [224, 224])     # the same for sizes; pad to them in tf.data""",
        citations=(
            "tensorflow/tensorflow#122057",
            "tensorflow/tensorflow#51693",
            "tensorflow/tensorflow#39904",
            "tensorflow/tensorflow#55973",
            "huggingface/transformers#14058",
        ),
        evidence="reproduced",
        example="""\
InvalidArgumentError: Input 1 to node `SequenceMask/Range` with op Range must be a compile-time constant.

XLA compilation requires that operator arguments that represent shapes or dimensions be evaluated to concrete values at compile time. This error means that a shape or dimension argument could not be evaluated at compile time.""",
        near_miss="dimension: The dimension along which to sort. Must be a compile-time constant.",
    ),
    KnownError(
        id="E14",
        level="error",
        patterns=(r"Dynamic Spatial Convolution is not supported",),
        cause="A convolution gets a batch whose size the compiler does not know.",
        fix="dataset = dataset.batch(global_batch, drop_remainder=True)",
        citations=(
            "tensorflow/tensorflow#45175",
            "tensorflow/tensorflow#48602",
        ),
        evidence="reported",
        example="UnimplementedError: {{function_node __inference_train_function_38440}} Compilation failure: Dynamic Spatial Convolution is not supported: %convolution.2081 = f32[7,7,3,64]{3,2,1,0} convolution(f32[<=16,230,230,3]{3,2,1,0} %pad.5)",
        near_miss="Dynamic shape is not supported for now, for input: StatefulPartitionedCall/model/conv2d_3/BiasAdd:0",
    ),
    KnownError(
        id="E15",
        level="error",
        patterns=(r"Dynamic concatenation is not supported yet",),
        cause="A concatenation gets tensors whose size the compiler does not know (TensorFlow 2.1).",
        fix="""\
dataset = dataset.batch(global_batch, drop_remainder=True)
# and a TensorFlow later than 2.1""",
        citations=("tensorflow/tensorflow#36194",),
        evidence="reported",
        example='UnimplementedError: {{function_node __inference_distributed_function_299068}} Compilation failure: Dynamic concatenation is not supported yet: %reshape.3993 = s32[832]{0} reshape(s32[2,416]{1,0} %reshape.621), metadata={op_type="Reshape" op_name="Reshape_1636"}',
        near_miss="Concatenation of dynamic tensors is supported since this version.",
    ),
    KnownError(
        id="E16",
        level="error",
        patterns=(
            r"Invalid shape broadcast from (?P<source>\w{1,8}\[[\d,<=]{0,60}<=\d{1,12}[\d,<=]{0,60}\])(?: to (?P<target>\[[\d,<=]{0,60}\]))?",
        ),
        cause="A dimension of which only the upper bound is known (<=N) meets a fixed one.",
        details=("XLA was asked to make {target} of {source}.",),
        fix="""\
# give the tensor its full, fixed size before it meets the other one
padded = tf.pad(values, [[0, MAX_LENGTH - tf.shape(values)[0]]])
padded = tf.ensure_shape(padded, [MAX_LENGTH])""",
        citations=("tensorflow/tensorflow#122055",),
        evidence="reported",
        example="InvalidArgumentError: Invalid shape broadcast from f64[<=96] to [44]",
        near_miss="ValueError: Invalid shape broadcast from f64[96] to [44]",
    ),
    KnownError(
        id="E17",
        level="error",
        patterns=(
            r"Detected unsupported operations when trying to compile graph .{1,400}? on XLA_(?P<device>TPU|CPU|GPU)_JIT: (?P<op>\w{1,80})",
        ),
        cause="The compiled step holds an operation that the device cannot run (strings, tf.print, Python functions and the like).",
        details=("On {device} it is {op}.",),
        fix="""\
dataset = dataset.map(the_part_with_that_op, num_parallel_calls=tf.data.AUTOTUNE)   # on the host
tf.config.set_soft_device_placement(True)   # or: leave it in the step and run it on the host; costs time""",
        citations=(
            "tensorflow/tensorflow#101181",
            "tensorflow/tensorflow#126007",
            "tensorflow/tensorflow#66074",
            "leondgarse/keras_cv_attention_models#8",
            "tensorflow/tpu#176",
        ),
        evidence="reproduced",
        example="""\
InvalidArgumentError: Detected unsupported operations when trying to compile graph __inference_f_6[_XlaMustCompile=true,config_proto=3047688505363388164,executor_type=11160318154034397263] on XLA_CPU_JIT: PyFunc (No registered 'PyFunc' OpKernel for XLA_CPU_JIT devices compatible with node {{node PyFunc}}){{node PyFunc}}
The op is created at:
File "train.py", line 56, in <module>""",
        near_miss="Detected operations when trying to compile graph main on XLA_CPU_JIT: none unsupported",
    ),
    # memory
    KnownError(
        id="E18",
        level="error",
        patterns=(
            r"Ran out of memory on HBM, the total memory required for HLO temporaries \((?P<needed>[\d.]{1,12}[KMGTB]?)\) exceeds available HBM \((?P<available>[\d.]{1,12}[KMGTB]?)\)",
            r"CompileTimeHbmOom",
        ),
        cause="The compiled step does not fit the TPU's memory (HBM).",
        details=("It needs {needed} for temporaries, and {available} are available.",),
        fix="""\
global_batch = PER_REPLICA_BATCH // 2 * strategy.num_replicas_in_sync   # a smaller batch per replica
keras.mixed_precision.set_global_policy("mixed_bfloat16")               # half the activations
block = tf.recompute_grad(block)                                        # recompute instead of keep
# and feature dimensions that are multiples of 128 (no padding)""",
        citations=("openxla/xla E1000",),
        evidence="reproduced",
        example="RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom: Ran out of memory on HBM, the total memory required for HLO temporaries (36.00G) exceeds available HBM (15.75G).",
        near_miss="Ran out of memory on the host while reading HLO temporaries",
    ),
    KnownError(
        id="E19",
        level="error",
        patterns=(
            r"Ran out of memory in memory space hbm\. Used (?P<used>[\d.]{1,12}[KMGTB]?) of (?P<limit>[\d.]{1,12}[KMGTB]?) hbm\. Exceeded hbm capacity by (?P<over>[\d.]{1,12}[KMGTB])(?:.{0,1500}?Extra memory due to padding: (?P<padding>[\d.]{1,12}[KMGTB]?) \((?P<expansion>[\d.]{1,8})x expansion\))?",
            r"Ran out of memory in memory space hbm",
        ),
        cause="The compiled step does not fit the TPU's memory (HBM).",
        details=(
            "It needs {used} of {limit}: {over} too much.",
            "The first allocation listed with padding loses {padding} to it ({expansion}x expansion).",
        ),
        fix="""\
global_batch = PER_REPLICA_BATCH // 2 * strategy.num_replicas_in_sync   # a smaller batch per replica
keras.mixed_precision.set_global_policy("mixed_bfloat16")
# "Extra memory due to padding" above 2x: reshape that tensor so that its last two
# dimensions are large (multiples of 8 and 128), instead of shrinking the batch""",
        citations=(
            "tensorflow/tpu#385",
            "DifferentiableUniverseInitiative/flowpm#27",
            "sokrypton/ColabFold#62",
            "google-research/albert#168",
            "pytorch/xla#1966",
        ),
        evidence="reported",
        example="""\
Compilation failure: Ran out of memory in memory space hbm. Used 41.74G of 16.00G hbm. Exceeded hbm capacity by 25.74G.

Total hbm usage >= 41.74G:
    reserved        528.00M
    program          41.22G
    arguments       unknown size

  Largest program allocations in hbm:

  1. Size: 32.00G
     Operator: op_type="FloorMod" op_name="slicewise_79/cic_update/FloorMod"
     Shape: s32[8388608,8,4]{2,1,0:T(8,128)}
     Unpadded size: 1.00G
     Extra memory due to padding: 31.00G (32.0x expansion)""",
        near_miss="RuntimeError: Ran out of memory in memory space smem. Used 1.00M of 1.00M smem. Exceeded smem capacity by 1.7K.",
    ),
    KnownError(
        id="E20",
        level="error",
        patterns=(
            r"Ran out of memory in memory space vmem\. Used (?P<used>[\d.]{1,12}[KMGTB]?) of (?P<limit>[\d.]{1,12}[KMGTB]?) vmem",
            r"Ran out of memory in memory space vmem",
            r"would exceed memory.{0,200}?space=vmem",
        ),
        cause="A kernel needs more of the TPU's on-chip scratch memory (vmem) than there is.",
        details=("It needs {used} of {limit}.",),
        fix="""\
# change the shapes that meet in the operation which the message names (smaller tiles, fewer fused inputs),
# or give the kernel more scratch memory, in KiB, before TensorFlow is imported:
export LIBTPU_INIT_ARGS="--xla_tpu_scoped_vmem_limit_kib=65536\"""",
        citations=(
            "openxla/xla E1001",
            "pytorch/xla#9524",
            "tensorflow/tensorflow#26893",
        ),
        evidence="reported",
        example="RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space vmem. Used 32.42M of 16.00M vmem. Exceeded vmem capacity by 16.42M",
        near_miss="Allocation (size=134217728) would exceed memory (size=67108864) :: #allocation25 [shape = 'u8[134217728]{0}', space=smem]",
    ),
    KnownError(
        id="E21",
        level="error",
        patterns=(
            r"Attempting to allocate (?P<asked>[\d.]{1,12}[KMGTB]?)\. That was not possible\. There are (?P<free>[\d.]{1,12}[KMGTB]?) free",
            r"Error allocating device buffer: Attempting to allocate",
        ),
        cause="The TPU's memory is full, or so fragmented that no free piece is large enough, while the job runs.",
        details=("{asked} were asked for and {free} are free.",),
        fix="""\
del old_outputs                       # drop references to tensors of earlier steps (lists of losses, caches)
global_batch = PER_REPLICA_BATCH // 2 * strategy.num_replicas_in_sync
# to see what fills the memory, set the libtpu flag tpu_log_allocations_on_oom""",
        citations=("openxla/xla E0100",),
        evidence="reported",
        example="ValueError: RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate 8.00M. That was not possible. There are 6.43M free.; (0x0x1_HBM0)",
        near_miss="Attempting to allocate a TPU in zone us-central1-b. That was not possible. There are no resources free.",
    ),
    KnownError(
        id="E22",
        level="error",
        patterns=(
            r"Attempting to reserve (?P<asked>[\d.]{1,12}[KMGTB]?) at the bottom of memory\. That was not possible\. There are (?P<free>[\d.]{1,12}[KMGTB]?) free",
            r"Attempting to reserve (?P<asked>[\d.]{1,12}[KMGTB]?) at the bottom of memory",
        ),
        cause="A compiled program does not fit beside the data that the TPU's memory already holds.",
        details=("{asked} were asked for and {free} are free.",),
        fix="""\
global_batch = PER_REPLICA_BATCH // 2 * strategy.num_replicas_in_sync
# fewer programs on the device: one train step and one eval step, each traced once""",
        citations=(
            "openxla/xla E0101",
            "pytorch/xla#1735",
        ),
        evidence="reported",
        example="RESOURCE_EXHAUSTED: Attempting to reserve 6.48G at the bottom of memory. That was not possible. There are 6.78G free, 0B reserved, and 3.33G reservable.",
        near_miss="kernel: failed to reserve 6.48G at the bottom of memory for crash dumps",
    ),
    KnownError(
        id="E23",
        level="error",
        patterns=(
            r"expected parameter (?P<parameter>\d{1,9}) of size (?P<expected>\d{1,15}).{0,200}?but got buffer with incompatible size (?P<got>\d{1,15})",
        ),
        cause="A program was loaded whose memory layout differs from that of its inputs: it was saved with other XLA flags, versions or another topology.",
        details=("Parameter {parameter} has {got} bytes where {expected} are expected.",),
        fix="""\
# save and load with the same XLA_FLAGS, libtpu, TensorFlow and TPU topology; else export the model again
env | grep -E "XLA_FLAGS|LIBTPU_INIT_ARGS"; pip list | grep -iE "libtpu|tensorflow\"""",
        citations=("openxla/xla E0102",),
        evidence="reported",
        example="XlaRuntimeError: INVALID_ARGUMENT: Executable(jit_embedding_pipeline_step_fn) expected parameter 2482 of size 5242880 (bf16[16,1280,40]{2,1,0:T(8,128)(2,1)}) but got buffer with incompatible size 1638400 (bf16[16,1280,40]{1,2,0:T(8,128)(2,1)}): while running replica 0",
        near_miss="TypeError: expected parameter 3 of size int but got buffer of type str",
    ),
    # data, files, workers
    KnownError(
        id="E24",
        level="error",
        patterns=(
            r"in order to run (?P<op>\w{1,60}?): (?:Unable to parse tensor proto|Failed to serialize message)",
            r"Unable to parse tensor proto",
            r"InternalError: Failed to serialize message",
        ),
        cause="Arrays of more than 2 GB in the client's memory are sent to the TPU Node in one message, which cannot be that large.",
        details=("It happened while {op} was to run.",),
        fix="""\
# write the arrays to TFRecord files in a bucket once, and read them there
files = tf.io.gfile.glob("gs://BUCKET/train-*.tfrecord")
dataset = tf.data.TFRecordDataset(files, num_parallel_reads=tf.data.AUTOTUNE)
# and initialise the TPU before any array is loaded""",
        citations=(
            "tensorflow/tensorflow#34041",
            "tensorflow/tensorflow#33747",
            "tensorflow/tensorflow#34321",
            "tensorflow/tensorflow#47026",
            "tensorflow/tensorflow#33103",
        ),
        evidence="reported",
        example="InternalError: Failed copying input tensor from /job:localhost/replica:0/task:0/device:CPU:0 to /job:worker/replica:0/task:0/device:CPU:0 in order to run DatasetCardinality: Unable to parse tensor proto",
        near_miss="Unable to parse tensor from stored proto in file: /data/part-00001",
    ),
    KnownError(
        id="E25",
        level="error",
        patterns=(
            r"File system scheme '\[local\]' not implemented \(file: '(?P<file>[^']{1,300})'\)",
            r"File system scheme '\[local\]' not implemented",
        ),
        cause="The TPU Node's worker was given a path on the client's disk, which it cannot see (data, checkpoint or model.save).",
        details=("The path is {file}.",),
        fix="""\
data_path, checkpoint_path = "gs://BUCKET/data", "gs://BUCKET/checkpoints"
# saving or loading through the client (recalled, unverified):
options = tf.saved_model.SaveOptions(experimental_io_device="/job:localhost")
model.save("local/model", options=options)
# a TPU VM reads its own disk""",
        citations=(
            "tensorflow/tensorflow#36447",
            "tensorflow/tensorflow#49177",
            "tensorflow/tensorflow#23406",
            "tensorflow/models#8265",
            "tensorflow/models#9059",
            "keras-team/keras-tuner#921",
            "google-research/language#54",
        ),
        evidence="reported",
        example="UnimplementedError: File system scheme '[local]' not implemented (file: '/tmp/model/model.ckpt-0_temp_3546763fe0ab4b32a5353eb8f190192c')",
        near_miss="UnimplementedError: File system scheme 'gs' not implemented (file: 'gs://bucket/model')",
    ),
    KnownError(
        id="E26",
        level="error",
        patterns=(
            r"(?P<account>service-\d{1,20}@cloud-tpu\.iam\.gserviceaccount\.com).{0,200}? does not have storage\.objects\.(?P<right>get|list|create|delete) access",
        ),
        cause="The TPU's service account lacks a role on the bucket.",
        details=("{account} needs storage.objects.{right}.",),
        fix="""\
gcloud storage buckets add-iam-policy-binding gs://BUCKET \\
    --member="serviceAccount:ADDRESS_IN_THE_MESSAGE" --role=roles/storage.objectAdmin
# roles/storage.objectViewer is enough where it only reads""",
        citations=(
            "googlecolab/colabtools#1177",
            "googlecolab/colabtools#1056",
            "google-research/text-to-text-transfer-transformer#1003",
            "tensorflow/models#10828",
        ),
        evidence="reported",
        example="""\
PermissionDeniedError: Error executing an HTTP request: HTTP response code 403 with body '{
  "error": {
    "code": 403,
    "message": "service-123456789012@cloud-tpu.iam.gserviceaccount.com does not have storage.objects.create access to bucketname/train/events.out.tfevents.",""",
        near_miss="AccessDeniedException: 403 user@example.com does not have storage.objects.list access to the Google Cloud Storage bucket.",
    ),
    KnownError(
        id="E27",
        level="error",
        patterns=(
            r"No registered '(?P<op>PyFunc|EagerPyFunc)' OpKernel for '?CPU'? devices compatible with node",
        ),
        cause="The input pipeline calls Python (py_function, numpy_function or from_generator), and the TPU Node's worker has no Python.",
        details=("The operation is {op}.",),
        fix="""\
dataset = tf.data.TFRecordDataset(files).map(parse_with_tf_ops, num_parallel_calls=tf.data.AUTOTUNE)
# or train on a TPU VM, where the script runs beside the TPU""",
        citations=(
            "tensorflow/tensorflow#39030",
            "tensorflow/tensorflow#24099",
            "tensorflow/tensorflow#30818",
            "tensorflow/tensorflow#34346",
            "tensorflow/tensorflow#32712",
            "tensorflow/tensorflow#38762",
        ),
        evidence="reported",
        example="""\
NotFoundError: {{function_node __inference_train_function_128421}} No registered 'PyFunc' OpKernel for 'CPU' devices compatible with node {{node PyFunc}}
     .  Registered:  <no registered kernels>""",
        near_miss="PyFunc (No registered 'PyFunc' OpKernel for XLA_CPU_JIT devices compatible with node {{node PyFunc}})",
    ),
    KnownError(
        id="E28",
        level="error",
        patterns=(
            r"(?:UnavailableError|Unavailable|UNAVAILABLE).{0,80}?Socket closed",
            r"failed to connect to all addresses",
        ),
        cause="The TPU worker went away: it died (the host's memory full, an operation it cannot stand) or was restarted.",
        fix="""\
# a smaller batch and smaller shuffle buffers (host memory), then connect again and go on from the last checkpoint
dataset = dataset.shuffle(1_000).batch(SMALLER_GLOBAL_BATCH, drop_remainder=True)
checkpoint.restore(manager.latest_checkpoint)""",
        citations=(
            "tensorflow/tensorflow#42228",
            "tensorflow/tensorflow#43362",
            "tensorflow/tensorflow#50583",
            "tensorflow/tpu#821",
            "yingkaisha/keras-unet-collection#57",
        ),
        evidence="reported",
        example='RPC failed with status = "Unavailable: Socket closed" and grpc_error_string = "{"description":"Error received from peer ipv4:10.0.0.2:8470"}", maybe retrying the RPC',
        near_miss="ConnectionError: Socket closed while the notebook was reconnecting",
        yields_to=("*",),
    ),
    KnownError(
        id="E29",
        level="error",
        patterns=(r"Unable to find a context_id matching the specified one",),
        cause="The TPU worker was restarted or pre-empted, and what the client had set up on it is gone.",
        fix="""\
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)        # then build again inside its scope
checkpoint.restore(manager.latest_checkpoint)""",
        citations=("tensorflow/tensorflow#47460",),
        evidence="reported",
        example="UnavailableError: Unable to find a context_id matching the specified one (12465293436922014039). Perhaps the worker was restarted, or the context was GC'd?",
        near_miss="Unable to find a run_id matching the specified one in the experiment tracker",
    ),
    KnownError(
        id="E30",
        level="warning",
        patterns=(
            r"The TPU worker may not be ready \(still scheduling\)",
            r"Waiting to connect to client mesh master",
        ),
        cause="The TPU worker is not up yet, or not healthy.",
        fix="gcloud compute tpus list --zone=ZONE        # wait for READY and HEALTHY; else delete it and create it again",
        citations=(
            "google-research/text-to-text-transfer-transformer#38",
            "mgrankin/ru_transformers#21",
        ),
        evidence="reported",
        example="WARNING:tensorflow:Retrying to connect. The TPU worker may not be ready (still scheduling) or the Tensorflow master address is incorrect",
        near_miss="The TPU worker is ready (scheduling took 12 s)",
    ),
    KnownError(
        id="E31",
        level="warning",
        patterns=(
            r"TPU backend initialization is taking more than (?P<seconds>[\d.]{1,8}) seconds\. Did you run your code on all TPU hosts",
        ),
        cause="The program was started on some hosts of the TPU slice only, and waits for the others.",
        details=("It has waited {seconds} s.",),
        fix='gcloud compute tpus tpu-vm ssh NAME --zone=ZONE --worker=all --command="python3 train.py"',
        citations=(
            "google-research/t5x#997",
            "jax-ml/jax#19971",
        ),
        evidence="reported",
        example="UserWarning: TPU backend initialization is taking more than 60.0 seconds. Did you run your code on all TPU hosts?",
        near_miss="TPU backend initialization is taking 12.0 seconds.",
    ),
    # training loop
    KnownError(
        id="E32",
        level="error",
        patterns=(r"TPUStrategy\.run\(fn, \.\.\.\) does not support pure eager execution",),
        cause="The training step runs outside tf.function, or run_eagerly=True.",
        fix="""\
@tf.function
def train_step(iterator):
    return strategy.run(step_fn, args=(next(iterator),))

model.compile(optimizer, loss, run_eagerly=False)     # where Keras trains""",
        citations=(
            "tensorflow/tensorflow#41074",
            "tensorflow/tensorflow#42603",
        ),
        evidence="reported",
        example="NotImplementedError: TPUStrategy.run(fn, ...) does not support pure eager execution. please make sure the function passed into `strategy.run` is a `tf.function` or `strategy.run` is called inside a `tf.function` if eager behavior is enabled.",
        near_miss="NotImplementedError: Trainer.run(fn, ...) does not support eager execution",
    ),
    KnownError(
        id="E33",
        level="error",
        patterns=(
            r"Please use .{0,40}?Reduction\.SUM.{1,60}?Reduction\.NONE.{0,3}? for loss reduction when losses are used with .{0,3}?tf\.distribute\.Strategy",
        ),
        cause="A Keras loss in a custom training loop does not say how it is reduced over the replicas.",
        fix="""\
with strategy.scope():
    loss_object = tf.keras.losses.SparseCategoricalCrossentropy(
        from_logits=True, reduction=tf.keras.losses.Reduction.NONE)   # Keras 3: reduction="none"

def compute_loss(labels, predictions):
    return tf.nn.compute_average_loss(loss_object(labels, predictions), global_batch_size=global_batch)""",
        citations=(
            "deepfakes/faceswap#1224",
            "Riccorl/Super-SloMo-tf2#17",
            "tensorflow/tensorflow#28956",
        ),
        evidence="reported",
        example="ValueError: Please use `tf.keras.losses.Reduction.SUM` or `tf.keras.losses.Reduction.NONE` for loss reduction when losses are used with `tf.distribute.Strategy` outside of the built-in training loops.",
        near_miss="ValueError: Please use `Reduction.SUM` for loss reduction in this layer.",
    ),
    KnownError(
        id="E35",
        level="warning",
        patterns=(
            r"(?P<traces>\d{1,6}) out of the last (?P<calls>\d{1,6}) calls to (?:<function )?(?P<function>[\w.<>]{1,200}?)(?: at 0x[0-9a-f]{1,16}>)? triggered tf\.function retracing",
            r"out of the last \d{1,6} calls to .{1,300}? triggered tf\.function retracing",
        ),
        cause="A tf.function is traced again and again: tensors of changing shape, Python values as arguments, or a new tf.function in every turn of a loop.",
        details=("{traces} of the last {calls} calls of {function} were traced.",),
        fix="""\
@tf.function(reduce_retracing=True)          # define it once, outside the loop
def train_step(images, step):                # step: a tensor, not a Python int
    ...
dataset = dataset.batch(global_batch, drop_remainder=True)
train_step(images, tf.constant(step))""",
        citations=(
            "tensorflow/tensorflow#34025",
            "tensorflow/tensorflow#67033",
            "tensorflow/tensorflow#46012",
        ),
        evidence="reproduced",
        example="WARNING:tensorflow:5 out of the last 5 calls to <function run.<locals>.step at 0x7f45dabb77e0> triggered tf.function retracing. Tracing is expensive and the excessive number of tracings could be due to (1) creating @tf.function repeatedly in a loop, (2) passing tensors with different shapes, (3) passing Python objects instead of tensors.",
        near_miss="INFO: 5 out of the last 5 calls to the service succeeded",
    ),
    KnownError(
        id="E36",
        level="info",
        patterns=(
            r"AUTO sharding policy will apply DATA sharding policy as it failed to apply FILE sharding policy",
        ),
        cause="The dataset does not read files, so it is sharded by elements: every host reads all the data (harmless on one host).",
        fix="""\
options = tf.data.Options()
options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
dataset = dataset.with_options(options)""",
        citations=(
            "tensorflow/tensorflow#66851",
            "tensorflow/tensorflow#55474",
            "tensorflow/tensorflow#42146",
            "keras-team/keras#16604",
        ),
        evidence="reported",
        example="W tensorflow/core/grappler/optimizers/data/auto_shard.cc:776] AUTO sharding policy will apply DATA sharding policy as it failed to apply FILE sharding policy because of the following reason: Found an unshardable source dataset",
        near_miss="AUTO sharding policy will apply FILE sharding policy",
    ),
    KnownError(
        id="E37",
        level="info",
        patterns=(
            r"In AUTO-mode, and switching to DATA-based sharding, instead of FILE-based sharding",
        ),
        cause="The dataset does not read files, so it is sharded by elements: every host reads all the data (harmless on one host; the wording of older versions).",
        fix="""\
options = tf.data.Options()
options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
dataset = dataset.with_options(options)""",
        citations=("fastestimator/fastestimator#987",),
        evidence="reported",
        example="W tensorflow/core/grappler/optimizers/data/auto_shard.cc:656] In AUTO-mode, and switching to DATA-based sharding, instead of FILE-based sharding as we cannot find appropriate reader dataset op(s) to shard.",
        near_miss="The auto_shard_policy is DATA; consider FILE-based sharding",
    ),
    KnownError(
        id="E38",
        level="error",
        patterns=(
            r"There aren't enough elements in this dataset for each shard to have at least one element \(# elems = (?P<elements>\d{1,9}), # shards = (?P<shards>\d{1,9})",
            r"There aren't enough elements in this dataset for each shard to have at least one element",
        ),
        cause="The dataset reads fewer files than there are hosts, so some host would get none.",
        details=("There are {elements} for {shards} shards.",),
        fix="""\
options = tf.data.Options()
options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
dataset = dataset.with_options(options)      # or write at least one file for each host""",
        citations=("tensorflow/tensorflow#36846",),
        evidence="reported",
        example="InvalidArgumentError: There aren't enough elements in this dataset for each shard to have at least one element (# elems = 1, # shards = 2)",
        near_miss="There aren't enough elements in this list for each worker",
    ),
    KnownError(
        id="E39",
        level="error",
        patterns=(
            r"fit_generator.{0,3}? is not supported for models compiled with .{0,3}?tf\.distribute\.Strategy",
        ),
        cause="fit_generator is a TensorFlow 1 interface that does not know distribution strategies.",
        fix="""\
dataset = tf.data.TFRecordDataset(files).map(parse).batch(global_batch, drop_remainder=True)
model.fit(dataset, epochs=epochs)""",
        citations=("tensorflow/tensorflow#30916",),
        evidence="reported",
        example="NotImplementedError: `fit_generator` is not supported for models compiled with tf.distribute.Strategy.",
        near_miss="UserWarning: `model.fit_generator` is deprecated and will be removed in a future version.",
    ),
    KnownError(
        id="E41",
        level="error",
        patterns=(
            r"Value for attr '(?P<attr>\w{1,20})' of bfloat16 is not in the list of allowed values",
        ),
        cause="A layer (often image augmentation) uses an operation that has no bfloat16 version, under a mixed_bfloat16 policy.",
        fix='layer = keras.layers.RandomRotation(0.1, dtype="float32")     # for the layer in the traceback',
        citations=("keras-team/keras#17508",),
        evidence="reported",
        example="InvalidArgumentError: Value for attr 'dtype' of bfloat16 is not in the list of allowed values: uint8, int32, int64, half, float, double",
        near_miss="TypeError: Value passed to parameter 'images' has DataType bfloat16 not in list of allowed values: uint8, float32",
    ),
    # profiling, tf.data service, monitoring
    KnownError(
        id="E43",
        level="info",
        patterns=(r"No step marker observed and hence the step time is unknown",),
        cause="The profile holds no step marks: Keras 3 fit sets none, or the capture was shorter than a step.",
        fix="""\
class StepMarks(keras.callbacks.Callback):
    def on_train_batch_begin(self, batch, logs=None):
        self.trace = tf.profiler.experimental.Trace("train", step_num=batch, _r=1)
        self.trace.__enter__()
    def on_train_batch_end(self, batch, logs=None):
        self.trace.__exit__(None, None, None)
# or capture longer""",
        citations=("openxla/xprof#578",),
        evidence="reproduced",
        example="No step marker observed and hence the step time is unknown. This may happen if (1) training steps are not instrumented or (2) the profiling duration is shorter than the step time.",
        near_miss="Step marker observed; the step time is 12 ms",
    ),
    KnownError(
        id="E44",
        level="warning",
        patterns=(r"No trace event (?:is|was) collected",),
        cause="The profiler captured nothing: the address is wrong, the trainer runs no profiler server, or the TPU was idle.",
        fix="""\
tf.profiler.experimental.server.start(6009)                     # in the trainer, before training
tf.profiler.experimental.client.trace("grpc://TRAINER:6009", "gs://BUCKET/logs", 2000)""",
        citations=(
            "openxla/xprof#380",
            "tensorflow/tensorflow#54495",
        ),
        evidence="reproduced",
        example="RuntimeError: UNAVAILABLE: No trace event was collected because there were no responses from clients or the responses did not have trace data.",
        near_miss="Trace events were collected from 2 hosts",
    ),
    KnownError(
        id="E45",
        level="warning",
        patterns=(r"UnimplementedError: unimplemented\.",),
        cause="tf.profiler.experimental.client.monitor does not work on a TPU VM.",
        fix="pip install tpu-info && tpu-info        # utilisation and memory from libtpu's own metrics, on the TPU VM",
        citations=("tensorflow/tensorflow#52210",),
        evidence="reproduced",
        example="""\
    return _pywrap_profiler.monitor(
tensorflow.python.framework.errors_impl.UnimplementedError: unimplemented.""",
        near_miss="UnimplementedError: Cast string to float is not supported",
    ),
    KnownError(
        id="E46",
        level="warning",
        patterns=(r"Libtpu metrics unavailable\. Is there a framework using the TPU",),
        cause="libtpu serves no metrics: no process uses the TPU, it belongs to another user, or port 8431 is not served (libtpu's version).",
        fix="""\
sudo lsof -w /dev/accel* /dev/vfio/*     # is a job running, and whose is it
ss -ltn | grep 8431                      # does its libtpu serve metrics""",
        citations=(
            "AI-Hypercomputer/cloud-accelerator-diagnostics#6",
            "AI-Hypercomputer/cloud-accelerator-diagnostics#9",
        ),
        evidence="reported",
        example="Libtpu metrics unavailable. Is there a framework using the TPU? See the documentation for more information",
        near_miss="libtpu metrics are available on port 8431",
    ),
    KnownError(
        id="E47",
        level="warning",
        patterns=(
            r"Failed to send task updates to dispatcher: .{0,100}?Task (?P<task>\d{1,12}) not found",
        ),
        cause="A worker of the tf.data service has lost its task and serves no data: throughput falls without any error in the trainer.",
        details=("The task is {task}.",),
        fix="""\
# restart the workers that say so (they do not recover by themselves), and watch their network egress:
worker = tf.data.experimental.service.WorkerServer(
    tf.data.experimental.service.WorkerConfig(dispatcher_address="DISPATCHER:5050"))
worker.join()""",
        citations=("tensorflow/tensorflow#52252",),
        evidence="reported",
        example="2021-10-05 02:19:10.033421: W tensorflow/core/data/service/worker_impl.cc:311] Failed to send task updates to dispatcher: Not found: Failed to send worker update: Task 4003 not found",
        near_miss="I tensorflow/core/data/service/dispatcher_impl.cc:822] Started assigning task 4000 to worker 10.0.0.2:5001",
    ),
    KnownError(
        id="E48",
        level="error",
        patterns=(r"Failed to register dataset: failed to connect to all addresses",),
        cause="The TPU Node cannot reach the tf.data service over the network.",
        fix="""\
# run the tf.data service's dispatcher and workers in the TPU Node's own VPC, on addresses it can reach
dataset = dataset.apply(tf.data.experimental.service.distribute(
    "distributed_epoch", "grpc://ADDRESS_IN_THE_VPC:5050"))
# or train on a TPU VM""",
        citations=("tensorflow/tensorflow#43125",),
        evidence="reported",
        example="E tensorflow/core/common_runtime/eager/context.cc:678] Failed to register function remotely due to Failed to register dataset: failed to connect to all addresses",
        near_miss="Failed to register dataset: the name is taken",
    ),
    KnownError(
        id="E49",
        level="error",
        patterns=(
            r"Failed to get element from worker.{1,400}?Could not find callback with key=pyfunc_",
        ),
        cause="The dataset calls Python (from_generator, py_function), which the workers of the tf.data service do not have.",
        fix="""\
# write what the generator yields to TFRecord files once, and read those
dataset = tf.data.TFRecordDataset(files).map(parse_with_tf_ops, num_parallel_calls=tf.data.AUTOTUNE)
dataset = dataset.apply(tf.data.experimental.service.distribute("distributed_epoch", service))""",
        citations=("tensorflow/tensorflow#50252",),
        evidence="reproduced",
        example="""\
InvalidArgumentError: Failed to get element from worker localhost:39591: Failed to get an element, with a nonretryable error: Failed to get element: ValueError: Could not find callback with key=pyfunc_0 in the registry.
Traceback (most recent call last):""",
        near_miss="ValueError: Could not find callback with key=pyfunc_10 in the registry.",
    ),
    KnownError(
        id="E50",
        level="warning",
        patterns=(
            r"One or more points were written more frequently than the maximum sampling period configured for the metric",
        ),
        cause="A custom metric in Cloud Monitoring is written too often, or two writers share one time series.",
        fix="""\
# at least 10 s between two points, and labels of its own for every worker
series.resource.type = "generic_task"
series.resource.labels.update(project_id=project, location=zone, namespace="train", job=job, task_id=str(worker))""",
        citations=(
            "GitHub file 33771713323 (ts-bridge)",
            "GitHub file 37824292000",
        ),
        evidence="reported",
        example="InvalidArgument desc = One or more TimeSeries could not be written: One or more points were written more frequently than the maximum sampling period configured for the metric.",
        near_miss="One or more of the points specified had an older start time than the most recent point",
    ),
    KnownError(
        id="E53",
        level="error",
        patterns=(
            r"tf\.function only supports singleton tf\.Variables created on the first call",
            r"tf\.function-decorated function tried to create variables on non-first call",
        ),
        cause="A tf.function creates variables when it is traced again: a layer, a metric or an optimizer that is not built, or one step that serves two optimizers.",
        fix="""\
with strategy.scope():                                 # everything is made here, once
    model.build((None, features))
    optimizer.build(model.trainable_variables)
# and one tf.function for each model with its optimizer, not one that takes which of them to train""",
        citations=(),
        evidence="reproduced",
        example="ValueError: tf.function only supports singleton tf.Variables created on the first call. Make sure the tf.Variable is only created once or created outside tf.function. See https://www.tensorflow.org/guide/function#creating_tfvariables for more information.",
        near_miss="ValueError: tf.function only supports tf.Variables created with aggregation",
    ),
    # only in a rehearsal on CPU replicas
    KnownError(
        id="R01",
        level="info",
        patterns=(
            r"You must feed a value for placeholder tensor 'cond/(?:then|else)/.{0,1200}?\[Op:__inference_fn_with_cond",
        ),
        cause="An artefact of the rehearsal, not a fault of the script: CPU replicas cannot create the variables of a Keras 3 optimizer inside the tf.function.",
        fix="""\
# rehearse with the optimizer built beforehand; it does no harm on a TPU
with strategy.scope():
    optimizer.build(model.trainable_variables)""",
        citations=(),
        evidence="reproduced",
        example="""\
InvalidArgumentError: Graph execution error:
2 root error(s) found.
  (0) INVALID_ARGUMENT:  You must feed a value for placeholder tensor 'cond/else/_1/cond/Placeholder' with dtype int32
      [[{{node cond/Placeholder}}]]
      [[cond/else/_1/cond/Placeholder_1/_32]]
  (1) INVALID_ARGUMENT:  You must feed a value for placeholder tensor 'cond/else/_1/cond/Placeholder' with dtype int32
      [[{{node cond/Placeholder}}]]
0 successful operations.
0 derived errors ignored. [Op:__inference_fn_with_cond_1095]""",
        near_miss="InvalidArgumentError: You must feed a value for placeholder tensor 'input_1' with dtype float and shape [?,1,512,20]",
        rehearsal_only=True,
    ),
    KnownError(
        id="R02",
        level="info",
        patterns=(
            r"You must feed a value for placeholder tensor 'while/body/_\d{1,6}/while/cond/(?:then|else)/",
        ),
        cause="An artefact of the rehearsal, not a fault of the script: steps_per_execution above 1 fails under MirroredStrategy, which stands in for the TPU, with Keras 3.8 and later.",
        fix="""\
# rehearse with one step per execution, and set it back for the TPU
model.compile(optimizer, loss, steps_per_execution=1)
# or rehearse with Keras 3.6.0, or with tf-keras: TF_USE_LEGACY_KERAS=1 (both work)""",
        citations=("keras-team/keras#19246",),
        evidence="reproduced",
        example="""\
2 root error(s) found.
  (0) INVALID_ARGUMENT:  You must feed a value for placeholder tensor 'while/body/_10/while/cond/then/_184/while/cond/Placeholder_1' with dtype int32
      [[{{node while/cond/Placeholder_1}}]]
0 derived errors ignored. [Op:__inference_multi_step_on_iterator_1286]""",
        near_miss="InvalidArgumentError: You must feed a value for placeholder tensor 'while/body/x' with dtype float",
        rehearsal_only=True,
    ),
    KnownError(
        id="R03",
        level="info",
        patterns=(
            r"Trying to access resource .{1,900}? located in device /job:[\w:/]{1,60}?CPU:\d{1,4} from device /job:[\w:/]{1,60}?CPU:\d{1,4}",
        ),
        cause="An artefact of the rehearsal, not a fault of the script: jit_compile=True cannot compile a step over several CPU replicas.",
        fix="""\
# rehearse without it; XLA compiles the step on a TPU anyway
model.compile(optimizer, loss, jit_compile=False)""",
        citations=("keras-team/keras#19005",),
        evidence="reproduced",
        example="""\
InvalidArgumentError: Graph execution error:
Trying to access resource sequential/dense/kernel/replica_1/3 (defined @ site-packages/keras/src/backend/tensorflow/core.py:43) located in device /job:localhost/replica:0/task:0/device:CPU:1 from device /job:localhost/replica:0/task:0/device:CPU:0
      [[{{node StatefulPartitionedCall}}]] [Op:__inference_multi_step_on_iterator_890]""",
        near_miss="Trying to access resource table located in device /job:localhost/replica:0/task:0/device:CPU:0 from device /job:localhost/replica:0/task:0/device:GPU:0",
        rehearsal_only=True,
    ),
)

# Known, but without a text to recognise: they do not belong into a matcher.
SILENT = (
    Silent(
        "E09",
        "a hang in experimental_connect_to_cluster without any message (TPU003 sees it as an attempt that does not end)",
    ),
    Silent("E34", "a wrong loss scale raises nothing (TPU502 looks at what runs)"),
    Silent(
        "E40",
        "no text is recorded in its citation: validation fails when the evaluation set is smaller than the global batch",
    ),
    Silent(
        "E42", "mixed_bfloat16 that is slower than float32 raises nothing; it has to be measured"
    ),
    Silent("E51", "a change of the service (Colab has v5e-1 only), not an error"),
    Silent(
        "E52",
        "a change of the service (TensorFlow is not pre-installed on Colab's TPU); what it leads to is E02",
    ),
)
