# ruff: noqa: E501  (texts of other programs stay as they are)
"""Packages and versions that do not fit one another."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase

ERRORS = (
    KnownError(
        id="E04",
        family="jax-and-tensorflow",
        phase=Phase.INSTALLING,
        patterns=(
            r"module 'libtpu' has no attribute 'get_library_path'",
            r"cloud_tpu_init failed: .{0,40}?module 'libtpu'",
        ),
        cause="libtpu is of another release than this JAX wants: tensorflow-tpu, which wants its own, lives in the same environment, or a nightly was installed beside a release.",
        fix="""\
<<tpu_environment>>
python -m venv jax-env && jax-env/bin/pip install "jax[tpu]"       # brings the libtpu of its release
# one environment: pip uninstall -y libtpu-nightly libtpu; pip install -U "jax[tpu]\"""",
        citations=(
            "jax-ml/jax#29989",
            "jax-ml/jax#28811",
        ),
        example="AttributeError: module 'libtpu' has no attribute 'get_library_path'",
        near_miss="AttributeError: module 'torch' has no attribute 'library'",
        yields_to=("E06",),
    ),
    KnownError(
        id="E05",
        family="libtpu-pair",
        phase=Phase.INSTALLING,
        patterns=(
            r"(?P<symbol>(?:Tpu|ConfigureDistributedTpu)\w{1,80}) not available in this library",
            r"(?P<symbol>\w{4,80}) not available in this library",
            r"undefined symbol: (?P<symbol>Tpu\w{1,80})",
            r"libtpu.{0,60}?(?:is (?:too )?(?:old|new)|version mismatch|incompatible)",
        ),
        cause="The installed libtpu is older or newer than this TensorFlow was built for, so the process aborts.",
        details=("libtpu lacks {symbol}.",),
        fix="""\
<<tpu_install>>
# where TensorFlow is only there for TensorBoard, keep it from loading libtpu
export TPU_LOAD_LIBRARY=0""",
        citations=(
            "pytorch/xla#3786",
            "huggingface/pytorch-image-models#1318",
            "jax-ml/jax#6797",
        ),
        evidence="reproduced",
        example="""\
2022-06-25 12:32:56.624354: F ./tensorflow/core/tpu/tpu_library_init_fns.inc:98] TpuEmbeddingEngine_ExecutePartitioner not available in this library.
Aborted (core dumped)""",
        near_miss="ImportError: the codec is missing in this build",
    ),
    KnownError(
        id="E70",
        family="pjrt-pair",
        phase=Phase.INSTALLING,
        patterns=(
            r"Unexpected PJRT_\w{1,60}? size: expected \d{1,6}, got \d{1,6}",
            r"PJRT plugin PJRT API version \(?(?P<version>[\d.]{1,9})",
            r"plugin is likely built with a later version than the framework",
            r"PJRT.{0,80}?version mismatch",
            r"unknown vhlo type code",
            r"in bytecode version \d{1,3} produced by: ?StableHLO",
            r"Failed to deserialize .{0,40}?(?:StableHLO|portable artifact|VHLO)",
            r"Expected comparison type FLOAT or TOTALORDER",
            r"libtpu (?:version|build).{0,60}?(?:too old|not compatible|incompatible|mismatch)",
            r"Unsupported Mosaic version",
            r"[Ss]erialized executable .{0,60}?not compatible",
            r"Unsupported (?:StableHLO|MLIR|VHLO|bytecode) version",
            r"LiteralProto has no layout",
        ),
        cause="libtpu and the framework speak different versions of the PJRT interface: libtpu is newer (or older) than what this framework was built for.",
        details=("libtpu speaks PJRT {version}.",),
        fix="""\
<<tpu_install>>
# JAX: pip install -U "jax[tpu]" installs the libtpu that belongs to it; one framework for each environment
pip list | grep -iE "libtpu|tensorflow|jax\"""",
        citations=("google-deepmind/weathernext#185",),
        example="pjrt_c_api_helpers.cc:258: Unexpected PJRT_Plugin_Attributes_Args size: expected 32, got 24. The plugin is likely built with a later version than the framework. This plugin is built with PJRT API version 0.75",
    ),
    KnownError(
        id="E920",
        family="client-build",
        phase=Phase.CONNECTING,
        patterns=(
            r"NotFound(?:Error)?:.{0,80}?'?(?P<op>_Mkl\w{2,60})",
            r"Op type not registered '(?P<op>_Mkl\w{2,60})'",
            r"No registered '(?P<op>_Mkl\w{2,60})'",
        ),
        cause="The client's TensorFlow is a build with MKL (oneDNN), as images of virtual machines have it: it replaces operations by ones of its own, which the TPU's worker does not have.",
        details=("The operation is {op}.",),
        fix="""\
export TF_DISABLE_MKL=1 TF_ENABLE_ONEDNN_OPTS=0        # before Python starts, or os.environ before TensorFlow is imported
# else the stock build, of the TPU's version:
pip install --force-reinstall tensorflow==VERSION_OF_THE_TPU_NODE""",
        useless="creating the TPU again does not help: the operations are replaced on the client",
        citations=("tensorflow/tensorflow#45963",),
        example="NotFoundError: Op type not registered '_MklConv2D' in binary running on n-0a1b2c3d-w-0.",
        near_miss="NotFoundError: Op type not registered 'RegexSplitWithOffsets' in binary running on n-0a1b2c3d-w-0.",
    ),
    KnownError(
        id="E07",
        family="version-skew",
        phase=Phase.CONNECTING,
        patterns=(
            r"(?P<op>\w{1,80})' is neither a type of a primitive operation nor a name of a function registered in binary running on",
            r"Op type not registered '(?P<op>\w{1,80})' in binary running on n-",
            r"Op type not registered '(?P<op>\w{1,80})' in binary running on t1v-n-",
            r"Op type not registered '(?P<op>XRT\w{1,60}|ExperimentalRebatchDataset)'",
            r"filesystem registered under the 'gs://' scheme was not a",
            r"mesh_shape`? must be a vector of size \d",
            r"NodeDef mentions attr '(?P<op>\w{1,60})' not in Op",
        ),
        cause="The TensorFlow of the client and that of the TPU Node are of different versions: the node does not know an operation.",
        details=("The operation is {op}.",),
        fix="""\
pip install "tensorflow==VERSION_OF_THE_TPU_NODE"
# or create the TPU Node with the client's version:
#   gcloud compute tpus create NAME --version="$(python -c 'import tensorflow as tf; print(tf.__version__)')" ...
# in Colab, before anything else: from cloud_tpu_client import Client
#   Client().configure_tpu_version(tf.__version__, restart_type="ifNeeded")""",
        citations=(
            "tensorflow/tensorflow#34391",
            "tensorflow/tensorflow#48602",
            "tensorflow/tpu#785",
            "tensorflow/tensorflow#39550",
            "tensorflow/tensorflow#27339",
            "pytorch/xla#659",
        ),
        example="NotFoundError: '_EagerConst' is neither a type of a primitive operation nor a name of a function registered in binary running on n-d02110c1-w-0. Make sure the operation or function is registered in the binary running in this process.",
        near_miss="NotFoundError: Op type not registered 'SentencepieceOp' in binary running on laptop. Make sure the Op and Kernel are registered.",
        yields_to=("E630", "E920"),
    ),
    KnownError(
        id="E08",
        family="version-skew",
        phase=Phase.CONNECTING,
        patterns=(
            r"NodeDef expected inputs 'string' do not match 0 inputs specified.{0,60}?_Send",
            r"(?:Initializing the TPU system|initialize_tpu_system|Clearing out eager caches).{0,1500}?NodeDef expected inputs",
            r"Attempt to access beyond input size: \d{1,3} >= \d{1,3}",
        ),
        cause="A newer TensorFlow client (a nightly, a release candidate, one that pip upgraded) talks to an older TPU runtime.",
        fix="""\
python -c "import tensorflow as tf; print(tf.__version__)"   # the client
# install the TensorFlow release that the TPU runtime has, not a nightly
pip uninstall -y tf-nightly && pip install "tensorflow==VERSION_OF_THE_TPU_RUNTIME"
# or the node takes the client's version, before anything else is asked of it (Colab, a TPU Node):
#   from cloud_tpu_client import Client; Client().configure_tpu_version(tf.__version__, restart_type="ifNeeded")""",
        citations=("tensorflow/tensorflow#40196",),
        example="InvalidArgumentError: NodeDef expected inputs 'string' do not match 0 inputs specified; Op<name=_Send; signature=tensor:T -> ; attr=T:type; attr=tensor_name:string>; NodeDef: {{node _Send}}",
        near_miss="InvalidArgumentError: NodeDef expected inputs 'float, float' do not match 1 inputs specified; Op<name=Add; signature=x:T, y:T -> z:T>",
    ),
    KnownError(
        id="E68",
        family="op-not-registered",
        phase=Phase.BUILDING,
        kind=Kind.BROAD,
        patterns=(
            r"Op type not registered '(?P<op>\w{1,80})' ",
            r"Graph ops missing from the python registry \(\{'(?P<op>\w{1,60})'",
            r"No op named (?P<op>\w{2,60}) in defined operations",
            r"Op type not registered '(?P<op>\w{2,80})'",
            r"is neither a type of a primitive operation nor a name of a function",
        ),
        cause="The TensorFlow that loads the graph does not know an operation: the graph was made by a newer TensorFlow, or the operation belongs to a library that is not imported (tensorflow_text, tensorflow_addons), or the worker's version differs.",
        details=("The operation is {op}.",),
        fix="""\
import tensorflow_text   # or the library that the operation belongs to, before the model is loaded
pip install "tensorflow==VERSION_THAT_SAVED_THE_MODEL"     # and the same version on the TPU worker""",
        citations=("deepmodeling/DMFF#172",),
        example="NotFoundError: Op type not registered 'XlaSharding' in binary running on node1. Make sure the Op and Kernel are registered in the binary running in this process.",
        yields_to=("E630",),
    ),
)
