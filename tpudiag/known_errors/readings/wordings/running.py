# ruff: noqa: E501  (sentences and what is pasted stay in one piece)
"""Wordings of workers, files and what a job meets while it runs."""

from __future__ import annotations

from .wording import Wording, Wordings

RUNNING: Wordings = {
    "E29": (
        Wording(
            r"Unable to find the relevant tensor remote_handle",
            "A tensor or variable of the program lies on the worker no more: the TPU was initialised again after it was made (a cell that was run twice, a second resolver), or the worker restarted (preempted, out of memory).",
            "# restart the runtime: connect and initialise once, at the top, then build everything anew\ntf.config.experimental_connect_to_cluster(resolver); tf.tpu.experimental.initialize_tpu_system(resolver)\nwith tf.distribute.TPUStrategy(resolver).scope():\n    model = build_model()          # model, optimizer and metrics after the initialisation, never before it\n# during training, not at a second run of the cell: the host's memory (cache, shuffle buffer) is the next suspect",
            "InvalidArgumentError: Unable to find the relevant tensor remote_handle: Op ID: 1634, Output num: 0",
        ),
    ),
    "E54": (
        Wording(
            r"Cannot find any TPU cores in the system \(master address ?\)|Cannot find any TPU cores in the system.{0,200}?/job:localhost/|--tpu=\S{1,60}.{0,400}?Cannot find any TPU cores|Cannot find any TPU cores.{0,1200}?python\d? \w{1,40}\.py.{0,800}?--tpu=",
            "The TPU's address is empty, and TensorFlow looked for the TPU in this process: the name did not reach the resolver (a flag that this script does not read: BERT and XLNet take --tpu_name or --tpu, each only its own; an environment variable that is not set). On a TPU VM the TPU is in the machine itself, and TPUEstimator of TensorFlow 1 must be told so.",
            'echo "$TPU_NAME"; python SCRIPT.py --help | grep -i tpu      # is the name set, and what is the flag called?\npython SCRIPT.py --use_tpu=True --tpu_name="$TPU_NAME" --tpu_zone=ZONE --gcp_project=PROJECT      # a TPU Node\nresolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")      # a TPU VM (tensorflow-tpu installed): in the code, in place of the name',
            "RuntimeError: Cannot find any TPU cores in the system (master address ). This usually means the master address is incorrect or the TPU worker has some problems.",
        ),
        Wording(
            r"Cannot find any TPU cores in the system \(master address grpc://(?P<address>[\d.]{7,15}:\d{2,5})\)|Cannot find any TPU cores.{0,200}?/job:\w{1,20}/replica:0/task:0/device:TPU_SYSTEM",
            "The worker was reached, and it has no TPU cores to give: the TPU is being repaired or restarted, holds the state of a job that broke off, or runs a release of TensorFlow other than the client's.",
            "gcloud compute tpus describe NAME --zone=ZONE      # READY and HEALTHY? its TensorFlow version: the client's must be the same\ngcloud compute tpus stop NAME --zone=ZONE && gcloud compute tpus start NAME --zone=ZONE",
            "RuntimeError: Cannot find any TPU cores in the system (master address grpc://10.142.15.217:8470). This usually means the master address is incorrect",
        ),
    ),
    "E492": (
        Wording(
            r"got .{0,40}?(?P<spec>FixedLen\w{0,8}Feature|VarLenFeature|SparseFeature)\(",
            "The description of a feature (<<spec>>) is used in place of the value that was parsed: the dict of specifications instead of what parse_single_example returned.",
            'parsed = tf.io.parse_single_example(record, features)\nimage = tf.io.decode_raw(parsed["image"], tf.uint8)      # parsed[...], not features[...]',
            "TypeError: Expected string passed to parameter 'bytes' of op 'DecodeRaw', got FixedLenFeature(shape=[], dtype=tf.string, default_value=None) of type 'FixedLenFeature' instead.",
        ),
    ),
    "E130": (
        Wording(
            r"Key: (?P<feature>[\w/.-]{1,60}), Index: \d{1,9}\. {0,2}Number of \w{1,8} values != expected\. {0,2}Values size: (?P<n>\d{1,12}) but output shape: \[(?P<shape>[\d,]{1,40})\]",
            "`<<feature>>` holds <<n>> values in the file, and [<<shape>>] are asked for: the images or sequences were written in another size than the model reads (not resized, another number of channels or length).",
            'features = {"<<feature>>": tf.io.FixedLenFeature([<<n>>], tf.float32)}      # what the file has; then tf.reshape and resize\n# or write the records again in the size of the parser; VarLenFeature where it differs from record to record',
            "InvalidArgumentError: Name: <unknown>, Key: imageInput, Index: 0.  Number of float values != expected.  Values size: 3456000 but output shape: [3240]",
        ),
    ),
    "E264": (
        Wording(
            r"Fetch argument .{0,200}?(?:cannot be interpreted as a Tensor|not an element of this graph)",
            "The tensor is of another graph than the session: one of the two was made anew in between (a cell that ran again, a reset, a model built after the session).",
            "# restart the notebook, then run each cell once: session, model, load, generate\ntf.compat.v1.reset_default_graph(); session = tf.compat.v1.Session()      # first; then everything in this one graph (gpt-2-simple: gpt2.reset_session(sess))",
            "ValueError: Fetch argument <tf.Tensor 'strided_slice:0' shape=(1, ?) dtype=int32> cannot be interpreted as a Tensor. (Tensor Tensor(\"strided_slice:0\") is not an element of this graph.)",
        ),
    ),
    "E160": (
        Wording(
            r"= (?P<index>-\d{1,9}) is not in \[0, (?P<size>\d{1,12})\)|label value of (?P<label>-\d{1,9}) which",
            "A negative index: ids or labels use -1 (or -100) for padding, void or unknown.",
            "ids = tf.maximum(ids, 0)                                         # and sample_weight 0 at these places\nloss = keras.losses.SparseCategoricalCrossentropy(from_logits=True, ignore_class=-1)      # labels of -1 or 255 are left out",
            "InvalidArgumentError: indices[0,4] = -1 is not in [0, 512)",
        ),
        Wording(
            r"= (?P<index>\d{1,12}) is not in \[0, 0\)",
            "It is looked up in something empty, of 0 rows: a record or file of the data without entries, mostly one whose boxes and labels (or texts and ids) differ in number, or a list that was read empty.",
            'for record in dataset.as_numpy_iterator():                 # every record before training: finds the empty one\n    print({name: len(value) if hasattr(value, "__len__") else value for name, value in record.items()})\n# TFRecords of boxes: image/object/bbox/xmin, ymin, xmax, ymax, class/text and class/label of one length in each record; write them anew',
            "InvalidArgumentError: indices[0] = 0 is not in [0, 0)",
        ),
        Wording(
            r"= (?P<index>\d{1,12}) is not in \[0, \1\)",
            "The index <<index>> is exactly one beyond the table of <<index>> rows: ids (or labels) count from 1, or the unknown word and padding were not counted.",
            "keras.layers.Embedding(<<index>> + 1, WIDTH)      # one more for 0: padding, unknown; StringLookup: len(lookup.get_vocabulary())\nlabels = labels - 1                          # labels that begin at 1; or one more unit in the last layer",
            "InvalidArgumentError: indices[7505] = 672 is not in [0, 672)",
        ),
        Wording(
            r"label value of (?P<label>\d{1,12}) which is outside the valid range of \[0, (?P<size>\d{1,12})\)",
            "A label of <<label>> meets an output of <<size>> classes: the last layer has too few units, labels begin at 1, a void label (255) is among them, or these are no labels at all (the `Label values` look like pixels or ids: records parsed at another offset than they were written, features and labels exchanged).",
            "outputs = keras.layers.Dense(int(labels.max()) + 1)(x)      # one unit for each class: more than <<label>>\nlabels = tf.where(labels == 255, 0, labels)                 # void: weight 0 at these places (or ignore_class=255)",
            "Received a label value of 10 which is outside the valid range of [0, 10).  Label values: 3 10",
        ),
    ),
    "E217": (
        Wording(
            r"requested dtype string for Tensor with dtype float32|Op has type float32 that does not match",
            "The list of files is empty: an empty Python list becomes a float tensor.",
            'files = tf.io.gfile.glob("gs://BUCKET/data/train-*.tfrecord"); assert files, "no files"      # the pattern; relative paths; Drive mounted? Kaggle: KaggleDatasets().get_gcs_path()',
            "ValueError: Tensor conversion requested dtype string for Tensor with dtype float32: <tf.Tensor 'Const:0'>",
        ),
    ),
    "E98": (
        Wording(
            r"has_sharding\(\).{0,40}?Side-effect HLO must have sharding",
            "The partitioner (pjit, xmap, SPMD) meets an operation with a state that no sharding was written for: a random generator of the device (Haiku's optimize_rng_use, lax.rng_uniform, rng-get-and-update-state) inside the sharded function.",
            "key, sub = jax.random.split(key); x = jax.random.normal(sub, shape)      # stateless keys in the sharded function; no optimize_rng_use, no lax.rng_uniform there\nparams = init(key)                                                         # or the random part before pjit, its result sharded",
            "RET_CHECK failure (spmd_partitioner.cc:3779) hlo->has_sharding() Side-effect HLO must have sharding: %rng-get-and-update-state.2",
        ),
    ),
    "E605": (
        Wording(
            r"default_device_target != options_\.global_device_map\.end\(\)",
            "The process asks for a device that its XRT configuration does not list: XRT_TPU_CONFIG (or the worker map) of another TPU or of another process, set after torch_xla was imported, or more processes are spawned than the TPU has cores.",
            'export XRT_TPU_CONFIG="tpu_worker;0;TPU_IP:8470"      # the same in every process, before Python starts\nxmp.spawn(fn, nprocs=8)                              # as many as cores, no device made before it\nexport PJRT_DEVICE=TPU                               # PyTorch/XLA 2: needs none of it',
            "xrt_computation_client.cc:245 : Check failed: default_device_target != options_.global_device_map.end() XrtComputationClient",
        ),
        Wording(
            r"stream did not block host until done",
            "The TPU is still in the error of an earlier run: a program on it failed or was interrupted in its midst (a cell that was stopped, a process that was killed), and its stream takes no work until the runtime is restarted.",
            "# Colab, Kaggle: Runtime, Manage sessions, Terminate (restarting the kernel alone leaves the TPU as it is)\nsudo lsof -w /dev/accel* /dev/vfio/* ; kill PID_OF_THE_OLD_RUN      # TPU VM\ngcloud compute tpus stop NAME --zone=ZONE && gcloud compute tpus start NAME --zone=ZONE      # TPU Node",
            "INTERNAL: From /job:tpu_worker: stream did not block host until done; was already in an error state [[{{node XRTExecute}}]]",
        ),
    ),
    "E462": (
        Wording(
            r"No loss to compute\. Provide a `?loss`? argument",
            "Keras 3 found no loss for any output: none was given to compile, the labels are None, or (with several outputs, or outputs in a dict) the names in `loss` and in the labels are not those of the outputs.",
            'model.compile(optimizer, loss={"mask": "mse"})               # the keys of the outputs: keras.Model(x, {"mask": m}); print(model.output_names)\nmodel.fit(x, {"mask": y})                                    # labels under the same names; a single output: no dict at all, or pip install -U keras',
            "ValueError: No loss to compute. Provide a `loss` argument in `compile()`.",
        ),
    ),
    "E24": (
        Wording(
            r"Unable to parse tensor proto",
            "Something of the client's memory could not be read on the TPU's worker: arrays of more than 2 GB in one message, or a dataset that was made before the program was connected to the TPU (its handle belongs to the client, and the worker cannot take it).",
            "tf.config.experimental_connect_to_cluster(resolver); tf.tpu.experimental.initialize_tpu_system(resolver)      # first of all\ndataset = make_dataset()                           # only then, from gs:// (TFRecord, tfds with try_gcs=True), not from large arrays",
            "InternalError: Failed copying input tensor in order to run DatasetCardinality: Unable to parse tensor proto",
        ),
    ),
    "E508": (
        Wording(
            r"process (?P<rank>\d{1,4}) terminated with signal SIG(?P<signal>SEGV|ABRT|KILL|BUS)",
            "Process <<rank>> of those that were spawned ended by SIG<<signal>> in native code (KILL: by the system, for memory), so it left no traceback. With PyTorch/XLA mostly: torch and torch_xla of different releases, a device or tensor on it made before xmp.spawn, an older run that still holds the TPU, or an earlier line with the reason.",
            "xmp.spawn(fn, args=(), nprocs=1)                 # one process: the error itself shows\npip list | grep -i torch; dmesg -T | tail; sudo lsof -w /dev/accel* /dev/vfio/*      # one release, memory, who holds the TPU",
            "ProcessExitedException: process 3 terminated with signal SIGSEGV",
        ),
    ),
    "E509": (
        Wording(
            r"errno ?= ?22, error message ?= ?'Invalid argument'",
            "The file system does not take this name or this way of writing: `:` in a file's name on Windows (a time of day in it), a name on a mounted Drive or bucket (gcsfuse), where HDF5 cannot write in place, or a special character.",
            'name = time.strftime("%Y-%m-%d-%H-%M-%S")      # no colons\nmodel.save_weights("/tmp/model.weights.h5"); tf.io.gfile.copy("/tmp/model.weights.h5", path, overwrite=True)      # mounted: written locally, then copied',
            "OSError: Unable to create file (unable to open file: name = './a:b.h5', errno = 22, error message = 'Invalid argument', flags = 13)",
        ),
    ),
    "E288": (
        Wording(
            r"Object of type '?(?P<type>\w{0,30}Dataset|\w{0,20}DatasetV[12]|Sequential|Functional|Model|History)\b",
            "An object of TensorFlow (<<type>>) is to be written as JSON: a pipeline's step, a web service or a tuner hands over plain values only.",
            'dataset.save(path); return path                     # a dataset: its path handed on, tf.data.Dataset.load(path) behind\nmodel.save("model.keras"); json.dumps(history.history)      # a model: its file; a history: its numbers',
            "TypeError: Object of type 'BatchDataset' is not JSON serializable",
        ),
        Wording(
            r"JSON Serializable.{0,12}?<(?:module|function|class|bound method) '?(?P<what>[\w.]{1,60})",
            "The model's configuration holds `<<what>>`, a module, function or class: a Lambda layer (or its arguments) that uses it from outside its own body, or an argument of get_config; it is written when the whole model is saved (ModelCheckpoint, model.save, to_json).",
            "checkpoint = ModelCheckpoint(path, save_weights_only=True)      # the weights alone, which need no configuration\ndef scaled(x): import tensorflow as tf; return tf.cast(x, tf.float32)      # Lambda(scaled): imported in its body\nclass Scaled(keras.layers.Layer): ...                           # or a layer in place of Lambda",
            "TypeError: Not JSON Serializable: <module 'tensorflow' from '/path/tensorflow/__init__.py'>",
        ),
        Wording(
            r"JSON Serializable.{0,12}?tf\.(?P<type>(?:u?int|float|bfloat|complex)\d{1,3}|bool|string)",
            "A configuration holds the type tf.<<type>> itself: get_config of a layer, metric or optimizer gives back its dtype as it got it, and JSON knows its name only.",
            'return {**super().get_config(), "dtype": tf.as_dtype(self.dtype).name}      # "float32": the name\nmodel.save_weights(path)                                                    # or no configuration at all',
            "TypeError: ('Not JSON Serializable:', tf.float32)",
        ),
        Wording(
            r"(?:Object of type|is not JSON).{0,12}?(?P<type>float32|float64|int64|int32|ndarray|EagerTensor|bool_)",
            "A number of NumPy or TensorFlow (<<type>>) is given to json: the logs of a callback (RemoteMonitor), a history that is written to a file, a setting.",
            "json.dump({k: [float(x) for x in v] for k, v in history.history.items()}, file)      # Python's own numbers\njson.dumps(logs, default=float); value.item(); tensor.numpy().tolist()",
            "TypeError: Object of type float32 is not JSON serializable",
        ),
    ),
    "E210": (
        Wording(
            r"Tensorflow type (?P<number>2[01]) not convertible to numpy",
            "What should become an array is a variant or resource (TensorFlow's type <<number>>): a tf.data.Dataset, an iterator, a ragged tensor or a table, which lives in TensorFlow's runtime only. Pickle, copy.deepcopy, np.array and multiprocessing all come here.",
            "dataset.save(path); dataset = tf.data.Dataset.load(path)      # a dataset: on disk, its path handed on, or made anew in the other process\narrays = [x.numpy() for x in dataset]; ragged.to_tensor().numpy()      # or what is in it",
            "InternalError: Tensorflow type 21 not convertible to numpy dtype.",
        ),
        Wording(
            r"<class '(?P<type>ellipsis|slice)'>",
            "An index (`...`, `:`) became a value: a Keras tensor is indexed by other symbolic tensors (x[:, n // 2] with n from its shape), or a layer hands its index on as an argument. Keras 3 takes Python numbers there only.",
            "y = keras.ops.take(x, index, axis=1)      # in place of x[:, index]; keras.ops.slice, keras.ops.take_along_axis\nclass Middle(keras.layers.Layer):          # or within a layer, where tf's own indexing works\n    def call(self, x): return x[:, tf.shape(x)[1] // 2]",
            "ValueError: Attempt to convert a value (Ellipsis) with an unsupported type (<class 'ellipsis'>) to a Tensor.",
        ),
        Wording(
            r"<bound method|<function|<class '(?:method|function|builtin_function_or_method|type)'>",
            "A function, method or class is given where a tensor belongs, not its value: the brackets of the call are missing, or a name is not what it seems (`input`, `sum`, `max` are Python's own functions where the argument is called otherwise).",
            "y = layer(x); loss = compute_loss(y)      # called, with brackets\nz = tf.matmul(x, self.W)                  # the name of the argument: x, not input",
            "ValueError: Attempt to convert a value (<bound method Kernel.raw_input of <google.colab._kernel.Kernel object at 0x7f>>) with an unsupported type (<class 'method'>) to a Tensor.",
        ),
        Wording(
            r"<class 'dict_(?P<what>values|keys|items)'>",
            "The <<what>>() of a dict is given where a list of tensors belongs: in Python 3 it is no list (TPUEstimator's export of a model with a dict of predictions does it itself).",
            "tensors = list(predictions.<<what>>())      # a list\nestimator = TPUEstimator(..., export_to_tpu=False)      # where TPUEstimator does it while it exports: export the CPU's graph alone",
            "TypeError: Failed to convert object of type <class 'dict_values'> to Tensor. Contents: dict_values([<tf.Tensor 'Softmax:0'>]).",
        ),
        Wording(
            r"Attempt to convert a value .{0,300}?unsupported type \(<class '(?P<type>(?!dict|list|tuple|str|set|NoneType|numpy|pandas)[\w.]{1,80})'>\)",
            "An object of the class `<<type>>` is given where numbers belong: it is no tensor and no array, and nothing turns it into one. Mostly the wrong one of several names, an attribute of it that is meant (.values, .data, .output), or an object of another library (a torch tensor, a PIL image, another Keras).",
            "print(type(x))                            # at the line of your own that the traceback names\nx = np.asarray(x)                         # an image, a frame; x.detach().cpu().numpy(): a tensor of PyTorch",
            "ValueError: Attempt to convert a value (<PIL.Image.Image image mode=RGB>) with an unsupported type (<class 'PIL.Image.Image'>) to a Tensor.",
        ),
        Wording(
            r"Unsupported object type (?P<type>[\w.]{1,40})",
            "The array holds Python objects (`<<type>>`): a list of arrays of different sizes, a column with texts, None or NaN, or arrays within arrays.",
            'x = np.asarray(x.tolist(), dtype=np.float32)      # fails at the row that does not fit\nx = np.stack(images).astype("float32")            # images of one size; keras.utils.pad_sequences for sequences',
            "ValueError: Failed to convert a NumPy array to a Tensor (Unsupported object type numpy.ndarray).",
        ),
    ),
    "E28": (
        Wording(
            r"Socket closed.{0,700}?(?:IteratorGetNext|MultiDeviceIterator|DatasetCardinality|cache|shuffle)|(?:IteratorGetNext|MultiDeviceIterator).{0,300}?Socket closed",
            "The TPU's host went away while data was read: on a TPU Node mostly its memory (cache() or shuffle() of a large set in the worker, images decoded to float32), sometimes an operation of the pipeline that ended it.",
            "dataset = dataset.shuffle(1_000)                          # small; no cache() before the images are decoded, none of large sets\nimages stay uint8 until they are batched: tf.cast(images, tf.float32) last\n# then connect again: a new resolver, initialize_tpu_system, strategy, model",
            "UnavailableError: Socket closed grpc_status:14 [[{{node IteratorGetNext}}]]",
        ),
    ),
    "E219": (
        Wording(
            r"Transport endpoint is not connected",
            "The mount went away: Google Drive in Colab (too many files in one folder, a quota, a session that ran long) or gcsfuse died.",
            "from google.colab import drive; drive.flush_and_unmount(); drive.mount('/content/drive', force_remount=True)\n!cp /content/drive/MyDrive/data.zip /content && unzip -q /content/data.zip -d /content/data      # one large file, unpacked on the local disk\nsudo umount -l MOUNT && gcsfuse BUCKET MOUNT      # a bucket",
            "OSError: [Errno 107] Transport endpoint is not connected: '/content/drive/MyDrive'",
        ),
        Wording(
            r"[\w/]; Is a directory|IsADirectoryError",
            "The path is a folder, and a file is wanted: a pattern without its end, a checkpoint's folder in place of its prefix.",
            'files = tf.io.gfile.glob(PATH + "/*.tfrecord")      # the files in it\nprefix = tf.train.latest_checkpoint(FOLDER)         # a checkpoint: the prefix in it',
            "IsADirectoryError: [Errno 21] Is a directory: '/content/data'",
        ),
    ),
    "E213 E484": (
        Wording(
            r"`?generator`? must be a Python callable",
            "from_generator wants the function, and was given what its call returns (or a Sequence).",
            "dataset = tf.data.Dataset.from_generator(generate, ...)              # generate, not generate()\ndataset = tf.data.Dataset.from_generator(lambda: iter(sequence), ...)      # an object: in a lambda",
            "TypeError: `generator` must be a Python callable.",
        ),
        Wording(
            r"element of shape \((?P<got>\d{1,5}), ?(?P<rest>[\d, ]{1,40})\) where an element of shape \((?P<wanted>\d{1,5}), ?(?P=rest)\) was expected",
            "The generator gave a batch of <<got>> where <<wanted>> was declared: mostly the last one, because the examples do not divide by the batch.",
            "output_shapes=([None, <<rest>>], ...)                           # a batch of any size; output_signature: TensorSpec([None, <<rest>>])\nif len(x) < <<wanted>>: return                                   # or leave the last one out, in the generator\ndataset = dataset.unbatch().batch(global_batch, drop_remainder=True)      # a TPU: full batches only; better: yield single examples and batch here",
            "ValueError: `generator` yielded an element of shape (59, 224, 224, 3) where an element of shape (64, 224, 224, 3) was expected.",
        ),
        Wording(
            r"yielded an element of shape (?P<got>\([\d, None]{0,40}\)) where an element of shape (?P<wanted>\([\d, None]{0,40}\)) was expected",
            "The generator gives <<got>> where <<wanted>> was declared: a batch in place of one example (or the reverse), a missing axis, or an example of another size.",
            "output_signature=(tf.TensorSpec(shape=<<got>>, dtype=tf.float32), ...)      # what it gives; None for a size that changes\nx = np.reshape(x, <<wanted>>)                                              # or what was declared, before the yield",
            "TypeError: `generator` yielded an element of shape (32, 8) where an element of shape (8,) was expected.",
        ),
    ),
    "E474 P23 E205": (
        Wording(
            r"Unknown layer: '?(?P<name>Functional|InputLayer|TFOpLambda|SlicingOpLambda|ClassMethod|InstanceProperty|Rescaling|Normalization|Resizing|CenterCrop|Random(?:Flip|Rotation|Zoom|Crop|Translation|Contrast|Brightness)|MultiHeadAttention|EinsumDense|LayerNormalization|GroupNormalization|UnitNormalization|TextVectorization|StringLookup|IntegerLookup|CategoryEncoding|Discretization|Hashing|NotEqual|GetItem|Add|Conv2D|DepthwiseConv2D|SyncBatchNormalization)\b",
            "`<<name>>` is a class of Keras itself, of another release than the one that loads the file: Functional came with TensorFlow 2.3, the preprocessing layers with 2.3 to 2.6, and TFOpLambda, SlicingOpLambda are of Keras 2 and unknown to Keras 3 (or the file was written by tf.keras and is read by keras, or the other way round).",
            "python -c 'import tensorflow as tf, keras; print(tf.__version__, keras.__version__)'      # as new as where the file was saved\npip install \"<<keras2>>\" && export TF_USE_LEGACY_KERAS=1      # a file of Keras 2 (TFOpLambda) under TensorFlow 2.16 or later\nfrom tensorflow.keras.models import load_model                 # the Keras that saved it, one of the two only",
            "ValueError: Unknown layer: Functional",
        ),
        Wording(
            r"Unrecognized keyword arguments(?: passed to \w{1,40})?:? .{0,14}?'batch_shape'|batch_shape.{0,80}?optional",
            "The model was saved by Keras 3 (`batch_shape` is its word) and is loaded by Keras 2 (TensorFlow 2.15 and older, or TF_USE_LEGACY_KERAS).",
            'pip install "tensorflow>=2.16" "keras>=3"      # load it where Keras 3 is; unset TF_USE_LEGACY_KERAS\nmodel = build_model(); model.load_weights("model.weights.h5")      # or the weights alone, saved by model.save_weights',
            "TypeError: Error when deserializing class 'InputLayer' using config={'batch_shape': [None, 224, 224, 3]}. Exception encountered: Unrecognized keyword arguments: ['batch_shape']",
        ),
        Wording(
            r"bad marshal data|unknown opcode|code\(\) (?:argument|takes)",
            "A Lambda layer was saved as the byte code of another Python version, which this one cannot read.",
            'python --version      # load it with the Python that saved it, and save model.save_weights there\nmodel = build_model(); model.load_weights("model.weights.h5")      # the model from its code; a named function or Layer in place of Lambda',
            "ValueError: bad marshal data (unknown type code) when loading Lambda layer",
        ),
        Wording(
            r"Keras 3 only supports V3 `?\.keras`? files",
            "The path is a SavedModel's folder, and load_model of Keras 3 reads .keras and .h5 files only.",
            'layer = keras.layers.TFSMLayer(path, call_endpoint="serving_default")      # inference only\nexport TF_USE_LEGACY_KERAS=1; tf.keras.models.load_model(path)             # Keras 2 (pip install tf-keras) reads it whole',
            "ValueError: File format not supported: filepath=model. Keras 3 only supports V3 `.keras` files and legacy H5 format files (`.h5` extension).",
        ),
        Wording(
            r"(?:Unknown (?:layer|object|optimizer): ?'?|Could not (?:locate|find) class '?)(?P<name>(?!mse|mae)\w{1,60})",
            "The file names `<<name>>`, a class or function that is not Keras's own (or of another release), and load_model was not told where it is.",
            'model = keras.models.load_model(path, custom_objects={"<<name>>": <<name>>})      # imported before\n@keras.saving.register_keras_serializable()                                       # or above its definition, once\nmodel = keras.models.load_model(path, compile=False)                              # a loss, metric or optimizer that is not needed',
            "ValueError: Unknown layer: FixedDropout. Please ensure this object is passed to the `custom_objects` argument.",
        ),
    ),
    "E476": (
        Wording(
            r"Outer dimension for (?P<what>outputs|inputs) must be unknown, outer dimension of '(?P<name>[\w/:.-]{1,160})' is (?P<n>\d{1,6})",
            "The model was exported for batches of exactly <<n>>, and the service that takes it wants a batch of any size (None) in its <<what>>.",
            "inputs = tf.compat.v1.placeholder(tf.string, [None])                  # or keras.Input(shape) without batch_size, TensorSpec([None, ...])\nmodel.export(path, checkpoint_step=-1, batch_size=None, ...)          # T5: export without a fixed batch size",
            "Model validation failed: Outer dimension for outputs must be unknown, outer dimension of 'SentencepieceDetokenizeOp:0' is 1",
        ),
        Wording(
            r"'(?P<type>TPU\w{0,20}Variable|DistributedVariable|SyncOnReadVariable)' object has no attribute '(?P<name>\w{1,40})'",
            "The model is saved with the strategy's variables in it, which this release (TensorFlow 1.14, 2.0) cannot copy.",
            'model.save_weights("/tmp/model.h5")                                    # from the TPU the weights alone\nexported = build_model(); exported.load_weights("/tmp/model.h5")      # a model outside the scope\ntf.saved_model.save(exported, path)                                   # is saved whole; or pip install -U tensorflow',
            "AttributeError: 'TPUMirroredVariable' object has no attribute '_constraint'",
        ),
    ),
}
