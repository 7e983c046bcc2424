# ruff: noqa: E501  (texts of other programs stay as they are)
"""Lines that look like errors and are none."""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Phase

ERRORS = (
    KnownError(
        id="N01",
        family="end-of-epoch",
        phase=Phase.ANY,
        level="info",
        patterns=(
            r"Local rendezvous is aborting with status: OUT_OF_RANGE: End of sequence",
            r"BaseCollectiveExecutor::StartAbort (?:Out of range|OUT_OF_RANGE): End of sequence",
            r"Local rendezvous (?:recv item|send item) cancelled",
        ),
        cause="No error: TensorFlow logs the normal end of a dataset (each epoch, validation) this way; harmless.",
        fix="""\
# nothing to do; TensorFlow 2.16 to 2.18 log it most
export TF_CPP_MIN_LOG_LEVEL=1       # hides it""",
        citations=(
            "tensorflow/tensorflow#62963",
            "zzh8829/yolov3-tf2#104",
        ),
        example="W tensorflow/core/framework/local_rendezvous.cc:404] Local rendezvous is aborting with status: OUT_OF_RANGE: End of sequence",
    ),
    KnownError(
        id="N02",
        family="no-gpu",
        phase=Phase.ANY,
        level="info",
        patterns=(
            r"Could not load dynamic library 'lib(?:cudart|cuda|cublas|cudnn|cufft|curand|cusolver|cusparse|nvinfer|nvrtc)",
            r"failed call to cuInit",
            r"CUDA_ERROR_NO_DEVICE",
            r"Unable to register cu\w{3,6} factory",
            r"Could not find cuda drivers",
            r"TF-TRT Warning: Could not find TensorRT",
            r"Ignore above cudart dlerror",
            r"Cannot dlopen some GPU libraries",
            r"Skipping registering GPU devices",
            r"computation placer already registered",
            r"No CUDA GPUs? (?:are|is) available",
        ),
        cause="No error: TensorFlow looks for a GPU and finds none, as it should on a TPU or CPU machine; harmless.",
        fix="""\
# nothing to do
export TF_CPP_MIN_LOG_LEVEL=2       # before TensorFlow is imported: hides it""",
        citations=("tensorflow/tensorflow#103033",),
        example="E tensorflow/stream_executor/cuda/cuda_driver.cc:351] failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected",
    ),
    KnownError(
        id="N03",
        family="start-up-remarks",
        phase=Phase.ANY,
        level="info",
        patterns=(
            r"Cannot register 2 metrics with the same name",
            r"This TensorFlow binary is optimized (?:to use|with) ",
            r"oneDNN custom operations are on",
            r"All log messages before absl::InitializeLog\(\) is called",
            r"SetPriority unimplemented for this stream",
            r"None of the MLIR [Oo]ptimization [Pp]asses are enabled",
            r"AutoGraph could not transform .{1,200}? and will run it as-is",
            r"The name tf\.[\w.]{1,60} is deprecated\. Please use tf\.compat",
            r"Layer .{1,60}? was (?:passed non-JSON-serializable|called with an input that isn't)",
            r"WARNING:absl:(?:Importing a function|Found untraced functions|Function .{1,60}? contains input name)",
            r"found untraced functions such as",
            r"compiled metrics have yet to be built",
            r"No training configuration found in (?:the )?save",
        ),
        cause="No error: remarks at start-up about the processor and how TensorFlow was built; harmless.",
        fix="""\
# nothing to do
export TF_CPP_MIN_LOG_LEVEL=2 TF_ENABLE_ONEDNN_OPTS=0       # hides them""",
        citations=("tensorflow/tensorflow#59487",),
        example="I tensorflow/core/util/port.cc:113] oneDNN custom operations are on. You may see slightly different numerical results due to floating-point round-off errors",
    ),
    KnownError(
        id="N04",
        family="remote-handles",
        phase=Phase.ANY,
        level="info",
        patterns=(r"Ignoring an error encountered when deleting remote tensors handles",),
        cause="No error: the client frees remote tensors that the TPU worker has already let go; harmless, training goes on.",
        fix="# nothing to do; it says itself that it is ignored",
        citations=("keras-team/keras#15933",),
        example="W ./tensorflow/core/distributed_runtime/eager/destroy_tensor_handle_node.h:57] Ignoring an error encountered when deleting remote tensors handles: Invalid argument: Unable to find the relevant tensor remote_handle: Op ID: 2652130, Output num: 3",
    ),
    KnownError(
        id="N05",
        family="unknown-tpu-ops",
        phase=Phase.ANY,
        level="info",
        patterns=(r"for unknown op: (?:TPURoundRobin|TpuHandleToProtoKey)",),
        cause="No error: kernels of the TPU are registered before their operations; harmless.",
        fix="# nothing to do",
        citations=("pytorch/xla#3078",),
        example='E tensorflow/core/framework/op_kernel.cc:1623] OpKernel (\'op: "TPURoundRobin" device_type: "CPU"\') for unknown op: TPURoundRobin',
    ),
    KnownError(
        id="N06",
        family="session-remarks",
        phase=Phase.ANY,
        level="info",
        patterns=(
            r"GrpcSession::ListDevices will initialize the session with an empty graph",
            r"Worker heartbeats not supported by all workers",
        ),
        cause="No error: what a TensorFlow 1 session says on its way; harmless.",
        fix="# nothing to do",
        citations=("tensorflow/tpu#159",),
        example="W tensorflow/core/distributed_runtime/rpc/grpc_session.cc:349] GrpcSession::ListDevices will initialize the session with an empty graph and other defaults because the session has not yet been created.",
    ),
    KnownError(
        id="N07",
        family="data-remarks",
        phase=Phase.ANY,
        level="info",
        patterns=(
            r"Error occurred when finalizing GeneratorDataset iterator: (?:Cancelled|CANCELLED|Failed precondition|FAILED_PRECONDITION)",
            r"The calling iterator did not fully read the dataset being cached",
            r"Allocation of \d{1,18} exceeds \d{1,2}% of (?:free )?system memory",
            r"Filling up shuffle buffer \(this may take a while\)",
        ),
        cause="No error: remarks of the input pipeline (an iterator let go before its end, a cache that is filled in part, a large allocation); harmless for the result.",
        fix="# nothing to do; where memory is short: a smaller shuffle buffer; a cache that is never filled: dataset.take(n).cache()",
        citations=("tensorflow/tensorflow#35529",),
        example="W tensorflow/core/kernels/data/generator_dataset_op.cc:103] Error occurred when finalizing GeneratorDataset iterator: Cancelled: Operation was cancelled",
    ),
    KnownError(
        id="N08",
        family="grappler-remarks",
        phase=Phase.ANY,
        level="info",
        patterns=(
            r"layout failed: INVALID_ARGUMENT: Size of values 0 does not match size of permutation",
            r"Error in PredictCost\(\) for the op",
            r"Skipping optimization due to error while loading function libraries",
            r"(?:model_pruner|remapper|arithmetic_optimizer|layout|loop_optimizer|dependency_optimizer|constant_folding) failed: (?:Invalid argument|INVALID_ARGUMENT)",
        ),
        cause="No error: an optional optimisation of the graph was skipped; harmless, the step runs without it.",
        fix="# nothing to do",
        evidence="recalled",
        example="E tensorflow/core/grappler/optimizers/meta_optimizer.cc:954] layout failed: INVALID_ARGUMENT: Size of values 0 does not match size of permutation 4 @ fanin shape in sequential/dropout/SelectV2-2",
    ),
    KnownError(
        id="N09",
        family="bucket-login-remarks",
        phase=Phase.ANY,
        level="info",
        patterns=(
            r"All attempts to get a Google authentication bearer token failed, returning an empty token",
        ),
        cause="No error by itself: there are no Google credentials here, so gs:// is read as anybody; public data works, private buckets need a login.",
        fix="gcloud auth application-default login        # only for a private bucket",
        evidence="recalled",
        example="W tensorflow/core/platform/cloud/google_auth_provider.cc:184] All attempts to get a Google authentication bearer token failed, returning an empty token. Retrieving token from files failed",
    ),
)
