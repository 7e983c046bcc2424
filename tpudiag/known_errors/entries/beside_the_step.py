# ruff: noqa: E501  (texts of other programs stay as they are)
"""What stands beside the step: TensorFlow's debugger, a data set in too few files, a pod's annotation."""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Phase

ERRORS = (
    KnownError(
        id="E941",
        family="debugger-on-tpu",
        phase=Phase.COMPILING,
        patterns=(
            r"DebugNumericSummaryV2",
            r"DebugIdentityV2",
            r"tensorflow/python/debug/lib/(?:dumping_callback|check_numerics_callback)\.py.{0,600}?Error",
            r"No registered 'CheckNumericsV2'",
        ),
        cause="TensorFlow's debugger is on (enable_dump_debug_info or enable_check_numerics): it puts operations of its own beside each of the step's, and these run on a CPU or GPU only.",
        fix="""\
# delete tf.debugging.experimental.enable_dump_debug_info(...) and tf.debugging.enable_check_numerics() from the job on the TPU
tf.debugging.disable_check_numerics()
# to look for a NaN: the same step on a CPU, a few batches, with the debugger; on the TPU the loss and norms as values that strategy.run returns""",
        useless="jit_compile=False on a TPU: every step is compiled there.",
        citations=("tensorflow/tensorflow#59215", "tensorflow/tensorflow#61421"),
        example="InvalidArgumentError: Detected unsupported operations when trying to compile graph cluster_0[] on XLA_TPU_JIT: DebugNumericSummaryV2 (No registered 'DebugNumericSummaryV2' OpKernel for XLA_TPU_JIT devices)",
    ),
    KnownError(
        id="E942",
        family="too-few-shards",
        phase=Phase.READING,
        patterns=(
            r"Cannot shard the pipeline .{0,60}?num_shards=(?P<shards>\d{1,6})`? but `?num_input_pipelines=(?P<pipelines>\d{1,6})",
            r"Cannot shard the pipeline",
        ),
        cause="The data set lies in fewer files (shards) than there are readers (one for each host or process), so that some would read nothing.",
        details=("It has {shards} shards for {pipelines} readers.",),
        fix="""\
splits = tfds.even_splits("train", n=readers, drop_remainder=True)      # a slice of examples for each reader, not files
dataset = tfds.load(NAME, split=splits[reader])                           # without tfds.ReadConfig(input_context=...)
dataset = dataset.shard(num_shards=readers, index=reader)                 # small data: every reader reads all and keeps its share
# or written anew in as many files as there are readers, or more""",
        citations=("huggingface/pytorch-image-models#942",),
        example="ValueError: Cannot shard the pipeline with given `input_context`.`num_shards=1` but `num_input_pipelines=8`. This means that some workers won't read any data.",
    ),
    KnownError(
        id="E943",
        family="pod-annotation",
        phase=Phase.CREATING,
        patterns=(r"TensorFlow version must be specified in annotation",),
        cause="A pod asks for a TPU Node (`cloud-tpus.google.com/...`) and does not say which TensorFlow the node shall run.",
        fix="""\
# in the pod's metadata (of a Job or Deployment: spec.template.metadata), the version that the image has:
#   annotations: {tf-version.cloud-tpus.google.com: "2.12.0"}
kubectl get pod POD -o jsonpath='{.metadata.annotations}'
# TPU VMs on GKE (`google.com/tpu`, node selectors gke-tpu-accelerator and gke-tpu-topology) want no such annotation""",
        citations=("polyaxon/polyaxon#362",),
        example='admission webhook "pod-init.cloud-tpus.google.com" denied the request: TensorFlow version must be specified in annotation "tf-version.cloud-tpus.google.com" for pod requesting Cloud TPUs',
    ),
)
