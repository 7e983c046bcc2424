# ruff: noqa: E501  (texts of other programs stay as they are)
"""Python packages that do not fit: protobuf, NumPy, Keras, extensions."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase, VersionFix

ERRORS = (
    KnownError(
        id="P43",
        family="tensorboard-missing",
        phase=Phase.INSTALLING,
        patterns=(
            r"TensorBoard is not installed, missing implementation for (?P<name>tf\.summary\.\w{1,20})?",
        ),
        cause="tf.summary is made of the package tensorboard, which TensorFlow 2.21 no longer brings along.",
        details=("It was needed for {name}.",),
        fix="pip install tensorboard",
        evidence="reproduced",
        example="TensorBoard is not installed, missing implementation for tf.summary.image",
    ),
    KnownError(
        id="E71",
        family="protobuf",
        phase=Phase.INSTALLING,
        patterns=(
            r"Descriptors cannot (?:not )?be created directly",
            r"must be regenerated with protoc",
            r"cannot import name 'builder' from 'google\.protobuf",
            r"cannot import name 'runtime_version' from 'google\.protobuf",
            r"Detected (?:incompatible|mismatched) Protobuf Gencode/Runtime version",
            r"'MessageFactory' object has no attribute 'GetPrototype'",
            r"Downgrade the protobuf package",
            r"Couldn't build proto file into descriptor pool",
            r"google\.protobuf\.descriptor' has no attribute '_internal_create_key'",
            r"TypeError: expected bytes, Descriptor found",
            r"Descriptors should not be created directly, but only retrieved",
            r"_pb2\.py.{0,700}?_descriptor\.FieldDescriptor\(",
        ),
        cause="The installed protobuf is newer (or older) than this TensorFlow or another package was generated for.",
        fix="""\
pip install "protobuf>=3.20,<3.21"      # TensorFlow up to 2.11
pip install "protobuf>=4.21,<5"         # 2.12 to 2.17
pip install "protobuf>=5.28,<6"         # 2.18 and 2.19; 2.20 and later take 6 too
pip check                               # who else wants another one""",
        useless="PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION=python hides it and makes everything slow",
        fixes=(
            VersionFix(
                package="tensorflow",
                since="2",
                before="2.12",
                fix='pip install "protobuf>=3.20,<3.21"',
            ),
            VersionFix(
                package="tensorflow",
                since="2.12",
                before="2.18",
                fix='pip install "protobuf>=4.21,<5"',
            ),
            VersionFix(
                package="tensorflow",
                since="2.18",
                before="2.20",
                fix='pip install "protobuf>=5.28,<6"',
            ),
            VersionFix(
                package="tensorflow",
                since="2.20",
                before="3",
                fix='pip install "protobuf>=5.28"',
            ),
        ),
        citations=(
            "tensorflow/tensorflow#56266",
            "tensorflow/tensorflow#59665",
            "rwth-i6/returnn#1806",
        ),
        example="TypeError: Descriptors cannot not be created directly.",
    ),
    KnownError(
        id="E72",
        family="protobuf-clash",
        phase=Phase.INSTALLING,
        patterns=(
            r"File already exists in database: \w",
            r"GeneratedDatabase\(\)->Add\(",
        ),
        cause="Two libraries with the same protobuf definitions are in one process: tensorflow (its TPU build loads libtpu at import) beside torch_xla, or two TensorFlows.",
        fix="""\
pip uninstall -y tensorflow tensorflow-tpu && pip install tensorflow-cpu    # where torch_xla or JAX trains
# where TensorFlow trains: keep torch_xla out of this environment
export USE_TF=0      # Hugging Face: do not import TensorFlow at all
# one framework for each environment; both in one process abort""",
        citations=(
            "huggingface/transformers#28609",
            "huggingface/transformers#30516",
        ),
        example="[libprotobuf FATAL external/com_google_protobuf/src/google/protobuf/descriptor.cc:1986] CHECK failed: GeneratedDatabase()->Add(encoded_file_descriptor, size):",
    ),
    KnownError(
        id="E73",
        family="numpy-2",
        phase=Phase.INSTALLING,
        patterns=(
            r"numpy\.core\.multiarray failed to import",
            r"compiled using NumPy 1\.x cannot be run in NumPy 2",
            r"_ARRAY_API not found",
            r"module 'numpy' has no attribute '(?P<name>object|bool|float|int|complex|str|typeDict|product|cumproduct|float_|unicode_|string_|Inf|NaN)'",
            r"`?np\.(?P<name>\w{1,12})`? was removed in the NumPy 2",
            r"`?np\.(?P<name>\w{1,12})`? was a deprecated alias",
            r"numpy\.dtype size changed",
            r"numpy\.ufunc size changed",
            r"numpy\.(?:ndarray|core\.[\w.]{1,40}) size changed",
            r"Unable to convert function return value to a Python type",
            r"numpy\.core\.(?:umath|_multiarray_umath|numeric|\w{1,20}) failed to import",
            r"but this version of numpy is",
            r"No module named '(?P<name>numpy\._core)",
            r"compiled against (?:API|ABI) version",
            r"numpy has no attribute '?(?P<name>__config__|_core)",
            r"`?np\.(?P<name>\w{1,12})`? has been removed",
            r"Unable to avoid copy while creating an array",
            r"undefined symbol: PyArray_API",
            r"RuntimeError: Numpy is not available",
        ),
        cause="This code, or a package in compiled form, was made for an older NumPy: TensorFlow before 2.18 needs numpy<2, and names such as np.object and np.bool are gone since 1.24.",
        details=("The name is {name}.",),
        fix="""\
pip install "numpy<2"            # TensorFlow up to 2.17 and packages that were built for NumPy 1
pip install "numpy<1.24"         # old code that says np.object, np.bool, np.float, np.int
# or change the code: np.object -> object, np.bool -> bool, np.float_ -> np.float64""",
        fixes=(
            VersionFix(
                package="tensorflow",
                since="2",
                before="2.18",
                fix='pip install "numpy<2"            # this TensorFlow was built for NumPy 1',
            ),
        ),
        evidence="recalled",
        example="ImportError: numpy.core.multiarray failed to import",
    ),
    KnownError(
        id="E74",
        family="not-installed",
        phase=Phase.INSTALLING,
        patterns=(
            r"No module named '?tensorflow'(?!\.)",
            r"ModuleNotFoundError: No module named 'tensorflow_core'",
        ),
        cause="TensorFlow is not installed in the Python that runs the script (Colab's TPU runtime comes without it since 2025; a notebook may run another Python than pip).",
        fix="""\
import sys; print(sys.executable)                       # which Python is it?
<<tpu_install>>; on a TPU VM, then restart the kernel
# no TPU here: python -m pip install tensorflow-cpu""",
        citations=("googlecolab/colabtools#5185",),
        example="ModuleNotFoundError: No module named 'tensorflow'",
    ),
    KnownError(
        id="E75",
        family="libtpu-missing",
        phase=Phase.INSTALLING,
        patterns=(
            r"libtpu\.so: cannot open shared object file",
            r"(?:Failed to open|Could not (?:find|load)|cannot load) .{0,20}?libtpu",
            r"libtpu\.so (?:was )?not found",
            r"No module named 'libtpu'",
            r"Check failed: tpu_status\.ok\(\)",
        ),
        cause="libtpu, the library that drives the TPU, is not found.",
        fix="""\
<<tpu_install>>
export TPU_LIBRARY_PATH=$(python -c "import libtpu; print(libtpu.get_library_path())")
# TPU_LIBRARY_PATH set to a place that is gone? unset it""",
        evidence="recalled",
        example="Failed to open libtpu: libtpu.so: cannot open shared object file: No such file or directory",
    ),
    KnownError(
        id="E76",
        family="crash-at-import",
        phase=Phase.INSTALLING,
        kind=Kind.BROAD,
        patterns=(
            r"Fatal Python error: (?:Segmentation fault|Aborted|Illegal instruction).{0,700}?(?:tensorflow|jaxlib|libtpu)/?\w{0,20}?.{0,60}?(?:_pb2\.py|__init__\.py|pywrap)",
            r"libtpu::\w{2,20}",
            r"SIG(?:SEGV|ABRT).{0,900}?libtpu",
            r"compiled to use (?:AVX|SSE)\w{0,9} instructions, but these aren't available",
        ),
        cause="The process crashed inside compiled code while a framework or libtpu was loaded or asked: the versions of libtpu, the framework and protobuf do not fit, or two frameworks share one process.",
        fix="""\
python -X faulthandler -c "import tensorflow"        # where does it crash?
pip install --force-reinstall "tensorflow-tpu==<<tpu_release>>"   # a version pair that fits
pip list | grep -iE "tensorflow|libtpu|jax|torch|protobuf\"""",
        citations=(
            "tensorflow/tensorflow#82208",
            "AI-Hypercomputer/cloud-accelerator-diagnostics#8",
        ),
        example="""\
Fatal Python error: Segmentation fault

Current thread 0x00007187bc013800 (most recent call first):
  File "/usr/lib/python3/dist-packages/tensorflow/core/framework/tensor_shape_pb2.py", line 16 in <module>""",
    ),
    KnownError(
        id="E79",
        family="broken-installation",
        phase=Phase.INSTALLING,
        patterns=(
            r"Invalid name:? .{0,30}?An op that loads optimization parameters into HBM for embedding",
            r"Must be preceded by a ConfigureTPUEmbeddingHost",
        ),
        cause="TensorFlow's installation is mixed or broken: files of two versions lie in one folder (tensorflow, tensorflow-cpu and tensorflow-tpu share it), or it was built for another Python.",
        fix="""\
pip uninstall -y tensorflow tensorflow-cpu tensorflow-gpu tensorflow-tpu
pip install --force-reinstall --no-cache-dir "tensorflow-tpu==<<tpu_release>>"     # one of them, in a fresh environment""",
        citations=(
            "tensorflow/tensorflow#23386",
            "RasaHQ/rasa#3119",
        ),
        example="""\
InvalidArgumentError: Invalid name:
An op that loads optimization parameters into HBM for embedding. Must be""",
    ),
    KnownError(
        id="E80",
        family="custom-op-library",
        phase=Phase.INSTALLING,
        patterns=(
            r"undefined symbol: _ZN\d{1,3}tensorflow\w{0,120}",
            r"undefined symbol: _ZNK?\d{1,3}(?:tensorflow|absl|tsl|xla|tflite)\w{0,160}",
            r"libtensorflow_framework\.(?:so|\d)[\w.]{0,12}.{0,60}?(?:not loaded|not found|cannot open|image not found|no such file)",
            r"Library not loaded: .{0,60}?libtensorflow",
            r"tensorflow_(?:text|io|addons|recommenders_addons|decision_forests)[\w/\\.]{0,120}?\.(?:so|dylib).{0,30}?(?:not found|no such file|undefined)",
            r"unable to open file: libtensorflow_io\w{0,20}\.so",
            r"unable to load libtensorflow_io",
            r"unable to open file: libtensorflow_io",
        ),
        cause="A compiled extension (custom op, tensorflow_text, tensorflow_io, reverb) was built against another version of TensorFlow than the one installed.",
        fix="""\
pip list | grep -i tensorflow
pip install "tensorflow-text==THE_VERSION_OF_TENSORFLOW"      # the extension of the same version
# an op of your own: compile it again with tf.sysconfig.get_compile_flags() and get_link_flags()""",
        citations=("tensorflow/serving#880",),
        example="tensorflow.python.framework.errors_impl.NotFoundError: ./kernels.so: undefined symbol: _ZN10tensorflow8internal21CheckOpMessageBuilder9NewStringB5cxx11Ev",
    ),
    KnownError(
        id="E81",
        family="keras-release",
        phase=Phase.BUILDING,
        patterns=(
            r"creating distributed tf\.Variable with aggregation=MEAN and a non-floating dtype",
            r"aggregation=MEAN and a non-floating dtype is not supported",
        ),
        cause="A bug of Keras 3.7 under a distribution strategy: integer variables (seeds, counters, the loss scale) are created with aggregation MEAN.",
        fix='pip install "keras>=3.8"        # or keras==3.6.0',
        citations=(
            "keras-team/keras#20700",
            "keras-team/keras#20541",
            "tensorflow/tensorflow#82281",
        ),
        example="ValueError: creating distributed tf.Variable with aggregation=MEAN and a non-floating dtype is not supported, please use a different aggregation or dtype",
    ),
    KnownError(
        id="E11",
        family="host-compiled",
        phase=Phase.COMPILING,
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
            "googlecolab/colabtools#5124",
        ),
        example="""\
NotFoundError: Graph execution error:
could not find registered transfer manager for platform Host -- check target linkage
      [[{{node StatefulPartitionedCall}}]] [Op:__inference_multi_step_on_iterator_33145]""",
        near_miss="NotFoundError: could not find registered computation placer for platform Host -- check target linkage",
    ),
)
