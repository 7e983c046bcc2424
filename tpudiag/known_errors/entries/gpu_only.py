# ruff: noqa: E501  (texts of other programs stay as they are)
"""Errors of a GPU: said to be no matter of the TPU."""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Phase

ERRORS = (
    KnownError(
        id="E220",
        family="gpu-memory",
        phase=Phase.EXECUTING,
        patterns=(
            r"Dst tensor is not initialized",
            r"OOM when allocating tensor.{0,160}?device:GPU:\d",
            r"by allocator GPU_\d_bfc",
            r"Allocator \(GPU_\d_bfc\) ran out of memory",
            r"CUDA out of memory",
            r"CUDA_ERROR_OUT_OF_MEMORY",
            r"torch\.(?:cuda\.)?OutOfMemoryError",
        ),
        cause="The memory of a GPU ran out: this job runs on a GPU, not on a TPU. `Dst tensor is not initialized` means the same: no room for a copy to the GPU.",
        fix="""\
nvidia-smi                                                  # who uses the GPU: a notebook kernel that is left over
for gpu in tf.config.list_physical_devices("GPU"): tf.config.experimental.set_memory_growth(gpu, True)
dataset = dataset.batch(SMALLER_BATCH)
with tf.device("CPU:0"): dataset = tf.data.Dataset.from_tensor_slices(arrays)        # large arrays stay on the host
# a TPU was meant: strategy = tf.distribute.TPUStrategy(resolver), and the runtime or VM must have one""",
        citations=(
            "EscVM/RAMS#13",
            "divamgupta/stable-diffusion-tensorflow#61",
            "experiencor/keras-yolo3#96",
        ),
        example="InternalError: Failed copying input tensor from /job:localhost/replica:0/task:0/device:CPU:0 to /job:localhost/replica:0/task:0/device:GPU:0 in order to run _EagerConst: Dst tensor is not initialized.",
        yields_to=("E785",),
        near_miss="Created device /job:localhost/replica:0/task:0/device:GPU:0 with 15190 MB memory",
    ),
    KnownError(
        id="E221",
        family="gpu-libraries",
        phase=Phase.EXECUTING,
        patterns=(
            r"cuDNN failed to initialize",
            r"Failed to get convolution algorithm",
            r"No algorithm worked",
            r"DNN library (?:is not found|initialization failed)",
            r"Could not create cudnn handle",
            r"CUDNN_STATUS_(?:NOT_INITIALIZED|INTERNAL_ERROR|EXECUTION_FAILED|ALLOC_FAILED|NOT_SUPPORTED)",
            r"Blas (?:GEMM|xGEMM\w{0,12}|GEMV|SGEMM) launch failed",
            r"Attempting to perform BLAS operation using StreamExecutor without BLAS support",
            r"CUBLAS_STATUS_\w{5,30}",
            r"CUDA_ERROR_(?!NO_DEVICE|OUT_OF_MEMORY)\w{5,40}",
            r"CUDA error: (?:device-side assert|an illegal memory access|no kernel image|invalid)",
            r"ncclUnhandledCudaError",
            r"NCCL error",
            r"ncclSystemError",
            r"ncclInternalError",
            r"(?:ImportError|OSError): ?lib(?:cudart|cudnn|cublas|cufft|cusparse|cusolver|curand|nccl|nvinfer)\w{0,12}\.so[.\d]{0,10}: cannot open shared object file",
            r"ptxas.{0,60}?(?:fatal|too old|not found|exited with)",
            r"libdevice not found",
            r"Loaded runtime CuDNN library: .{0,60}?but source was compiled with",
            r"cudaGetDevice\(\) failed",
            r"CUDA driver version is insufficient",
            r"CUDA_ERROR_(?!NO_DEVICE)\w{4,40}",
            r"PTX was compiled with an unsupported toolchain",
            r"CustomCall failed: jaxlib/cu(?:da|dnn|blas|solver|sparse)",
            r"operation cu\w{2,40}\(.{0,60}?\) failed",
        ),
        cause="A library or the driver of a GPU (CUDA, cuDNN, NCCL) failed: this job runs on a GPU, not on a TPU.",
        fix="""\
nvidia-smi                                                    # driver, memory, other processes
pip install "tensorflow[and-cuda]==2.X"                       # libraries that fit this TensorFlow
for gpu in tf.config.list_physical_devices("GPU"): tf.config.experimental.set_memory_growth(gpu, True)
# on a TPU VM no CUDA is needed: pip uninstall tensorflow tensorflow-gpu; <<tpu_install>>""",
        evidence="recalled",
        example="UnknownError: Failed to get convolution algorithm. This is probably because cuDNN failed to initialize",
        near_miss="Could not load dynamic library 'libcudart.so.11.0'; dlerror: libcudart.so.11.0: cannot open shared object file",
        yields_to=("N02",),
    ),
    KnownError(
        id="E222",
        family="gpu-profiler",
        phase=Phase.WATCHING,
        level="warning",
        patterns=(
            r"CUPTI_ERROR_\w{5,40}",
            r"cuptiGetTimestamp: error",
            r"CuptiErrorManager is disabling profiling",
            r"Failed to load libcupti",
            r"[Cc]ould not load dynamic library 'libcupti",
        ),
        cause="The profiler cannot read the GPU's counters (CUPTI is missing, or the user may not): a matter of GPUs, not of the TPU; host and TPU are profiled without it.",
        fix="""\
# on a TPU: nothing to do
# on a GPU: the driver's module option NVreg_RestrictProfilingToAdminUsers=0, or docker run --privileged
pip install "tensorflow[and-cuda]"                            # brings CUPTI""",
        citations=(
            "pytorch/xla#6422",
            "tensorflow/tensorflow#61765",
            "tensorflow/serving#1718",
        ),
        example="E external/xla/xla/backends/profiler/gpu/cupti_error_manager.cc:163] cuptiEnableCallback: error 1: CUPTI_ERROR_INVALID_PARAMETER",
    ),
    KnownError(
        id="E223",
        family="cpu-layout",
        phase=Phase.EXECUTING,
        patterns=(
            r"only supports? (?:the )?NHWC",
            r"currently only supports the NHWC tensor format on the CPU",
            r"Fused conv implementation does not support grouped convolutions",
            r"Conv2DCustomBackprop\w{2,6}Op only supports NHWC",
            r"Depthwise convolution on CPU is only supported for NHWC",
        ),
        cause="A convolution or pooling in channels-first layout (NCHW), or one with groups, runs on a CPU, which has no such kernel: the code was written for a GPU, and no TPU or GPU is used now.",
        fix="""\
keras.backend.set_image_data_format("channels_last")             # and images as (batch, height, width, channels)
print(tf.config.list_logical_devices())                          # is a TPU there at all? inside TPUStrategy it compiles
groups: @tf.function(jit_compile=True) on a CPU, or one Conv2D a group""",
        evidence="recalled",
        example="InvalidArgumentError: Default MaxPoolingOp only supports NHWC on device type CPU",
    ),
)
