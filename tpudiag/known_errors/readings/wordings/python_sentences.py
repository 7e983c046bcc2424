# ruff: noqa: E501  (sentences and what is pasted stay in one piece)
"""Python's general sentences, by the types and names that they hold."""

from __future__ import annotations

from .wording import Wording, Wordings

PYTHON_SENTENCES: Wordings = {
    "E498": (
        Wording(
            r"unsupported operand type\(s\) for [^:]{1,4}: '(?:\w{1,20}' and 'Flag|Flag' and '\w{1,20})'",
            "A flag of absl itself is used where its value is meant: FLAGS['name'] and what DEFINE_* returns are holders.",
            'FLAGS.name                      # the value; of a holder: FLAGS["name"].value, or holder.value',
            "TypeError: unsupported operand type(s) for *: 'int' and 'Flag'",
        ),
        Wording(
            r"can only concatenate str \(not \"(?P<type>[\w.]{1,30})\"\) to str",
            "A text and a value of type <<type>> are joined by +.",
            'name = f"gs://BUCKET/run-{step}"      # or "run-" + str(step); a tensor: tf.strings.as_string(step)',
            'TypeError: can only concatenate str (not "int") to str',
        ),
        Wording(
            r"can only concatenate (?P<left>list|tuple) \(not \"(?P<type>[\w.]{1,30})\"\)",
            "A <<left>> and a value of type <<type>> are joined by +: both must be of one kind (shapes: x.shape.as_list() is a list, (a, b) a tuple).",
            "shape = [batch, *x.shape[1:]]; callbacks = [*callbacks, one_more]      # in one display, whatever the parts are",
            'TypeError: can only concatenate list (not "tuple") to list',
        ),
        Wording(
            r"unhashable type: '(?P<type>slice)'",
            "A dict is taken apart by positions ([:5], [1:]): an element of a dataset or a batch of names, of which each value has rows, not the dict.",
            "first = {name: value[:5] for name, value in batch.items()}; frame.iloc[:5]      # a table: iloc",
            "TypeError: unhashable type: 'slice'",
        ),
        Wording(
            r"unhashable type: '(?P<type>list|dict|set|numpy\.ndarray)'",
            "A <<type>> stands where something fixed is wanted: the key of a dict, a member of a set, an argument of a cached function (lru_cache) or a static one of jit, fetches and feeds of a session by list.",
            "key = tuple(value)                               # of a list; of an array: value.tobytes() or tuple(value.tolist()); of a dict: tuple(sorted(value.items()))\nprint(type(value), value)                         # on the last line of yours in the traceback",
            "TypeError: unhashable type: 'list'",
        ),
        Wording(
            r"not supported between instances of '(?P<left>str|int|float)' and '(?P<right>str|int|float)'",
            "A number is compared with a text (<<left>> with <<right>>): what comes from the command line, the environment, a CSV or YAML (1e-4 is text there) is text until it is turned into a number.",
            'lr = float(args.lr); steps = int(os.environ["STEPS"])      # argparse: type=float; YAML: 1.0e-4, not 1e-4\nfrom packaging.version import Version; Version(tf.__version__) >= Version("2.11")      # releases: never as texts or floats',
            "TypeError: '>=' not supported between instances of 'float' and 'str'",
        ),
        Wording(
            r"too many values to unpack \(expected (?P<wanted>\d{1,2})\)",
            "More parts come than the <<wanted>> names on the left: a dataset whose elements have another form ((x, y, weights), a dict, a batch where one example is meant), model.evaluate with more metrics, tfds.load with more splits, a shape with one axis more. A dict that is unpacked gives its keys.",
            "print(dataset.element_spec)                        # what an element is; for part in value: print(type(part))\nx, y, *rest = element; loss, *metrics = model.evaluate(dataset)      # or as many names as parts",
            "ValueError: too many values to unpack (expected 2)",
        ),
        Wording(
            r"cannot unpack non-iterable (?P<type>\w{0,30}Dataset\w{0,20}|_?OptionsDataset) object",
            "One dataset comes where several values are unpacked: tfds.load gives one for one split, a pair with the info only by with_info=True, a list for a list of splits.",
            '(train, valid), info = tfds.load(NAME, split=["train", "test"], with_info=True, as_supervised=True)\ntrain = tfds.load(NAME, split="train", as_supervised=True)      # one split: one name on the left',
            "TypeError: cannot unpack non-iterable BatchDataset object",
        ),
        Wording(
            r"cannot unpack non-iterable (?P<type>int|float|bool|Tensor|EagerTensor|\w{1,40}Array|function|method) object",
            "One value of type <<type>> comes where several are unpacked: model.evaluate of a model without metrics gives the loss alone, a function returns one value, an element of the dataset is no pair.",
            "loss = model.evaluate(dataset)                     # no metrics: one number; or model.compile(..., metrics=['accuracy'])\nprint(type(value), value)                          # before the line that unpacks",
            "TypeError: cannot unpack non-iterable int object",
        ),
        Wording(
            r"(?P<what>list|tuple) indices must be integers(?: or slices)?,? not '?(?P<type>str)",
            "A <<what>> is asked for a name, as if it were a dict: a JSON file holds a list of objects, an element of the dataset is a tuple, load_dataset gave a list of splits.",
            'print(type(value), value[0] if value else value)      # then value[0]["name"], or [row["name"] for row in value]\ndataset = dataset.map(lambda x, y: {"image": x, "label": y})      # elements with names',
            "TypeError: list indices must be integers or slices, not str",
        ),
        Wording(
            r"(?P<what>list|tuple) indices must be integers(?: or slices)?,? not '?(?P<type>tuple|float|list|Tensor|EagerTensor|numpy)",
            "A plain Python <<what>> is taken apart like an array (by <<type>>): several axes at once, an index that is a float from a division, or an index that is itself a tensor or list.",
            "x = np.asarray(rows); x[:, 0]                     # axes: an array\nrows[int(i)]; rows[n // 2]                        # // gives a whole number\ntf.gather(tf.constant(rows), indices)             # an index that is a tensor",
            "TypeError: list indices must be integers or slices, not tuple",
        ),
        Wording(
            r"string indices must be integers",
            "A text is asked for a name, as if it were a dict: a JSON text that was not parsed, or a loop over a dict, which gives its keys (texts).",
            "config = json.loads(text); config = json.load(open(path))      # parsed, not the text or path itself\nfor name, value in config.items(): ...                        # both; `for row in config` gives the names alone",
            "TypeError: string indices must be integers",
        ),
        Wording(
            r"not all arguments converted during string formatting",
            "`%` behind a text formats it, and there are more values than %s in it: a tuple that should be one value, a text where a number is divided (`n % 2` of what came as text), or logging with values and no %s.",
            'logging.info("batch %s of %s", a, b); "shape %s" % (shape,)      # one %s for each; a tuple within a tuple\nint(n) % 2                                                       # a number that came as text',
            "TypeError: not all arguments converted during string formatting",
        ),
    ),
    "E282": (
        Wording(
            r"cannot unpack non-iterable NoneType object",
            "A function that should give several values gives None: its return is missing (or stands within an if that was not taken), as in a map function, train_step, __getitem__ or input_fn.",
            "def parse(record): ...; return image, label      # on the level of the function, not within the loop or the if\nresult = f(x); assert result is not None, x",
            "TypeError: cannot unpack non-iterable NoneType object",
        ),
        Wording(
            r"(?:expected str, bytes or os\.PathLike object|argument must be (?:a )?str(?:ing)?, (?:a )?bytes,? or os\.PathLike object), not '?NoneType",
            "A path is None: a flag that was not given, an environment variable that is not set (os.environ.get), or a search that found nothing (tf.train.latest_checkpoint in an empty or wrong folder).",
            'path = tf.train.latest_checkpoint(folder); assert path, f"no checkpoint in {folder}"\nassert FLAGS.data_dir, "--data_dir is missing"; os.environ["DATA_DIR"]      # [..] says which variable is not set',
            "TypeError: expected str, bytes or os.PathLike object, not NoneType",
        ),
        Wording(
            r"(?:int|float)\(\) argument must be .{0,80}?not '?NoneType",
            "A number is to be made of None: a dimension that is not known (x.shape[0] of a batch without drop_remainder), a flag or environment variable that was not given.",
            "batch = tf.shape(x)[0]                             # an unknown dimension, at run time; known: drop_remainder=True, or set_shape\nsteps = int(os.environ.get('STEPS', 1000))         # with a default",
            "TypeError: int() argument must be a string, a bytes-like object or a real number, not 'NoneType'",
        ),
    ),
    "E281": (
        Wording(
            r"cannot import name 'soft_unicode' from 'markupsafe'",
            "MarkupSafe 2.1 and later have no soft_unicode, and this Jinja2 (before 3.0) wants it.",
            'pip install -U jinja2              # or: pip install "markupsafe==2.0.1"',
            "ImportError: cannot import name 'soft_unicode' from 'markupsafe'",
        ),
        Wording(
            r"cannot import name '(?:escape|Markup|contextfilter|environmentfilter)' from 'jinja2",
            "Jinja2 3.1 and later leave escape and Markup to MarkupSafe and have no contextfilter; an older Flask or nbconvert asks for them.",
            'pip install -U flask nbconvert      # or: pip install "jinja2<3.1"',
            "ImportError: cannot import name 'escape' from 'jinja2'",
        ),
        Wording(
            r"__new__\(\) got an unexpected keyword argument '(?P<name>file|serialized_options|create_key|has_options|syntax)'",
            "The installed protobuf is older than the compiler that made a package's *_pb2.py files: it does not know `<<name>>`.",
            'pip install -U "protobuf>=3.20,<3.21"      # TensorFlow up to 2.11; newer TensorFlow: as pip check says\nprotoc object_detection/protos/*.proto --python_out=.      # files of your own clone: made anew with the protoc of that release',
            "TypeError: __new__() got an unexpected keyword argument 'file'",
        ),
        Wording(
            r"(?:cannot import name|has no attribute) '(?P<name>load_dataset|load_metric|load_from_disk)'|module 'datasets' has no attribute",
            "The `datasets` that is imported is not Hugging Face's package: a folder or file of your own with that name hides it, or a very old release.",
            'python -c "import datasets; print(datasets.__file__)"      # a path of yours: rename it\npip install -U datasets                                    # load_metric went to the package evaluate with 3.0',
            "ImportError: cannot import name 'load_dataset' from 'datasets'",
        ),
        Wording(
            r"cannot import name '(?P<name>storage|bigquery|aiplatform|logging|pubsub|monitoring_v3)' from 'google\.cloud'",
            "google.cloud is only the common roof; `<<name>>` is a package of its own that is not installed in this Python.",
            "python -m pip install google-cloud-<<name>>      # monitoring_v3: google-cloud-monitoring; then restart the kernel",
            "ImportError: cannot import name 'storage' from 'google.cloud'",
        ),
        Wording(
            r"module 'yaml' has no attribute 'FullLoader'",
            "PyYAML is older than 5.1, which brought FullLoader.",
            "pip install -U --ignore-installed pyyaml      # or yaml.safe_load(file), which every release has",
            "AttributeError: module 'yaml' has no attribute 'FullLoader'",
        ),
        Wording(
            r"module 'gast' has no attribute '(?P<name>Index|Num|Str)'",
            "gast is newer than this TensorFlow's AutoGraph: gast 0.3 took Num and Str, 0.4 took Index.",
            'pip install "gast==0.2.2"      # TensorFlow 1.14 to 2.1; "gast==0.3.3" for 2.2 to 2.4; then restart the kernel',
            "AttributeError: module 'gast' has no attribute 'Index'",
        ),
        Wording(
            r"module 'six' has no attribute '(?P<name>ensure_\w{2,8})'|module 'six\.moves' has no attribute",
            "six is older than 1.12, mostly the system's own that is found first.",
            "pip install -U --ignore-installed six      # then restart the kernel",
            "AttributeError: module 'six' has no attribute 'ensure_str'",
        ),
        Wording(
            r"module 'pandas' has no attribute '(?P<name>Panel|Int64Index|Float64Index|np|datetime)'",
            "pandas.<<name>> is gone (Panel with 1.0, Int64Index with 2.0, pandas.np with 2.0), and the package that asks for it is older.",
            'pip install -U PACKAGE_OF_THE_LAST_FRAME      # or: pip install "pandas<2" ("pandas<1" for Panel)',
            "AttributeError: module 'pandas' has no attribute 'Panel'",
        ),
        Wording(
            r"module 'tensorflow_hub' has no attribute '(?P<name>KerasLayer|load|resolve)'",
            "hub.<<name>> came with tensorflow-hub 0.5 (2019): the installed one is older, or a file or folder of your own hides it.",
            'pip install -U tensorflow-hub      # 0.12 for TensorFlow 1.15\npython -c "import tensorflow_hub as h; print(h.__version__, h.__file__)"',
            "AttributeError: module 'tensorflow_hub' has no attribute 'KerasLayer'",
        ),
        Wording(
            r"module '(?P<module>importlib)' has no attribute '(?P<name>metadata|resources|util|abc)'",
            "`import importlib` alone does not bring importlib.<<name>>; metadata came with Python 3.8, resources.files with 3.9.",
            "import importlib.<<name>>      # named in full; Python 3.7: pip install importlib-metadata, import importlib_metadata",
            "AttributeError: module 'importlib' has no attribute 'metadata'",
        ),
        Wording(
            r"module '(?P<module>h5py|cv2|wrapt|attr|json|random|numpy|pandas|tensorflow_addons|PIL|requests|tqdm)' has no attribute '(?P<name>File|imread|imwrite|imdecode|cvtColor|resize|ObjectProxy|s|ib|load|loads|dump|dumps|read_csv|DataFrame|array|ndarray|asarray|random|optimizers|losses|layers|Image|get|tqdm)'",
            "Every release of `<<module>>` has `<<name>>`: what is imported is not it. A file or folder of your own has that name, an empty folder is left over from a removed installation, or the installation is damaged.",
            "python -c \"import <<module>> as m; print(m.__file__, m.__path__ if hasattr(m, '__path__') else '')\"      # a path of yours: rename it, remove __pycache__\npip install --force-reinstall --no-deps <<module>>                                                    # cv2: opencv-python-headless; PIL: pillow; attr: attrs (not the package attr)",
            "AttributeError: module 'h5py' has no attribute 'File'",
        ),
    ),
    "E495": (
        Wording(
            r"'EntryPoints' object has no attribute 'get'",
            "importlib-metadata 5 and later (and Python 3.12's own) have no entry_points().get, and an older package asks for it.",
            'pip install "importlib-metadata<5"      # Python up to 3.11; or the package of the traceback\'s last file: pip install -U',
            "AttributeError: 'EntryPoints' object has no attribute 'get'",
        ),
        Wording(
            r"'(?:[\w.]{0,60}\.)?Repeated(?:Composite|Scalar)\w{0,20}' object has no attribute '(?P<name>append|add)'",
            "A repeated field of a protocol buffer has no `<<name>>`: fields of messages take add() (or append of a newer protobuf), fields of numbers and texts append() and extend().",
            "item = message.items.add(); item.name = 'x'; message.items.extend([item])      # messages\nfeature.int64_list.value.extend([1, 2]); feature.bytes_list.value.append(data)      # numbers and bytes",
            "AttributeError: 'RepeatedCompositeContainer' object has no attribute 'append'",
        ),
        Wording(
            r"'(?P<type>BytesList|FloatList|Int64List|Feature|Features)' object has no attribute '(?P<name>append|extend|items|keys)'",
            "tf.train.<<type>> is a message around the values: what is asked is in its field (value of a list, feature of Features).",
            "example.features.feature['image'].bytes_list.value.append(data); example.features.feature.keys()",
            "AttributeError: 'BytesList' object has no attribute 'append'",
        ),
        Wording(
            r"'FieldDescriptor' object has no attribute 'has_presence'",
            "The installed protobuf is older than 3.19, and a newer package (or its generated files) asks for it.",
            'pip install -U "protobuf>=3.20,<3.21"      # TensorFlow up to 2.11; newer TensorFlow: as pip check says',
            "AttributeError: 'FieldDescriptor' object has no attribute 'has_presence'",
        ),
        Wording(
            r"'DatasetV1\w{0,20}' object is not (?:iterable|an iterator)",
            "This runs in graph mode (TensorFlow 1, or eager execution switched off), where a dataset has no values to loop over.",
            "tf.compat.v1.enable_eager_execution()                       # 1.x, at the very top\nfeatures = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()      # graph mode: then session.run(features)",
            "TypeError: 'DatasetV1Adapter' object is not iterable",
        ),
    ),
    "P75": (
        Wording(
            r"'(?:numpy\.)?ndarray' object has no attribute '(?P<name>batch|map|shuffle|prefetch|take|cache|repeat_|with_options|cardinality|element_spec)'",
            "`<<name>>` is a method of tf.data, and this is a NumPy array.",
            "dataset = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(10_000).batch(global_batch, drop_remainder=True)",
            "AttributeError: 'numpy.ndarray' object has no attribute 'batch'",
        ),
        Wording(
            r"object of type 'generator' has no len\(\)",
            "A generator does not know how much it gives, and something asks for its length (a progress bar, steps per epoch, a sampler).",
            "model.fit(generator, steps_per_epoch=EXAMPLES // global_batch)      # said beside it\nclass Batches(keras.utils.Sequence): ...                            # __len__ and __getitem__; on a TPU better a tf.data.Dataset",
            "TypeError: object of type 'generator' has no len()",
        ),
    ),
    "E280": (
        Wording(
            r"No module named 'google\.cloud'",
            "None of Google's cloud packages is installed in this Python; each service has one of its own.",
            "python -m pip install google-cloud-storage      # google-cloud-aiplatform, -bigquery, -logging: by what is imported from google.cloud",
            "ModuleNotFoundError: No module named 'google.cloud'",
        ),
        Wording(
            r"No module named 'tensorflow\.examples",
            "tensorflow.examples (input_data of the MNIST tutorial) is not in TensorFlow 2's wheels, nor in some of 1.x.",
            "(x_train, y_train), (x_test, y_test) = tf.keras.datasets.mnist.load_data()      # in place of input_data.read_data_sets",
            "ModuleNotFoundError: No module named 'tensorflow.examples'",
        ),
        Wording(
            r"No module named 'tensorflow\.(?:compat|python)'",
            "The `tensorflow` that is found is not whole: an empty folder left over from a removed installation, a file or folder of your own with that name, or an installation that was broken off.",
            'python -c "import tensorflow as tf; print(tf.__path__)"      # a path of yours: rename it\npip uninstall -y tensorflow tensorflow-cpu tensorflow-tpu tensorflow-gpu; pip install --no-cache-dir tensorflow; then restart the kernel',
            "ModuleNotFoundError: No module named 'tensorflow.compat'",
        ),
        Wording(
            r"No module named 'tensorflow_core(?:\.[\w.]{1,60})?'",
            "tensorflow_core was TensorFlow's inner name from 1.15 to 2.1 only: the code (or a pickle) imports it by that name, or keras, tensorflow-estimator or addons of that time are left beside another TensorFlow. In a notebook: pip (or Colab's %tensorflow_version) put another TensorFlow in place while one was loaded.",
            '# in a notebook: restart the runtime, then %tensorflow_version (or pip install) before the first import, and never both\ngrep -rn "tensorflow_core" --include=*.py . | head      # your own code: tensorflow in its place\npip uninstall -y tensorflow tensorflow-estimator keras; pip install "tensorflow==THE_RELEASE"      # left-overs of another one',
            "ModuleNotFoundError: No module named 'tensorflow_core.keras'",
        ),
        Wording(
            r"No module named '(?P<name>tokenization|modeling|optimization|run_classifier|extract_features|run_squad|bert)'",
            "`<<name>>` is a file of the BERT repository (or of one made from it), and not a package: it is found only where the clone is on Python's path.",
            "git clone the repository that the script belongs to, then: export PYTHONPATH=$PYTHONPATH:$PWD/bert      # a notebook: sys.path.insert(0, '/content/bert')\npip install bert-tensorflow; from bert import tokenization                                             # TensorFlow 1; Model Garden: from official.nlp.tools import tokenization",
            "ModuleNotFoundError: No module named 'tokenization'",
        ),
        Wording(
            r"No module named 'pip(?:\._internal|\._vendor)?(?:\.[\w.]{1,40})?'",
            "pip itself is damaged or missing in this Python (an upgrade that was broken off, a virtual environment without it).",
            "python -m ensurepip --upgrade; python -m pip install -U pip      # or make the virtual environment anew; Debian: sudo apt-get install python3-pip python3-venv",
            "ModuleNotFoundError: No module named 'pip._internal'",
        ),
    ),
    "E514 E518": (
        Wording(
            r"cannot import name '_?(?P<name>psutil_linux|imaging|cffi_backend|yaml|sqlite3|multiarray)'",
            "The compiled part of a package is missing or made for another Python: <<name>>.",
            "python -m pip install --force-reinstall --no-cache-dir psutil pillow cffi pyyaml      # the one of these that the traceback's last file belongs to",
            "ImportError: cannot import name '_psutil_linux'",
        ),
    ),
    "E563": (
        Wording(
            r"'(?P<type>\w{0,30}Dataset\w{0,12})' object does not support indexing",
            "A dataset has no positions: it is a stream of elements.",
            "first = next(iter(dataset)); tenth = next(iter(dataset.skip(9)))      # or list(dataset.take(10).as_numpy_iterator())",
            "TypeError: 'TakeDataset' object does not support indexing",
        ),
    ),
    "E129": (
        Wording(
            r"buffer size must be a multiple of element size",
            "np.frombuffer reads bytes as a type in whose size their number does not go: they were written as another type (float64, uint8), with a header before them, compressed, or not to the end.",
            "array = np.frombuffer(data, dtype=np.uint8); print(len(data))      # the very type of tobytes(): array.dtype where it is written; a header: offset=16\narray = np.load(path)                                              # what np.save wrote: never frombuffer",
            "ValueError: buffer size must be a multiple of element size",
        ),
    ),
}
