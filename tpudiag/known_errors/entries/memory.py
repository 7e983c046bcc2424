# ruff: noqa: E501  (texts of other programs stay as they are)
"""The TPU's memory, its scratch memory, and the host's."""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Phase

ERRORS = (
    KnownError(
        id="E18",
        family="hbm-at-compile-time",
        phase=Phase.COMPILING,
        patterns=(
            r"Ran out of memory on HBM, the total memory required for HLO temporaries \((?P<needed>[\d.]{1,12}[KMGTB]?)\) exceeds available HBM \((?P<available>[\d.]{1,12}[KMGTB]?)\)",
            r"CompileTimeHbmOom",
            r"exceeds available HBM",
            r"Allocation \(size=\d{6,15}\) would exceed memory \(size=\d{6,15}\).{0,300}?space=hbm",
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
        family="hbm-at-compile-time",
        phase=Phase.COMPILING,
        patterns=(
            r"Ran out of memory in memory space hbm\. Used (?P<used>[\d.]{1,12}[KMGTB]?) of (?P<limit>[\d.]{1,12}[KMGTB]?) hbm\..{0,60}?Exceeded hbm capacity by (?P<over>[\d.]{1,12}[KMGTB])(?:.{0,1500}?Extra memory due to padding: (?P<padding>[\d.]{1,12}[KMGTB]?) \((?P<expansion>[\d.]{1,8})x expansion\))?",
            r"Ran out of memory in memory space hbm",
            r"unlikely to have enough memory\. Requires (?P<used>[\d.]{1,12}[KMGTPE]?),? has (?P<limit>[\d.]{1,12}[KMGTPE]?) available",
            r"unlikely to have enough (?:device )?memory\. Requires (?P<used>[\d.]{1,12}[KMGTPE]?),? has (?P<limit>[\d.]{1,12}[KMGTPE]?) available",
            r"Exceeded hbm capacity",
            r"Largest program allocations in hbm",
            r"Total hbm usage",
            r"Not enough HBM spill stack available",
            r"Requested HBM usage exceeds the max",
            r"Attempting to load a program that failed compilation due to OOM",
        ),
        cause="The compiled step does not fit the TPU's memory (HBM).",
        details=(
            "It needs {used} of {limit}.",
            "That is {over} too much.",
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
            "LargeWorldModel/LWM#60",
            "erfanzar/EasyDeL#78",
            "jax-ml/jax#7822",
        ),
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
        near_miss="RuntimeError: Ran out of memory in memory space smem. Used 1.00M of 1.00M smem.",
    ),
    KnownError(
        id="E20",
        family="on-chip-scratch",
        phase=Phase.COMPILING,
        patterns=(
            r"Ran out of memory in memory space vmem\. Used (?P<used>[\d.]{1,12}[KMGTB]?) of (?P<limit>[\d.]{1,12}[KMGTB]?) vmem",
            r"Ran out of memory in memory space vmem",
            r"Ran out of memory in memory space (?P<space>smem|sflag|cmem)",
            r"Scoped allocation with size (?P<used>[\d.]{1,12}[KMGTB]?) and limit (?P<limit>[\d.]{1,12}[KMGTB]?) exceeded scoped vmem limit",
            r"run out of (?:scoped )?vmem",
            r"would exceed memory.{0,200}?space=(?:vmem|smem)",
            r"exceeded scoped vmem",
            r"CompileTimeScopedVmemOom",
            r"exceed VMEM limits",
            r"does not fit in VMEM",
            r"would exceed vmem capacity",
            r"too large to fit in TileSpmem",
        ),
        cause="A kernel needs more of the TPU's on-chip scratch memory (vmem; smem for scalars) than there is.",
        details=("It needs {used} of {limit}.",),
        fix="""\
# change the shapes that meet in the operation which the message names (smaller tiles, fewer fused inputs),
# or give the kernel more scratch memory, in KiB, before TensorFlow is imported:
export LIBTPU_INIT_ARGS="--xla_tpu_scoped_vmem_limit_kib=65536"
# smem (scalars): fewer or shorter index arrays, a shorter sequence; a newer libtpu compiles many of these""",
        citations=(
            "openxla/xla E1001",
            "pytorch/xla#9524",
            "tensorflow/tensorflow#26893",
            "tensorflow/tensorflow#35603",
            "pytorch/xla#6611",
            "pytorch/xla#7962",
            "vllm-project/vllm#8318",
        ),
        example="RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space vmem. Used 32.42M of 16.00M vmem. Exceeded vmem capacity by 16.42M",
        near_miss="Allocation would exceed the memory of the host",
    ),
    KnownError(
        id="E21",
        family="hbm-at-run-time",
        phase=Phase.EXECUTING,
        patterns=(
            r"Attempting to allocate (?P<asked>[\d.]{1,12}[KMGTB]?)\. That was not possible\. There are (?P<free>[\d.]{1,12}[KMGTB]?) free",
            r"Error allocating device buffer: Attempting to allocate",
            r"RuntimeBufferAllocationFailure",
            r"Failed to allocate request for (?P<asked>[\d.]{1,12}[KMGT]?i?B).{0,40}?on device ordinal",
            r"Error allocating device buffer",
            r"Attempting to allocate (?P<asked>[\d.]{1,12}[KMGTB]?)\. That was not possible",
            r"Allocation fails\. Try again after compaction",
            r"Could not allocate (?P<asked>\d{1,15}) bytes in memory \w{0,12}HBM\d?; (?P<free>\d{1,15}) bytes allocatable",
            r"Could not allocate (?P<asked>\d{1,15}) bytes in memory",
        ),
        cause="The TPU's memory is full, or so fragmented that no free piece is large enough, while the job runs.",
        details=(
            "{asked} were asked for.",
            "{free} are free.",
        ),
        fix="""\
global_batch = PER_REPLICA_BATCH // 2 * strategy.num_replicas_in_sync      # a smaller batch per replica
del old_outputs                       # drop references to tensors of earlier steps (lists of losses, predictions, caches)
# a second model, or a notebook cell that was run again, keeps its variables: restart the process
keras.mixed_precision.set_global_policy("mixed_bfloat16")
# to see what fills the memory, set the libtpu flag tpu_log_allocations_on_oom""",
        citations=(
            "openxla/xla E0100",
            "huggingface/transformers#13629",
            "kingoflolz/mesh-transformer-jax#209",
            "pytorch/xla#2569",
        ),
        example="ValueError: RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate 8.00M. That was not possible. There are 6.43M free.; (0x0x1_HBM0)",
        near_miss="Attempting to allocate a TPU in zone us-central1-b. That was not possible. There are no resources free.",
    ),
    KnownError(
        id="E22",
        family="hbm-for-the-program",
        phase=Phase.LOADING,
        patterns=(
            r"Attempting to reserve (?P<asked>[\d.]{1,12}[KMGTB]?) at the bottom of memory\. That was not possible\. There are (?P<free>[\d.]{1,12}[KMGTB]?) free",
            r"Attempting to reserve (?P<asked>[\d.]{1,12}[KMGTB]?) at the bottom of memory",
            r"RuntimeProgramAllocationFailure",
            r"Error loading program",
            r"0B reserved, and (?P<reservable>[\d.]{1,12}[KMGTB]?) reservable",
        ),
        cause="A compiled program does not fit beside the data that the TPU's memory already holds.",
        details=("{asked} were asked for and {free} are free.",),
        fix="""\
global_batch = PER_REPLICA_BATCH // 2 * strategy.num_replicas_in_sync
# fewer programs on the device: one train step and one eval step, each traced once
keras.mixed_precision.set_global_policy("mixed_bfloat16")
# free data that is not needed beside it (a second model, old outputs): the program needs one piece""",
        citations=(
            "openxla/xla E0101",
            "pytorch/xla#1735",
            "huggingface/transformers#22328",
        ),
        example="RESOURCE_EXHAUSTED: Attempting to reserve 6.48G at the bottom of memory. That was not possible. There are 6.78G free, 0B reserved, and 3.33G reservable.",
        near_miss="kernel: failed to reserve 6.48G at the bottom of memory for crash dumps",
    ),
    KnownError(
        id="E23",
        family="buffer-mismatch",
        phase=Phase.LOADING,
        patterns=(
            r"expected parameter (?P<parameter>\d{1,9}) of size (?P<expected>\d{1,15}).{0,200}?but got buffer with incompatible size (?P<got>\d{1,15})",
            r"RuntimeProgramInputMismatch",
        ),
        cause="A program was loaded whose memory layout differs from that of its inputs: it was saved with other XLA flags, versions or another topology.",
        details=("Parameter {parameter} has {got} bytes where {expected} are expected.",),
        fix="""\
# save and load with the same XLA_FLAGS, libtpu, TensorFlow and TPU topology; else export the model again
env | grep -E "XLA_FLAGS|LIBTPU_INIT_ARGS"; pip list | grep -iE "libtpu|tensorflow\"""",
        citations=("openxla/xla E0102",),
        example="XlaRuntimeError: INVALID_ARGUMENT: Executable(jit_embedding_pipeline_step_fn) expected parameter 2482 of size 5242880 (bf16[16,1280,40]{2,1,0:T(8,128)(2,1)}) but got buffer with incompatible size 1638400 (bf16[16,1280,40]{1,2,0:T(8,128)(2,1)}): while running replica 0",
        near_miss="TypeError: expected parameter 3 of size int but got buffer of type str",
    ),
    KnownError(
        id="E110",
        family="host-memory",
        phase=Phase.ANY,
        patterns=(
            r"crashed after using all available RAM",
            r"crashed due to insufficient RAM",
            r"tcmalloc: large alloc (?P<bytes>\d{1,18}) bytes",
            r"std::bad_alloc",
            r"Unable to allocate (?P<size>[\d.]{1,9} ?[GMT]iB) for an array",
            r"Out of memory: Killed process (?P<pid>\d{1,9})",
            r"(?<![^\n])Killed(?![^\n])",
            r"line \d{1,6}: {1,4}\d{1,9} Killed ",
            r"(?:[\])%.]|\d/s|/step) ?Killed(?![a-z:'])",
            r"(?:\n|\.\.\.|filled\.) ?Killed(?![a-z:'])",
            r"oom-kill",
            r"OOMKilled",
            r"oom_reaper",
            r"terminated with signal SIGKILL",
            r"died with <Signals\.SIGKILL",
            r"exit code:? ?137",
            r"exited with code:? ?137",
            r"exit status:? ?137",
            r"killed by signal 9",
            r"Cannot allocate memory",
            r"MemoryError: ?(?:Unable|std|bad|out|cannot)",
            r"_ArrayMemoryError",
            r"Traceback \(most recent call last\).{0,2500}?MemoryError(?![s\w:])",
            r"ran out of (?:host|system) memory",
            r"oom_monitor",
            r"tried to allocate more memory than is available",
            r"ray\.exceptions\.OutOfMemoryError",
            r"node running low on memory",
            r"ran out-of-memory and exited with a non-zero status of 137",
        ),
        cause="The host ran out of memory (RAM), and the process was killed: not the TPU's memory.",
        details=(
            "{size} were asked for.",
            "The killed process is {pid}.",
            "One allocation had {bytes} bytes.",
        ),
        fix="""\
dmesg -T | grep -iE "oom|killed process"               # was it the OOM killer?
dataset = dataset.shuffle(1_000)                       # a smaller shuffle buffer
# no .cache() of what does not fit in RAM (cache(file) instead); no whole arrays in from_tensor_slices: TFRecord files
# one process for all cores, not one for each core that loads the model again""",
        useless="a smaller batch on the TPU does little: the data on the host is what is large",
        citations=(
            "kingoflolz/mesh-transformer-jax#120",
            "googlecolab/colabtools#513",
            "googlecolab/colabtools#5899",
            "Lightning-AI/pytorch-lightning#1590",
            "google-research/t5x#1004",
            "PV-Lab/FTCP#8",
        ),
        example="Your session crashed after using all available RAM.",
        near_miss="MemoryErrors are counted by the monitor: 0",
        yields_to=(
            "E24",
            "E616",
        ),
    ),
)
