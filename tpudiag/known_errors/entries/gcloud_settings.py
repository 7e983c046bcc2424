# ruff: noqa: E501  (texts of other programs stay as they are)
"""Settings of gcloud and its client library, and what a TPU's state says."""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Phase

ERRORS = (
    KnownError(
        id="E747",
        family="gcloud-settings",
        phase=Phase.CREATING,
        patterns=(
            r"The required property \[(?P<name>[\w/]{1,40})\] is not currently set",
            r"resource is not properly specified\. {0,2}Failed to find attribute \[(?P<name>\w{1,30})\]",
            r"Error parsing \[\w{1,30}\]\. {0,2}The \[\w{1,30}\] resource is not properly specified",
            r"gcloud[\w.-]{1,60}\) argument (?P<name>--?[\w-]{1,40}|[A-Z_]{2,40}): Must be specified",
            r"You do not currently have an active account selected",
            r"There was a problem with web authentication",
            r"Reauthentication (?:failed|required)\. (?:cannot prompt|Please run)",
        ),
        cause="gcloud is not told which project, zone or account it acts for, or a required option is missing: nothing stands in the command and nothing in its configuration.",
        details=("What is missing: {name}.",),
        fix="""\
gcloud auth login                                           # and gcloud auth application-default login for the Python clients
gcloud config set project PROJECT_ID; gcloud config set compute/zone ZONE
gcloud compute tpus tpu-vm ssh NAME --zone=ZONE --project=PROJECT_ID       # or in the command itself
gcloud config list; gcloud auth list                        # what is set now""",
        citations=("vllm-project/vllm#19664",),
        example="ERROR: (gcloud.compute.tpus.tpu-vm.ssh) The required property [project] is not currently set.",
    ),
    KnownError(
        id="E748",
        family="tpu-start-and-stop",
        phase=Phase.CREATING,
        patterns=(
            r"[Pp]reemptible (?:TPUs?|nodes?).{0,40}?(?:cannot|can't|can not) be (?:started|stopped|restarted)",
            r"Cloud TPU.{0,80}?(?:stop|start) a TPU pod",
            r"(?:stop|start) a TPU pod",
            r"(?:stop|start)(?:ping|ing)? is not supported (?:for|on) (?:TPU )?(?:pods|slices|queued)",
            r"Cannot (?:stop|start) .{0,80}?(?:multi-?host|[Pp]od|preempt)",
        ),
        cause="Not every TPU can be stopped and started: a slice of several hosts cannot, and one that was preempted can only be deleted and made again.",
        fix="""\
gcloud compute tpus tpu-vm delete NAME --zone=ZONE          # and create it again; what is worth keeping lies in a bucket or on a disk of its own
gcloud compute tpus queued-resources create REQUEST --node-id=NAME --zone=ZONE --accelerator-type=TYPE --runtime-version=VERSION --spot""",
        evidence="recalled",
        example="ERROR: (gcloud.compute.tpus.tpu-vm.stop) INVALID_ARGUMENT: You can't stop a TPU pod",
    ),
    KnownError(
        id="E750",
        family="google-client-library",
        phase=Phase.RESOLVING,
        patterns=(
            r"UnknownApiNameOrVersion: name: (?P<name>[\w.]{1,30})",
            r"googleapiclient must be installed before using the TPU",
            r"oauth2client (?:must be|is not) installed",
            r"cannot import name 'discovery' from 'googleapiclient",
            r"file_cache is (?:only supported with|unavailable when using) oauth2client.{0,600}?(?:Error|Exception):",
        ),
        cause="The Python library with which TPUClusterResolver asks for the TPU (google-api-python-client) is missing or does not fit: TensorFlow does not install it, and old releases want oauth2client beside it.",
        fix="""\
pip install --upgrade google-api-python-client google-auth-httplib2 oauth2client
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="grpc://IP:8470")       # by address: nobody is asked
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")                # on a TPU VM""",
        evidence="recalled",
        example="ImportError: googleapiclient must be installed before using the TPU cluster resolver. Execute: `pip install --upgrade google-api-python-client`",
    ),
    KnownError(
        id="E751",
        family="gsutil-arguments",
        phase=Phase.READING,
        patterns=(
            r"CommandException: Destination .{1,120}? must match exactly 1 URL",
            r"CommandException: \"\w{1,20}\" command does not support",
            r"CommandException: (?:Arg must name an existing directory|Invalid (?:option|number)|Wrong number of arguments|The \w{1,10} command accepts)",
            r"InvalidUrlError: (?:Unrecognized scheme|Invalid bucket name)",
        ),
        cause="gsutil is called with something it does not take: a destination folder that is not there, a local path where gs:// belongs (or the reverse), a blank in a path without quotes.",
        fix="""\
mkdir -p DATA && gcloud storage cp --recursive "gs://BUCKET/path" DATA      # the local folder first; quotes around paths
gcloud storage ls "gs://BUCKET/path"                                          # what is there""",
        evidence="recalled",
        example="CommandException: Destination (/content/x) must match exactly 1 URL",
    ),
    KnownError(
        id="E752",
        family="generator-as-tensor",
        phase=Phase.READING,
        patterns=(
            r"unsupported type \(<class '(?P<type>generator|zip|map|filter|enumerate|itertools\.\w{1,20}|dict_values|dict_keys|range_iterator)'>\) to a Tensor",
            r"Failed to convert object of type <class '(?P<type>generator|zip|map|filter|enumerate)'> to Tensor",
            r"Failed to find data adapter that can handle input: <class '(?P<type>zip|map|filter|enumerate)'>",
        ),
        cause="A Python generator, zip or map object is taken for data: a generator within a tuple or a list of generators, or a map function with a `yield`, where one generator of (inputs, labels) batches or a dataset belongs.",
        details=("It is a {type}.",),
        fix="""\
def batches():
    for image, mask in zip(images, masks): yield image, mask           # one generator that yields tuples; and it is called: batches()
dataset = tf.data.Dataset.zip((image_dataset, mask_dataset)).batch(global_batch, drop_remainder=True)
dataset = tf.data.Dataset.from_generator(batches, output_signature=(tf.TensorSpec(SHAPE, tf.float32), tf.TensorSpec(SHAPE, tf.float32)))     # not on a TPU Node
def preprocess(x): return x                                              # in dataset.map: return, not yield""",
        citations=("keras-team/keras-hub#2054",),
        example="ValueError: Attempt to convert a value (<generator object preprocessing at 0x7f59f0168f40>) with an unsupported type (<class 'generator'>) to a Tensor.",
    ),
    KnownError(
        id="E753",
        family="iterator-on-tpu",
        phase=Phase.READING,
        patterns=(
            r"does not have registered OpKernel support for _Arg",
            r"No registered '(?:IteratorGetNext\w{0,20}|MultiDeviceIterator\w{0,30}|OptionalHasValue|MakeIterator)' OpKernel for (?:XLA_TPU_JIT|'?TPU)",
        ),
        cause="A function of the client (mostly that which takes the next element of the data) was placed on the TPU: in TensorFlow 2.0 and 2.1 Keras does that with generators, Sequences and ImageDataGenerator under a TPU strategy, and with all data where the program was connected by experimental_connect_to_host in place of experimental_connect_to_cluster; later ones where next(iterator) runs inside strategy.run instead of before it.",
        fix="""\
tf.config.experimental_connect_to_cluster(resolver); tf.tpu.experimental.initialize_tpu_system(resolver)     # not experimental_connect_to_host
dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(global_batch, drop_remainder=True)     # tf.data in place of a generator
pip install -U tensorflow                                    # 2.2 or newer, the same on the TPU
batch = next(iterator); strategy.run(step_fn, args=(batch,))  # the iterator outside, the batch as the argument""",
        citations=("tensorflow/tensorflow#35785",),
        example="InternalError: Assigned device '/job:worker/replica:0/task:0/device:TPU:0' does not have registered OpKernel support for _Arg\n\t [[node iteratorgetnext_iterator]]",
    ),
    KnownError(
        id="E754",
        family="compiler-fault",
        phase=Phase.COMPILING,
        patterns=(
            r"Invalid (?:start_index_map|offset_dims|collapsed_slice_dims|slice_sizes|dimension numbers)[^,\n]{0,120}?(?:, got: .{1,40}?)?, for instruction %(?P<op>\w{2,40})",
            r", for instruction %(?P<op>[\w-]{2,40}?)(?:\.\d{1,9})? = ",
            r"[Dd]uring (?:the )?(?:hlo|HLO) verif(?:ication|ier)",
            r"HloVerifier.{0,120}?(?:failed|error)",
        ),
        cause="The compiler found its own program inconsistent after one of its passes: a fault of that release of XLA for the TPU, set off by an unusual form of the operation (a stride, an empty or one-element slice, an odd gather).",
        details=("The operation is {op}.",),
        fix="""\
pip install -U "jax[tpu]"                                     # a newer compiler: libtpu comes with it; TensorFlow: a newer runtime version of the TPU
x[0:1, 0:1]                                                     # the plain form of the operation: no step in a slice that gives one element, jnp.take in place of fancy indexing
tpudiag check train.py --for v5e-8                              # lowers the step with the compiler of this machine: which line it is""",
        citations=("jax-ml/jax#1203",),
        example="RuntimeError: Invalid argument: Invalid start_index_map; domain is [0, 1), got: 1->1.\n\t, for instruction %gather.1 = f32[1]{0:T(256)} gather(f32[1]{0:T(256)} %param_0.2)",
    ),
)
