# ruff: noqa: E501  (texts of other programs stay as they are)
"""Models that Keras or tf.saved_model cannot save, export or load."""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E474",
        family="load-model",
        phase=Phase.SAVING,
        patterns=(
            r"Could not locate (?:class|function) \W?(?P<name>\w{1,60})\W{0,3}\. ?Make sure custom (?:classes|functions)",
            r"[Cc]ould not be deserialized properly",
            r"Could not deserialize (?:class|function)? ?\W?(?P<name>[\w.]{1,60})",
            r"Cannot deserialize object of type \W?(?P<name>\w{1,60})",
            r"Unable to (?:reconstruct|revive) (?:an instance of|model from config|layer)",
            r"Unable to restore (?:a )?(?:custom )?(?:object|layer|model) of (?:type|class)",
            r"Unable to restore a layer of class (?P<name>\w{1,60})",
            r"Could not parse config:",
            r"get_config\(\)`? method of .{1,80}? should return a dict",
            r"class must implement the `?get_config\(\)`? method",
            r"Cannot register a class that does not have a get_config",
            r"Requested the deserialization of (?:a|an) ",
            r"Invalid Functional model configuration",
            r"Cannot deserialize the model \(invalid config data",
            r"Unexpected object from deserialization",
            r"Expected 'config' to be",
            r"Cannot serialize object .{1,120}? of type",
            r"Improper config format",
            r"(?:not a|isn't a) (?:valid )?Keras (?:model|config)",
            r"because it is not a (?:modeling function|KerasSaveable)",
            r"from_config\(\) (?:got an unexpected|missing)",
            r"Unrecognized keyword arguments(?: passed to \w{1,40})?: ?\{'?(?P<argument>batch_shape|optional|quantization_config|ragged|input_dtype)",
            r"Unable to create a (?:TF-)?Keras model from SavedModel",
            r"Error loading model\(s\) in the SavedModel format",
            r"call function was not serialized to the SavedModel",
            r"Cannot parse keras metadata",
            r"Improperly formatted model config",
            r"Could not interpret serialized",
            r"because it doesn't implement `?get_config",
            r"bad marshal data",
            r"unknown opcode",
            r"code\(\) (?:argument|takes)",
            r"Unable to decode (?:TF-)?Keras layer config",
        ),
        cause="The file's configuration names something that cannot be made here: a class or function of your own that is not registered when the file is loaded, one without get_config, or one of another Keras release than the one that saved it.",
        details=("It is {name}.", "The argument is {argument}."),
        fix="""\
@keras.saving.register_keras_serializable(package="mine")        # above each class and function of your own, imported before load_model
class Block(keras.layers.Layer):
    def get_config(self): return {**super().get_config(), "units": self.units}
model = keras.models.load_model("model.keras", custom_objects={"Block": Block}, compile=False)   # safe_mode=False for a Lambda you trust
model = build_model(); model.load_weights("model.weights.h5")     # or rebuild it in code: weights alone know no classes
pip show keras | grep Version                                      # a file of a newer Keras needs that Keras (file's metadata.json: unzip -p model.keras metadata.json)""",
        citations=("keras-team/keras#19899", "tensorflow/tensorflow#62564"),
        example="TypeError: Could not locate class 'TokenAndPositionEmbedding'. Make sure custom classes are decorated with `@keras.saving.register_keras_serializable()`.",
    ),
    KnownError(
        id="E475",
        family="save-format",
        phase=Phase.SAVING,
        patterns=(
            r"argument\(s\) are not supported: ?\W{1,4}(?P<argument>save_format|options|signatures|save_traces|include_optimizer)",
            r"following argument\(s\) are not supported (?:with|when) .{0,80}?format",
            r"`?by_name`? only supports loading legacy",
            r"Invalid keyword arguments: ?.{0,30}?(?:by_name|skip_mismatch|options)",
            r"Expected a (?:model\.)?weights\.(?:h5|npz|json)",
            r"Please specify a non-directory filepath for ModelCheckpoint",
            r"Directory doesn't exist: ",
            r"Checkpoint does not contain model configuration",
            r"`?options`? argument.{0,60}?not supported.{0,60}?(?:keras|native)",
            r"Unrecognized format=.{1,40}?Supported formats",
            r"requires the `?h5py`? package",
            r"h5py must be installed",
            r"Loading (?:HDF5|weights saved in HDF5).{0,40}?requires",
            r"Unable to load model\. Filepath is not an hdf5",
            r"No model config found in the file",
            r"Unknown `?save_format",
            r"Unknown format\. Received",
            r"save_weights got save_format",
            r"appears to be a SavedModel directory",
            r"skip_mismatch can only be set to True when",
            r"Weights may only be loaded based on topology",
            r"cannot be saved to HDF5 file because they are larger",
            r"(?:model\.to_yaml|model_from_yaml)\(\)`? has been removed",
            r"Filepath looks like a hdf5 file",
        ),
        cause="The name of the file and what is saved or loaded do not go together: Keras 3 loads .keras and .h5 with load_model and .weights.h5 with load_weights, a SavedModel folder only through TFSMLayer, and takes save_format, options and by_name no more.",
        details=("The argument is {argument}.",),
        fix="""\
model.save("model.keras"); keras.models.load_model("model.keras")
model.save_weights("w.weights.h5"); model.load_weights("w.weights.h5")
layer = keras.layers.TFSMLayer("saved_model_folder", call_endpoint="serving_default")      # a SavedModel of Keras 2, for prediction
keras.callbacks.ModelCheckpoint("{epoch:02d}.keras")                                         # a file, not a folder
pip install "tf-keras~=2.15"; export TF_USE_LEGACY_KERAS=1                                    # Keras 2 (the tf-keras of your TensorFlow) loads it as it was""",
        evidence="recalled",
        example="ValueError: The following argument(s) are not supported: ['options']",
    ),
    KnownError(
        id="E476",
        family="export",
        phase=Phase.SAVING,
        patterns=(
            r"(?:model|layer) provided has (?:not yet been built|never (?:been )?called)",
            r"No endpoints have been set yet",
            r"Endpoint name .{1,40}? is already taken",
            r"The provided tf\.function .{1,60}? has never been called",
            r"`?input_signature`? argument to specify the shape and dtype",
            r"endpoint .{1,60}? is neither an attribute of the reloaded SavedModel",
            r"Model .{1,120}? cannot be saved (?:either )?because the input shape",
            r"Forward pass of the model is not defined",
            r"You are (?:saving|loading) .{0,30}?(?:a )?model that has not yet been built",
            r"Export directory .{1,160}? already exists",
            r"`?tf\.saved_model\.save`? is not supported inside a traced",
            r"Expected a TensorFlow function for which to generate a signature",
            r"Got a non-Tensor value .{1,120}? in the output of the function",
            r"Got non-flat/non-unique argument names for SavedModel signature",
            r"Failed to add concrete function .{1,160}?(?:as it captures|unsupported or not reachable)",
            r"is not supported (?:when|while) (?:saving|exporting) .{0,40}?(?:TPU|distribut)",
            r"'(?P<type>TPU\w{0,20}Variable|DistributedVariable|SyncOnReadVariable)' object has no attribute '(?P<name>\w{1,40})'",
            r"Saving a (?:TPU|distributed) (?:model|variable).{0,80}?(?:not supported|cannot)",
            r"Attempted to save a function .{1,160}? which references a symbolic",
        ),
        cause="The model cannot be exported as it stands: its shapes are not known (never built or called), a signature takes or gives what is no tensor, or it holds variables of a TPU that this release cannot copy.",
        details=("It is a {type}, asked for {name}.",),
        fix="""\
model(next(iter(dataset))[0])                                        # built by a call; then
model.export("gs://BUCKET/export")                                   # Keras 3; tf.saved_model.save(model, path) before
model.save_weights("gs://BUCKET/w.weights.h5")                       # from the TPU take the weights alone,
serving = build_model(); serving.load_weights("w.weights.h5"); serving.export("export")   # and export on a CPU, outside strategy.scope()
# TensorFlow 2 with a TPU Node: tf.saved_model.SaveOptions(experimental_io_device="/job:localhost")""",
        citations=("tensorflow/tensorflow#33136",),
        example="ValueError: The model provided has never called. It must be called at least once before export.",
    ),
    KnownError(
        id="E477",
        family="checkpoint-mismatch",
        phase=Phase.SAVING,
        patterns=(
            r"Unused attributes in these objects",
            r"Python objects that were not bound to checkpointed values",
            r"Object not (?:restored|assigned a value from checkpoint)",
            r"Object .{1,160}? not assigned a value from checkpoint",
            r"Unresolved slot restorations",
            r"Nothing (?:except the root object matched|to load\. No dependencies)",
            r"does not appear to be object-based",
            r"not an object-based checkpoint",
            r"Tensor \S{1,120}? is not found in \S{1,160}? checkpoint",
            r"doesn't match with shape of tensor .{1,160}? from checkpoint",
            r"Shape of variable \S{1,160}? doesn't match",
            r"shape mismatch.{0,30}? (?:in shape )?(?:of|from|for|with) (?:the )?(?:tensor|variable|checkpoint|weight)",
            r"incompatible with provided weight shape",
            r"weight shape .{1,60}? (?:is )?not compatible with provided weight",
            r"The length of model variables .{0,30}? to override does not match",
            r"optimizer with a weight list of length",
            r"set_weights\(.{0,200}?(?:expecting|expected) \d{1,5} weights",
            r"expects? (?P<model>\d{1,5}) weights?, but (?:the )?(?:saved weights have|received|provided|was given) (?P<saved>\d{1,5})",
            r"Cannot assign value to variable .{0,160}?: ?Shape mismatch",
            r"Value passed .{0,30}? initializer.{0,60}? shape .{0,60}? not (?:match|compatible)",
            r"Trying to load a weight file.{0,120}?layers",
            r"Weight count mismatch for (?:top-level weights of )?layer",
            r"Shape mismatch in layer",
            r"slot variable was re-used as a dependency",
            r"not compatible with provided weight shape",
            r"Weight expects shape .{1,60}?Received saved weight",
            r"Variable `iterations` cannot be loaded from the checkpoint",
        ),
        cause="The checkpoint or weight file was written by another model than the one that it is restored into: other classes, sizes, names, an optimizer that is not there, or weights of TensorFlow 1 (by name) read as TensorFlow 2's (by object).",
        details=("The model wants {model} and the file has {saved}.",),
        fix="""\
for name, shape in tf.train.list_variables("gs://BUCKET/ckpt-1000"): print(name, shape)      # what the file holds
status = tf.train.Checkpoint(model=model).restore(path); status.expect_partial()              # the model alone, without the optimizer
model.load_weights("w.weights.h5", skip_mismatch=True)                                         # another head: all layers but those that differ
reader = tf.train.load_checkpoint(path); variable.assign(reader.get_tensor("bert/embeddings/word_embeddings"))   # TensorFlow 1: by name""",
        evidence="recalled",
        example="AssertionError: Found 2 Python objects that were not bound to checkpointed values, likely due to changes in the Python program.",
    ),
    KnownError(
        id="E478",
        family="checkpoint-damaged",
        phase=Phase.SAVING,
        patterns=(
            r"Read (?:less|fewer) bytes than requested",
            r"Unable to open table file",
            r"not an sstable",
            r"bad magic number",
            r"TensorBundle at .{1,160}?(?:mismatch|shard|corrupt|checksum)",
            r"Checksum does not match: stored",
            r"truncated file: eof",
            r"unable to open file.{0,60}?(?:truncated|bad object header|file signature)",
            r"Unable to (?:synchronously )?open (?:file|object) .{0,30}?(?:truncated|bad |addr overflow)",
            r"Invalid checkpoint state loaded",
            r"Bad CRC-32 for file",
            r"File is not a zip file",
            r"Error parsing message with type '?tensorflow",
            r"(?:Cannot|Could not|Failed to) parse (?:file|saved_model|graph|protobuf).{0,120}?(?:saved_model\.pb|Wrong wire type|DecodeError)",
            r"google\.protobuf\.message\.DecodeError",
            r"Protobuf parsing failed",
            r"invalid load key, '",
            r"without having git-lfs installed",
            r"version https://git-lfs",
            r"EOFError: Ran out of input",
            r"Malformed HDF5 dataset shape",
            r"refusing to load a potential decompression bomb",
            r"HDF5 dataset too large to load safely",
        ),
        cause="The file of the checkpoint or model is damaged, incomplete or of another kind: a write or download that was cut off (preemption, a full disk), a pointer of git-lfs in place of the file, or the wrong file of the checkpoint's three named as its prefix.",
        fix="""\
gcloud storage ls -l "gs://BUCKET/ckpt-1000*"; ls -l ckpt-1000*          # .index and all .data shards, none of some hundred bytes
tf.train.latest_checkpoint("gs://BUCKET/run")                             # names the prefix without .index or .data; the one before, if the last was cut off
git lfs install && git lfs pull                                           # a text that begins with `version https` is a pointer, not weights
manager = tf.train.CheckpointManager(checkpoint, "gs://BUCKET/run", max_to_keep=3)      # keep more than one""",
        citations=("bckim92/sequential-knowledge-transformer#1",),
        example="tensorflow.python.framework.errors_impl.OutOfRangeError: Read less bytes than requested [Op:RestoreV2]",
        yields_to=("E25",),
    ),
    KnownError(
        id="E479",
        family="io-device",
        phase=Phase.SAVING,
        patterns=(
            r"You may be trying to (?:save|load) on a different device from the computational device",
            r"Consider setting (?:the )?`?experimental_io_device",
            r"`?experimental_io_device`? option",
        ),
        cause="The worker, not this process, reads or writes the SavedModel's files, and it does not see this path: a TPU Node's worker has gs:// only.",
        fix="""\
options = tf.saved_model.LoadOptions(experimental_io_device="/job:localhost")        # SaveOptions for saving, tf.train.CheckpointOptions for checkpoints
model = tf.saved_model.load("/local/path", options=options)
gcloud storage cp -r /local/path gs://BUCKET/path                                      # or a path that both see""",
        rivals=(
            Rival(
                cause="the path is wrong in any case",
                look_for="no file of that name on this machine either",
                decide="ls PATH",
                families=("file-missing",),
            ),
            Rival(
                cause="a local path and a remote worker",
                look_for="`/job:worker`, grpc://, a TPU Node",
                decide="is the path gs://?",
                cues=(r"/job:worker", r"/job:tpu_worker"),
                families=("local-files", "device-placement"),
            ),
        ),
        evidence="recalled",
        example="FileNotFoundError: Unsuccessful TensorSliceReader constructor: Failed to find any matching files for /tmp/model/variables/variables\n You may be trying to load on a different device from the computational device. Consider setting the `experimental_io_device` option in `tf.saved_model.LoadOptions` to the io_device such as '/job:localhost'.",
    ),
)
