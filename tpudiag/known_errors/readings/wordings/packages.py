# ruff: noqa: E501  (sentences and what is pasted stay in one piece)
"""Wordings of packages that do not belong together."""

from __future__ import annotations

from .wording import Wording, Wordings

PACKAGES: Wordings = {
    "E514 E518": (
        Wording(
            r"google[./]protobuf.{0,160}?cannot import name '?(?P<name>descriptor|message|reflection|symbol_database|runtime_version|builder|text_format|internal)\b",
            "protobuf itself is at fault: the package that Python finds is damaged, of another release than TensorFlow's generated files (`runtime_version`: they are newer; `builder`: newer than 3.19), or another folder named google hides it. TensorFlow's own files import `<<name>>` from it.",
            "python -c 'import google.protobuf as p; print(p.__version__, p.__file__)'      # which one it is\npip uninstall -y protobuf google; pip install --force-reinstall protobuf      # once; then pip check: the release that TensorFlow asks for",
            "from google.protobuf import descriptor as _descriptor ImportError: cannot import name 'descriptor'",
        ),
    ),
    "E80": (
        Wording(
            r"tensorflow_gcs_config[/\\]",
            "tensorflow-gcs-config (gs:// credentials of T5's notebooks) is compiled for one TensorFlow release, and another is installed.",
            "pip install \"tensorflow-gcs-config==$(python -c 'import tensorflow as tf; print(tf.__version__)')\"      # the release of TensorFlow; then restart the notebook\n%env USE_AUTH_EPHEM=0                                      # newer Colab: sign in without it: from google.colab import auth; auth.authenticate_user()",
            "NotImplementedError: unable to open file: _gcs_config_ops.so, from paths: ['/usr/lib/tensorflow_gcs_config/_gcs_config_ops.so'] undefined symbol: _ZN10tensorflow15OpKernelContext5inputE",
        ),
        Wording(
            r"tensorflow_addons[/\\].{0,200}?undefined symbol: __cuda",
            "The compiled operations of tensorflow-addons (tfa.image.*) want a TensorFlow that is built with CUDA, and that of a TPU VM or the CPU wheel is not.",
            "export TF_ADDONS_PY_OPS=1                                  # addons 0.11 and later: the operations written in Python\naugment = tf.keras.layers.RandomRotation(0.1)              # in place of tfa.image.rotate; RandomTranslation for translate",
            "NotFoundError: tensorflow_addons/custom_ops/image/_image_ops.so: undefined symbol: __cudaPushCallConfiguration",
        ),
        Wording(
            r"tensorflow_(?P<name>text|io|addons|decision_forests|recommenders_addons)[/\\]",
            "tensorflow_<<name>>'s compiled part is built for another TensorFlow release than the one installed.",
            'pip install "tensorflow-<<name>>==THE_RELEASE_FOR_THIS_TENSORFLOW"      # text: the same major.minor as TensorFlow; io and addons: the table in their README\npip install --no-deps ...                                                # where pip would replace tensorflow-tpu',
            "tensorflow_text/python/ops/_normalize_ops.so: undefined symbol: _ZN10tensorflow8OpKernel11TraceStringE",
        ),
    ),
    "E166": (
        Wording(
            r"Missing XLA configuration",
            "torch_xla is installed and looks for a TPU that it was not told of: on a machine without a TPU (a GPU notebook, Vertex AI, where Trainer takes the mere presence of torch_xla for a TPU), or on a TPU VM where PJRT_DEVICE is not set.",
            "pip uninstall -y torch_xla             # no TPU is meant: GPU or CPU\nexport PJRT_DEVICE=TPU                 # on a TPU VM; unset XRT_TPU_CONFIG and COLAB_TPU_ADDR",
            "RuntimeError: tensorflow/compiler/xla/xla_client/computation_client.cc:274 : Missing XLA configuration",
        ),
    ),
    "E630": (
        Wording(
            r"Op type not registered 'Addons>(?P<op>\w{1,50})'",
            "`<<op>>` is a compiled operation of tensorflow-addons: only the client has it, and neither a TPU Node's worker nor the TPU's program can run it.",
            "augment = tf.keras.layers.RandomRotation(0.1)              # in place of tfa.image.rotate; RandomTranslation, RandomZoom for translate, transform\nexport TF_ADDONS_PY_OPS=1                                  # addons 0.11 and later: operations in Python, where they exist\n# or write the augmented images to TFRecord files beforehand; on a TPU VM dataset.map may use tfa",
            "NotFoundError: Op type not registered 'Addons>ImageProjectiveTransformV2' in binary running on n-cf493c1a-w-0.",
        ),
    ),
    "E553 E412": (
        Wording(
            r"to 'tpu_replicated_input' Op, not",
            "The released mesh-tensorflow is older than this TensorFlow, whose tpu_replicated_input wants a list.",
            'pip install ./mesh                             # mesh-tensorflow from a clone of tensorflow/mesh: its source has the change\npip install "tensorflow==2.8.*"                               # or the TensorFlow of its time, on the TPU the same',
            "TypeError: Expected list for 'inputs' argument to 'tpu_replicated_input' Op, not 'shared/embedding'.",
        ),
        Wording(
            r"logical_shape=\[(?P<logical>[\d, ]{1,40})\] ?physical_shape=\[(?P<physical>[\d, ]{1,40})\]",
            "The mesh has <<logical>> cores and the TPU [<<physical>>]: model parallelism x data parallelism is set for a TPU of another size.",
            '--gin_param="utils.tpu_mesh_shape.tpu_topology = \'v3-8\'" --gin_param="utils.tpu_mesh_shape.model_parallelism = 1"      # the TPU that is there',
            "auto_logical_to_physical_tpu logical_shape=[128] physical_shape=[2, 2, 2] ValueError: physical and logical shapes must have the same product",
        ),
    ),
    "E486 E216": (
        Wording(
            r"Could not load dataset info from|read_from_json.{0,600}?dataset_info\.json|No such file or directory: '(?!/|gs:)[\w./-]{1,120}dataset_info\.json",
            "The description of the data set is looked for at a path without its beginning (gs:// was lost), or where nothing was prepared: TensorFlow Datasets 4.9.4 has that fault for data in buckets.",
            'pip install "tensorflow-datasets==4.9.3"      # or a later release than 4.9.4\nbuilder = tfds.builder_from_directory("gs://BUCKET/NAME/1.0.0")      # the folder that holds dataset_info.json',
            "FileNotFoundError: [Errno 2] No such file or directory: 'fractal20220817_data/0.1.0/dataset_info.json' Could not load dataset info from fractal20220817_data/0.1.0/dataset_info.json",
        ),
    ),
    "E20": (
        Wording(
            r"It should not be possible to run out of vmem",
            "A fault of this release's compiler: it planned more on-chip memory (vmem) than there is, which no size of batch or model causes by itself. Lookups in a table that is given in parts (tf.nn.embedding_lookup of a list), large gathers and scatters set it off.",
            "rows = tf.gather(tf.concat(tables, axis=0), ids)      # one table in place of a list of parts; or a one-hot matmul for small ones\npip install -U tensorflow                             # and a newer runtime version of the TPU: a newer compiler; report what is left",
            "Ran out of memory in memory space vmem. It should not be possible to run out of vmem - please file a bug against XLA.",
        ),
    ),
}
