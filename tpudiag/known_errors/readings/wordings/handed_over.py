# ruff: noqa: E501  (sentences and what is pasted stay in one piece)
"""Wordings of what functions are handed: records, images, weights, packages of other releases."""

from __future__ import annotations

from .wording import Wording, Wordings

HANDED_OVER: Wordings = {
    "E130": (
        Wording(
            r"Could not parse example input, value",
            "What is parsed is no tf.train.Example: a tensor that was written by serialize_tensor, an image or text as it is, a SequenceExample, or records of another program.",
            "raw = next(iter(tf.data.TFRecordDataset(path)))\nprint(raw.numpy()[:60])                                        # \\x0a at the beginning and the features' names in it: an Example\nx = tf.io.parse_tensor(raw, tf.float32)                        # written by tf.io.serialize_tensor\ncontext, lists = tf.io.parse_single_sequence_example(raw, context_features, sequence_features)      # a SequenceExample",
            "InvalidArgumentError: Could not parse example input, value: 'CAYQADIEAAAA'",
        ),
        Wording(
            r"Type mismatch between parsed tensor \((?P<is>\w{1,12})\) and dtype \((?P<asked>\w{1,12})\)",
            "The tensor was serialised as <<is>>, and parse_tensor is asked for <<asked>>.",
            "x = tf.io.parse_tensor(features['x'], out_type=tf.<<is>>)      # the type it was written with (float is tf.float32, double tf.float64); then tf.cast\nx = tf.ensure_shape(x, [HEIGHT, WIDTH, 3])                      # its shape is not known otherwise",
            "InvalidArgumentError: Type mismatch between parsed tensor (float) and dtype (uint8) [Op:ParseTensor]",
        ),
    ),
    "E494": (
        Wording(
            r"Expected serialized to be a (?P<wanted>vector|scalar), got shape: ?(?P<got>\[[\d,]{0,20}\])",
            "parse_example takes a batch of records and parse_single_example takes one: here it is a <<wanted>> that is wanted, and <<got>> came.",
            "dataset = dataset.map(lambda raw: tf.io.parse_single_example(raw, features)).batch(B)      # one record each, before batch\ndataset = dataset.batch(B).map(lambda raw: tf.io.parse_example(raw, features))              # or a batch of them: faster",
            "InvalidArgumentError: Expected serialized to be a vector, got shape: [] [[{{node ParseExample/ParseExampleV2}}]]",
        ),
        Wording(
            r"images?'? must have either 3 or 4 dimensions",
            "tf.image takes [height, width, channels], or a batch of these: this image has no axis of channels (a gray one, a mask), is flat, or is not decoded yet.",
            "image = image[..., tf.newaxis]                                  # gray, a mask: one channel\nimage = tf.reshape(image, [HEIGHT, WIDTH, 3])                     # flat pixels\nimage = tf.io.decode_image(data, channels=3, expand_animations=False)      # decoded first",
            "ValueError: 'image' must have either 3 or 4 dimensions.",
        ),
    ),
    "E498": (
        Wording(
            r"unhashable type: '(?P<type>List|Dict|_Dict)Wrapper'",
            "A list or dict that is an attribute of a layer or model is wrapped by TensorFlow (to track what is in it), and the wrapper can be no key of a dict or set.",
            "self.sizes = tuple(sizes)                       # a tuple is not wrapped\nself._config = json.dumps(config)               # or text; or keep it outside the layer; __setattr__ is not needed\nkey = tuple(self.sizes)                         # where it is used as a key",
            "TypeError: unhashable type: 'ListWrapper'",
        ),
    ),
    "E129": (
        Wording(
            r"Not a gzipped file|not a gzip file|BadZipFile",
            "The archive is none: the download brought a page (a login, Google Drive's warning, an error: it begins with <! or <h), a pointer of git-lfs, or an archive of another kind under this name.",
            "file ARCHIVE; head -c 200 ARCHIVE; ls -l ARCHIVE      # HTML? some hundred bytes?\nrm ARCHIVE ~/.keras/datasets/NAME*                     # Keras and others do not load again what is there\ngdown --fuzzy 'LINK'                                    # Google Drive; git lfs pull for a pointer",
            "gzip.BadGzipFile: Not a gzipped file (b'<!')",
        ),
    ),
    "E216": (
        Wording(
            r"URL fetch failure on (?P<url>\S{8,160}?): ?(?:None|\d{3}) ?--",
            "<<url>> could not be fetched: no way to the internet (Kaggle's switch, a VM without external address, a proxy), certificates of this Python that are missing or old, or an address that is gone.",
            "curl -sI '<<url>>' | head -1                                    # what does the machine get?\npip install -U certifi; export SSL_CERT_FILE=$(python -m certifi)      # CERTIFICATE_VERIFY_FAILED; macOS: Install Certificates.command\nls ~/.keras/datasets                                             # or put the file there from another machine: it is not fetched again",
            "Exception: URL fetch failure on https://host.example/mnist.npz: None -- [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed",
        ),
    ),
    "E201": (
        Wording(
            r"set_weights\(weights\)`? on optimizer .{0,30}?with a {1,3}weight list of length (?P<given>\d{1,5}), but the optimizer was expecting a weight list of length (?P<has>\d{1,5})",
            "The optimizer has <<has>> variables and is given <<given>>: it makes its slots at its first step, which has not been yet.",
            "optimizer.build(model.trainable_variables)                                   # Keras 2.11 and later\noptimizer.apply_gradients([(tf.zeros_like(v), v) for v in model.trainable_variables])      # older: one step of zeros; on a TPU in strategy.run\noptimizer.set_weights(weights)\ntf.train.Checkpoint(model=model, optimizer=optimizer).restore(path)           # does it by itself, when the slots are made",
            'ValueError: You called `set_weights(weights)` on optimizer "Adam" with a  weight list of length 255, but the optimizer was expecting a weight list of length 0.',
        ),
    ),
    "E122": (
        Wording(
            r"has shape \((?P<model>[\d, ]{3,40})\), but the saved weight has shape \((?P<saved>[\d, ]{3,40})\)",
            "A weight is (<<model>>) in the model and (<<saved>>) in the file: another number of classes or channels, another configuration; the same numbers in another order are kernels of another framework or data_format.",
            "model = build_model(classes=N)                       # as it was saved\nmodel.load_weights(path, by_name=True, skip_mismatch=True)      # .h5: leaves out what does not fit (a new head)\nkernel = np.transpose(kernel, (2, 3, 1, 0))            # (out, in, h, w) of PyTorch and Theano to Keras's (h, w, in, out)",
            "ValueError: Layer #0 (named \"conv1\"), weight <tf.Variable 'conv1/kernel:0' shape=(7, 7, 3, 64)> has shape (7, 7, 3, 64), but the saved weight has shape (64, 3, 7, 7).",
        ),
        Wording(
            r"Inconsistent references when loading the checkpoint",
            "Objects of the program do not correspond one to one to those of the checkpoint: an attribute was renamed, a layer is shared where it was not (or the reverse), or a list of layers has another order.",
            "for name, shape in tf.train.list_variables(path): print(name, shape)      # the attributes' names as they were saved\ncheckpoint = tf.train.Checkpoint(model=model)                            # the same structure as at saving: attributes, order of layers\nmodel.load_weights(path).expect_partial()                                 # only what fits",
            "ValueError: Inconsistent references when loading the checkpoint into this object graph. Either the Trackable object references in the Python program have changed in an incompatible way",
        ),
    ),
    "E473": (
        Wording(
            r"target variable and the shape of the target value in `variable\.assign\(value\)` must match\. variable\.shape=\((?P<variable>[\d, ]{1,40})\), Received: value\.shape=\((?P<value>[\d, ]{1,40})\)",
            "A value of shape (<<value>>) is assigned to a variable of shape (<<variable>>): weights of another configuration are loaded (number of classes or words, width), or set_weights or assign is given another array.",
            "model.load_weights(path, skip_mismatch=True)      # leaves out what does not fit (an embedding of another vocabulary, a new head)\nmodel = build_model(vocabulary=N)                  # or as it was when the file was saved\nprint([(v.path, v.shape) for v in model.variables])",
            "ValueError: The shape of the target variable and the shape of the target value in `variable.assign(value)` must match. variable.shape=(1000, 64), Received: value.shape=(998, 64). Target variable: <Variable path=embedding/embeddings>",
        ),
    ),
    "E212": (
        Wording(
            r"dtype variant to a NumPy array",
            "The elements are datasets themselves: window() gives a dataset of each window.",
            "dataset = dataset.window(LENGTH, shift=1, drop_remainder=True).flat_map(lambda window: window.batch(LENGTH))      # each window as one tensor",
            "InvalidArgumentError: Cannot convert a Tensor of dtype variant to a NumPy array.",
        ),
    ),
    "E243": (
        Wording(
            r"ResolvePackageNotFound|specifications were found to be incompatible with",
            "conda's channels hold no such release (TensorFlow comes to them late, not for every platform, and not for TPUs), or none for this Python.",
            "conda create -n tf python=3.11 && conda activate tf && pip install tensorflow      # a Python by conda, TensorFlow by pip\nconda search -c conda-forge tensorflow                                              # which releases there are",
            "conda.exceptions.ResolvePackageNotFound: - tensorflow==2.10",
        ),
        Wording(
            r"Ignored the following versions that require a different python version",
            "Releases of this package exist, but not for this Python: it is too new (or too old) for them.",
            'python --version      # TensorFlow 2.8 to 2.10 want 3.7 to 3.10, 2.12 3.8 to 3.11, 2.16 to 2.19 3.9 to 3.12\nuv venv --python 3.11 ~/tf && source ~/tf/bin/activate && uv pip install "tensorflow==RELEASE"      # an environment with a Python that it takes; conda create -n tf python=3.10',
            "ERROR: Ignored the following versions that require a different python version: 2.13.0 Requires-Python >=3.8,<3.12",
        ),
        Wording(
            r"(?:Could not build wheels for|Failed building wheel for) (?P<package>[\w.-]{1,60})",
            "There is no ready-made wheel of that release of <<package>> for this Python and platform, so that pip compiles it and lacks compilers or headers.",
            'pip install -U pip setuptools wheel; pip install --only-binary=:all: "<<package>>"      # the newest release that has a wheel for this Python\npython --version                                    # a Python for which it has one (3.10 to 3.12): uv venv --python 3.11\nsudo apt-get install -y build-essential python3-dev libhdf5-dev      # or compile it',
            "ERROR: Failed building wheel for grpcio",
        ),
    ),
    "E280": (
        Wording(
            r"No module named '_(?P<name>ctypes|lzma|bz2|sqlite3|ssl|tkinter)'",
            "This Python was compiled without lib<<name>>: its headers were not there (pyenv, a build of one's own).",
            "sudo apt-get install -y libffi-dev liblzma-dev libbz2-dev libsqlite3-dev libssl-dev zlib1g-dev tk-dev\npyenv install --force $(pyenv version-name)      # compile it again; or a ready-made Python: uv python install 3.11",
            "ModuleNotFoundError: No module named '_ctypes'",
        ),
    ),
    "E281": (
        Wording(
            r"cannot import name '_registerMatType' from 'cv2|module 'cv2' has no attribute '(?:dnn|gapi_wip_gst_GStreamerPipeline|_registerMatType)'|partially initialized module 'cv2'",
            "Two packages of OpenCV of different releases lie over each other (opencv-python, -headless, -contrib share one folder).",
            "pip uninstall -y opencv-python opencv-python-headless opencv-contrib-python opencv-contrib-python-headless\npip install opencv-python-headless                 # one of them",
            "ImportError: cannot import name '_registerMatType' from 'cv2.cv2'",
        ),
        Wording(
            r"module 'tensorflow_datasets' has no attribute",
            "The `tensorflow_datasets` that is imported is not the package: a folder of that name in the working directory (the data themselves are kept in one), a file of your own, or a broken installation.",
            'python -c "import tensorflow_datasets as t; print(t.__path__, t.__file__)"      # whose is it?\nmv tensorflow_datasets tfds_data; pip install -U --force-reinstall tensorflow-datasets',
            "AttributeError: module 'tensorflow_datasets' has no attribute 'load'",
        ),
    ),
    "E518": (
        Wording(
            r"Keras requires TensorFlow 2\.2 or higher",
            "`import keras` is the package keras, and finds no TensorFlow (2.2 or later) that can be imported in this Python.",
            'python -c "import tensorflow as tf; print(tf.__version__)"      # its own error says why\npip install -U tensorflow; from tensorflow import keras            # or the Keras within TensorFlow',
            "ImportError: Keras requires TensorFlow 2.2 or higher. Install TensorFlow via `pip install tensorflow`",
        ),
        Wording(
            r"ImportError: Please install (?P<name>[a-z][\w-]{1,40})",
            "<<name>> is not installed here; what is imported needs it for this one task.",
            "pip install <<name>>      # apache_beam: only the data sets of TensorFlow Datasets that are prepared with it; or read prepared ones: tfds.load(NAME, try_gcs=True, download=False)",
            "ImportError: Please install apache_beam",
        ),
    ),
    "E489": (
        Wording(
            r"'DatasetDict' object has no attribute '(?P<name>to_tf_dataset|column_names_|select|shuffle_|train_test_split|features|to_pandas)'",
            "load_dataset without split gives a DatasetDict of all splits; `<<name>>` is of one split.",
            'dataset = datasets.load_dataset(NAME, split="train")      # or dataset["train"].<<name>>(...)',
            "AttributeError: 'DatasetDict' object has no attribute 'to_tf_dataset'",
        ),
        Wording(
            r"'Dataset' object has no attribute 'to_tf_dataset'|'TF\w{1,40}' object has no attribute 'prepare_tf_dataset'",
            "This release of datasets (or Transformers) is older than the method: to_tf_dataset came with datasets 1.13, prepare_tf_dataset with Transformers 4.20.",
            'pip install -U datasets "transformers>=4.20,<5"',
            "AttributeError: 'Dataset' object has no attribute 'to_tf_dataset'",
        ),
    ),
    "E495 E914": (
        Wording(
            r"'DownloadManager' object has no attribute '(?P<name>\w{1,40})'",
            "TensorFlow Datasets' manager lost a part of itself on the way to Beam's workers (pickled), a fault of releases around 2.1, or the workers have another release than the one that started them.",
            "pip install -U tfds-nightly apache-beam                                   # here, and in the workers' requirements_file\ntfds.load(NAME, try_gcs=True)                                              # or a copy that is prepared already",
            "AttributeError: 'DownloadManager' object has no attribute '_downloader' [while running 'Map(download_url)']",
        ),
        Wording(
            r"'BatchEncoding' object has no attribute '(?:shape|dtype|ndim)'",
            "What a tokenizer gives is a dict of tensors, not one tensor.",
            'encoded = tokenizer(texts, padding="max_length", truncation=True, max_length=128, return_tensors="tf")\nmodel(encoded); model.fit(dict(encoded), labels)      # whole; encoded["input_ids"].shape for one part',
            "AttributeError: 'BatchEncoding' object has no attribute 'shape'",
        ),
        Wording(
            r"(?:type object 'Dataset'|'\w{1,40}Dataset\w{0,4}' object) has no attribute '(?P<name>save|load)'",
            "Dataset.<<name>> came with TensorFlow 2.10; before it the function was tf.data.experimental.<<name>>.",
            'pip install -U "tensorflow>=2.10"\ntf.data.experimental.save(dataset, path); dataset = tf.data.experimental.load(path, element_spec=dataset.element_spec)',
            "AttributeError: type object 'Dataset' has no attribute 'save'",
        ),
    ),
    "E71": (
        Wording(
            r"TypeError: expected bytes, Descriptor found",
            "Two builds of protobuf are mixed: its compiled part is of another release than its Python files (pip over conda or apt, or two packages that bring google/protobuf).",
            'pip uninstall -y protobuf; pip uninstall -y protobuf; pip install protobuf      # until nothing is left, then one; conda: conda remove --force protobuf libprotobuf\npython -c "import google.protobuf as p; print(p.__version__, p.__path__)"',
            "TypeError: expected bytes, Descriptor found",
        ),
        Wording(
            r"no attribute '_internal_create_key'",
            "The installed protobuf is older (before 3.12) than the one that the package's files were generated with.",
            'pip install -U "protobuf>=3.20,<3.21"      # TensorFlow up to 2.11; newer TensorFlow: as pip check says\npip uninstall -y protobuf python3-protobuf; pip install protobuf      # where an old one of the system stays in the way',
            "AttributeError: module 'google.protobuf.descriptor' has no attribute '_internal_create_key'",
        ),
    ),
    "E118": (
        Wording(
            r"gs://(?P<bucket>kds-[0-9a-f]{20,80})",
            "gs://<<bucket>> is a bucket of Kaggle's for one data set, which is given another name from time to time: the path was copied from an older notebook.",
            "from kaggle_datasets import KaggleDatasets; path = KaggleDatasets().get_gcs_path('DATASET')      # asked anew in each session (the old TPU Node)\npath = '/kaggle/input/DATASET'                                                                       # Kaggle's TPU VM reads its own disk",
            "NotFoundError: Error executing an HTTP request: HTTP response code 404 with body 'The specified bucket does not exist.' when reading gs://kds-b38ce1b823c3ae623f5691483dbaa0f0363f04b0/tfrecords",
        ),
    ),
    "E73": (
        Wording(
            r"module compiled against (?:API|ABI) version (?P<wanted>(?:0x)?[0-9a-f]{1,9}) but this version of numpy is (?P<has>(?:0x)?[0-9a-f]{1,9})",
            "The installed NumPy is older (API <<has>>) than the one that the package was compiled with (<<wanted>>), or an older one of the system is found first.",
            'python -c "import numpy; print(numpy.__version__, numpy.__path__)"      # which one is it?\npip install -U numpy                                                     # newer; "numpy<2" with TensorFlow up to 2.17\nsudo apt-get remove python3-numpy; pip uninstall -y numpy; pip install numpy      # two of them: one goes',
            "RuntimeError: module compiled against API version 0xe but this version of numpy is 0xd",
        ),
    ),
    "E244": (
        Wording(
            r"ContextualVersionConflict: \((?P<name>[a-z_-]{1,40}) (?P<has>\d[\w.]{0,12}) \(.{1,160}?\), Requirement\.parse\('(?P<wants>[^']{1,80})'\), \{'(?P<by>[\w.-]{1,40})",
            "<<by>> wants `<<wants>>`, and <<name>> <<has>> is installed.",
            'pip install "<<wants>>"                     # what <<by>> takes; or pip install -U <<by>>, if a newer one takes <<has>>\npip check',
            "pkg_resources.ContextualVersionConflict: (numpy 1.19.1 (/usr/lib/python3.7/site-packages), Requirement.parse('numpy<1.19.0,>=1.16.0'), {'tensorflow'})",
        ),
        Wording(
            r"The user requested (?P<pin>[\w.-]{1,40}[=<>~]=?[\d.*]{1,12}) {1,8}(?P<by>[a-z][a-z_-]{1,40}) (?P<release>\d[\d.]{1,12}) depends on (?P<wants>[\w.-]{1,40}(?:[<>=!~]=?[\d.*]{1,12},?){1,3})",
            "`<<pin>>` is asked for (in requirements.txt or on the command line), and <<by>> <<release>> wants `<<wants>>`.",
            'pip install "<<by>>==<<release>>" "<<wants>>"      # the pin of the other taken out of requirements.txt\n# or the <<by>> of the pin\'s time: pip install "<<pin>>" "<<by>>" --dry-run shows which',
            "ERROR: Cannot install -r requirements.txt (line 1) and numpy==1.18.5 because these package versions have conflicting dependencies. The conflict is caused by: The user requested numpy==1.18.5 tensorflow 2.8.0 depends on numpy>=1.20",
        ),
    ),
    "E897": (
        Wording(
            r"Operation not permitted: '/tmp/pip-|distutils installed project",
            "pip is to replace a package that the system installed (distutils, macOS's own Python), which it may not, or cannot, remove.",
            "python3 -m venv ~/tpu && source ~/tpu/bin/activate && pip install -U pip tensorflow      # an environment of your own: the system's stays\npip install --ignore-installed PACKAGE                                                    # or beside the system's, in front of it",
            "OSError: [Errno 1] Operation not permitted: '/tmp/pip-OTPkLz-uninstall/System/Library/Frameworks/Python.framework/numpy-1.8.0rc1-py2.7.egg-info'",
        ),
    ),
    "P77": (
        Wording(
            r"Could not find meta graph def matching supplied tags: ?\{ ?(?P<tags>[\w, ]{1,60}?) ?\}",
            "The server (or loader) wants a graph with the tags <<tags>>, and saved_model.pb holds none of them: it was saved with others, or is no SavedModel at all (a frozen graph under that name, a model of TF Hub 1).",
            'saved_model_cli show --dir FOLDER/1 --all                         # which tags and signatures there are\ntf.saved_model.save(model, "FOLDER/1"); model.export("FOLDER/1")      # Keras 3: export; both write the tag serve\nbuilder.add_meta_graph_and_variables(sess, ["serve"], signatures)   # TensorFlow 1, from the restored graph',
            "Loading servable: {name: saved_model version: 1} failed: Not found: Could not find meta graph def matching supplied tags: { serve }.",
        ),
    ),
    "E546": (
        Wording(
            r"future feature annotations is not defined",
            "The code (or a package) is for Python 3.7 or later, and this Python is 3.6 or older.",
            "python --version; uv venv --python 3.11 ~/tf      # a newer Python; or the package's last release for 3.6",
            "SyntaxError: future feature annotations is not defined",
        ),
    ),
    "E876": (
        Wording(
            r"`?(?P<name>validation_steps|steps_per_epoch|steps)(?:=None`? is only valid for a generator|`?)",
            "A plain Python generator (or a dataset that repeats) has no end, so that Keras wants the number of its batches: `<<name>>`. A Sequence of the other Keras (keras.utils.Sequence given to tensorflow.keras, or the reverse) counts as a plain generator.",
            "model.fit(generator, steps_per_epoch=len(x_train) // BATCH, validation_data=valid, validation_steps=len(x_valid) // BATCH)\nmodel.evaluate(valid, steps=len(x_valid) // BATCH)                 # predict likewise\nfrom tensorflow.keras.utils import Sequence                        # the Keras of the model: its len() is then the number of batches",
            "ValueError: `validation_steps=None` is only valid for a generator based on the `keras.utils.Sequence` class. Please specify `validation_steps` or use the `keras.utils.Sequence` class.",
        ),
    ),
    "E283": (
        Wording(
            r"'input_ids': TensorSpec\(shape=\(None, 5\)",
            "A model of transformers was saved as a part of a Keras model: it is traced by its own dummy inputs (a dict of input_ids of length 5), and what the model calls it with has another structure or length.",
            "base_model.save_pretrained(folder); base = TFBertModel.from_pretrained(folder)      # the transformer by itself\nmodel.save_weights(path); model = build_model(); model.load_weights(path)             # the whole by its code and weights",
            "TypeError: The two structures don't have the same nested structure. First structure: type=dict str={'input_ids': TensorSpec(shape=(None, 5), dtype=tf.int32, name='input_ids')}",
        ),
    ),
}
