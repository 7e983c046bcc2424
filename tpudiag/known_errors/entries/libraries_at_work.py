# ruff: noqa: E501  (texts of other programs stay as they are)
"""HDF5, variables of two kinds, remarks of libraries, and errors of which only the place is known."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E509",
        family="h5-file",
        phase=Phase.SAVING,
        patterns=(
            r"unable to lock file, errno = (?P<errno>\d{1,3})",
            r"Unable to (?:synchronously )?(?:create|open|flush|truncate|close|write|read) (?:the )?(?:file|dataset|group|attribute|link|object|data).{0,120}?(?:errno|unable to|name already exists|doesn't exist|can't|no write intent|object header|write failed)",
            r"Unable to create (?:link|dataset|group|attribute) \(",
            r"Can't (?:open|create|read|write|decode|synchronously (?:read|write)) (?:attribute|dataset|data|group|object|file)",
            r"requires `?h5py(?!\S)(?! ?[<>=~])",
            r"(?:object|link) name already exists",
            r"HDF5ExtError",
            r"hdf5.{0,40}?header .{0,20}?version .{0,20}?(?:mismatch|differ)",
            r"Headers are \d\.\d{1,2}\.\d{1,2}, library is",
        ),
        cause="HDF5 cannot do with the file what Keras asks of it: a lock on a network or bucket mount (NFS, gcsfuse, Drive) that has none or that another process holds, two layers or weights of one name, a file that is missing, cut off or not open for writing, or h5py itself is missing.",
        details=("The error number is {errno}.",),
        fix="""\
export HDF5_USE_FILE_LOCKING=FALSE                     # locks on NFS, gcsfuse, Drive (errno 11, 35, 95, 524); before the program starts
model.save_weights("/tmp/w.weights.h5")                 # a local disk first, then: gcloud storage cp /tmp/w.weights.h5 gs://BUCKET/
model.save("model.keras")                               # Keras 3; names of layers unique: layer._name = "dense_a" before building
pip install h5py
h5ls -r FILE | head                                      # what the file holds; a size of some hundred bytes is no weights file""",
        citations=("douglas125/SpeechCmdRecognition#1", "kiharalab/DOVE#9"),
        example="OSError: Unable to open file (unable to lock file, errno = 95, error message = 'Operation not supported')",
        yields_to=("E120", "E119", "E205", "E478", "E219"),
    ),
    KnownError(
        id="E510",
        family="two-kinds-of-variable",
        phase=Phase.BUILDING,
        patterns=(
            r"Passed in object .{1,200}?not tf\.Tensor or tf\.Variable",
            r"has no attribute '(?:overwrite_with_gradient|_shared_name|_handle_name|regularizer|_unique_id_|_uniform_replicas)'",
            r"'(?:Keras)?Variable' object has no attribute '(?P<name>\w{1,40})'",
            r"KerasVariable.{0,120}?(?:not (?:tf\.|a tf)|cannot|Error|unsupported|has no)",
            r"'(?:\w{0,12}ResourceVariable)' object has no attribute '(?P<name>\w{1,40})'",
            r"Cannot convert a Keras Variable",
        ),
        cause="A tf.Variable stands where Keras 3 wants a Keras variable, or the reverse: Keras 3's optimizers take variables of Keras layers, and TensorFlow's tape, metrics of libraries or TensorFlow Probability take tf.Variable.",
        details=("It was asked for {name}.",),
        fix="""\
weight = self.add_weight(shape=(), initializer="zeros", name="scale")     # in place of tf.Variable inside layers and models of Keras 3
grads = tape.gradient(loss, model.trainable_variables)                     # no tape.watch: trainable variables are watched anyway
tape.watch([v.value for v in model.trainable_variables])                   # where it must be: the tf.Variable inside a Keras variable
pip install --no-deps "<<keras2>>"; export TF_USE_LEGACY_KERAS=1                 # libraries that want Keras 2 (the tf-keras of your TensorFlow)""",
        citations=("keras-team/keras#19874", "logictensornetworks/logictensornetworks#33"),
        example="ValueError: Passed in object <KerasVariable shape=(1, 64), dtype=float32, path=dense/kernel> of type 'Variable', not tf.Tensor or tf.Variable or ExtensionType.",
    ),
    KnownError(
        id="N16",
        family="type-remarks",
        phase=Phase.BUILDING,
        level="info",
        patterns=(
            r"is casting an input tensor from dtype",
            r"to have all layers default to",
            r"Casting complex values to real discards",
            r"The dtype of the (?:source|target|watched) tensor must be floating",
            r"Explicitly requested dtype .{1,40}? (?:is not available|requested in)",
        ),
        cause="No error: a layer or array was cast to another number type (float64 from NumPy to float32, or to the policy's type); the result is that of the smaller type.",
        fix="""\
x = x.astype("float32")                                             # before the dataset: no cast in each step
keras.mixed_precision.set_global_policy("mixed_bfloat16")            # where bfloat16 is meant: a policy, not set_floatx""",
        citations=("tensorflow/tensorflow#37926",),
        example="WARNING:tensorflow:Layer compress is casting an input tensor from dtype bfloat16 to the layer's dtype of float16, which is new behavior in TensorFlow 2.",
    ),
    KnownError(
        id="N17",
        family="pretrained-remarks",
        phase=Phase.BUILDING,
        level="info",
        patterns=(
            r"Some (?:weights|layers) (?:of|from) the model checkpoint at .{1,120}? were not used",
            r"(?:weights|layers) of \w{1,60} were not initialized from the (?:PyTorch )?model",
            r"You should probably TRAIN this model on a down-?stream task",
            r"has backpropagation operations that are NOT supported on CPU",
            r"The current process just got forked, after parallelism has already been used",
            r"This IS (?:NOT )?expected if you are initializing",
            r"`?resume_download`? is deprecated",
            r"Special tokens have been added in the vocabulary",
            r"model checkpoint layers were used when initializing",
        ),
        cause="No error: Transformers says which weights of the checkpoint it did not need (the head of another task) or made anew (the head of yours, which training will fill); expected unless the very same model was to be restored.",
        fix="""\
# nothing to do for fine-tuning; for prediction load the fine-tuned checkpoint itself, by the class it was saved from
export TOKENIZERS_PARALLELISM=false TRANSFORMERS_VERBOSITY=error        # hides the remarks""",
        citations=("huggingface/transformers#5851",),
        example="Some weights of the model checkpoint at bert-base were not used when initializing TFBertModel: ['nsp___cls']",
    ),
    KnownError(
        id="N18",
        family="callback-remarks",
        phase=Phase.EXECUTING,
        level="info",
        patterns=(
            r"Your input callback is not one of the predefined Callbacks",
            r"Method \(on_train_batch_(?:begin|end)\) is slow compared",
            r"Callback method `?on_\w{3,6}_batch_(?:begin|end)`? is slow compared",
            r"multiprocessing can interact badly with TensorFlow",
            r"Model failed to serialize as JSON",
            r"saving your model as an HDF5 file via",
            r"The (?:calling|parameter|`?\w{1,20}`? argument).{0,30}? is deprecated and will be removed",
            r"Your `?PyDataset`? class should call `?super\(\)\.__init__",
        ),
        cause="No error: Keras remarks on callbacks, formats and arguments; training goes on. A callback that is slow in each batch does cost time: on a TPU it also waits for the step's values.",
        fix="""\
model.compile(..., steps_per_execution=50)          # callbacks of batches run once for 50 steps
# work of a callback that must not slow the step: at the end of the epoch""",
        citations=("tensorflow/tensorflow#28334",),
        example="WARNING:tensorflow:Callback method `on_train_batch_end` is slow compared to the batch time (batch time: 0.0051s vs `on_train_batch_end` time: 0.0300s). Check your callbacks.",
    ),
    KnownError(
        id="E511",
        family="somewhere-in-keras",
        phase=Phase.BUILDING,
        kind=Kind.CONSEQUENCE,
        patterns=(
            r"keras/(?:src/|engine/|python/)?(?:saving|engine/saving|models|trainers|training|engine|layers|optimizers|losses|metrics|callbacks|backend|utils)[/\w]{0,60}\.py.{0,900}?(?:Value|Type|Attribute|Runtime|Key|NotImplemented|InvalidArgument|Import)Error: ",
            r"keras/[\w/]{1,60}\.py\", line \d{1,5}, in .{0,600}?Error: ",
        ),
        cause="Keras raised this; its last sentence says what it refuses, the deepest line of your own script above says where. Which of the usual causes it is, the place in Keras tells.",
        fix="""\
python -c "import keras, tensorflow as tf; print(keras.__version__, tf.__version__)"     # Keras 3 where the script is for Keras 2?
keras.config.disable_traceback_filtering()                        # the whole traceback
print(dataset.element_spec); model.summary()                       # shapes and types on both sides
pip install --no-deps "<<keras2>>"; export TF_USE_LEGACY_KERAS=1         # a script for Keras 2 as it is (the tf-keras of your TensorFlow)""",
        rivals=(
            Rival(
                cause="a model or weights that this Keras cannot read: another release, classes of your own that are not registered",
                look_for="saving, serialization, load_model, from_config in the traceback",
                decide="unzip -p model.keras metadata.json; pip show keras",
                cues=(
                    r"keras/[\w/]{0,40}saving",
                    r"serialization",
                    r"from_config",
                    r"load_weights",
                ),
                families=("load-model", "save-format", "checkpoint-mismatch"),
            ),
            Rival(
                cause="data that do not fit the model: structure, shapes, types of the dataset's elements",
                look_for="data_adapter, compile_utils, input_spec, losses, metrics in the traceback",
                decide="print(dataset.element_spec, model.input, model.output)",
                cues=(
                    r"data_adapter",
                    r"compile_utils",
                    r"input_spec",
                    r"keras/[\w/]{0,40}losses",
                    r"keras/src/metrics",
                    r"keras/metrics",
                ),
                families=("data-adapter", "input-structure", "shape-conflict", "keras-argument"),
            ),
            Rival(
                cause="an optimizer of another Keras or with other arguments",
                look_for="optimizers, optimizer_v2 in the traceback",
                decide='grep -nE "import.*keras|optimizer" train.py',
                cues=(r"keras/[\w/]{0,40}optimizers?/", r"optimizer_v2"),
                families=("optimizer-arguments", "two-keras", "optimizer-variables"),
            ),
        ),
        evidence="recalled",
        example='File "/venv/lib/python3.11/site-packages/keras/src/layers/layer.py", line 901, in __call__\n    raise ValueError(\nValueError: something that no entry knows',
        yields_to=("R01", "R02", "R03"),
    ),
    KnownError(
        id="E512",
        family="somewhere-in-the-data",
        phase=Phase.READING,
        kind=Kind.CONSEQUENCE,
        patterns=(
            r"tensorflow\w{0,6}/python/data/[\w/]{1,60}\.py.{0,900}?(?:Value|Type|Attribute|Runtime|Key|NotImplemented|InvalidArgument)Error: ",
            r"tensorflow_datasets/core/[\w/]{1,60}\.py.{0,900}?(?:Value|Type|Attribute|Runtime|Key|NotImplemented|Assertion|NotFound|FileNotFound|Import)Error: ",
            r"Error.{0,400}?ParseExampleV2\}\}",
            r"Error.{0,400}?(?:DecodeJpeg|DecodePng|DecodeImage)\w{0,6}\}\}.{0,60}?IteratorGetNext",
            r"Error executing .{0,200}?MapDataset",
        ),
        cause="The data pipeline failed: an element cannot be made, read, decoded or batched. The first sentence of the error says why; the operation in {{node ...}} says in which transformation.",
        fix="""\
for element in dataset.take(1): print(tf.nest.map_structure(lambda t: (t.shape, t.dtype), element))     # with no TPU at all: fails here too?
tf.data.experimental.enable_debug_mode()                      # before the dataset: runs map functions in Python, names your line
dataset = dataset.apply(tf.data.experimental.ignore_errors(log_warning=True))     # or dataset.ignore_errors(): what may be left out""",
        evidence="recalled",
        example="InvalidArgumentError: something new [[{{node ParseSingleExample/ParseExample/ParseExampleV2}}]]",
        yields_to=("R01", "R02", "R03", "N01"),
    ),
    KnownError(
        id="E513",
        family="somewhere-in-a-checkpoint",
        phase=Phase.SAVING,
        kind=Kind.CONSEQUENCE,
        patterns=(
            r"tensorflow\w{0,6}/python/(?:checkpoint|saved_model|training/(?:saver|saving|tracking|checkpoint))[\w/]{0,60}\.py.{0,900}?Error: ",
            r"Error.{0,600}?RestoreV2\w{0,6}\}\}",
        ),
        cause="Saving or restoring failed: a path that cannot be read or written, a checkpoint of another model or another TensorFlow, or an object that cannot be saved.",
        fix="""\
gcloud storage ls "PATH*"; ls PATH*                                # all files of the prefix are there
for name, shape in tf.train.list_variables(PATH): print(name, shape)   # what the checkpoint holds
tf.train.Checkpoint(model=model).restore(PATH).expect_partial()         # the model alone""",
        evidence="recalled",
        example='File "/venv/lib/python3.11/site-packages/tensorflow/python/checkpoint/checkpoint.py", line 1, in restore\n    raise\nValueError: something that no entry knows',
        yields_to=("R03",),
    ),
)
