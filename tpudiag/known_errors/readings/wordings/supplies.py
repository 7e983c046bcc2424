# ruff: noqa: E501  (sentences and what is pasted stay in one piece)
"""What a job is fed and built from: buckets, input files, examples, packages."""

from __future__ import annotations

from .wording import Wording, Wordings

SUPPLIES: Wordings = {
    "E598": (
        Wording(
            r"Invalid bucket name: ?'?(?P<bucket>[\w.{}$<>/-]{1,80})",
            "There can be no bucket of the name `<<bucket>>`: a placeholder of the notebook or command that was left as it is, an empty variable, a name with capitals or blanks, or gs:// written twice.",
            'BUCKET = "the-name-of-your-own-bucket"      # lower case, without gs://; then gs://{BUCKET}/...\ngcloud storage buckets list                   # which ones there are; gcloud storage buckets create gs://NAME --location=REGION_OF_THE_TPU',
            "InvalidArgumentError: Error executing an HTTP request: HTTP response code 400 with body 'Invalid bucket name: 'YOUR_BUCKET'' when reading metadata of gs://YOUR_BUCKET/models",
        ),
    ),
    "E26": (
        Wording(
            r"Anonymous credentials cannot be refreshed",
            "Nobody is logged in (the client was made anonymous, or found no account), and the bucket or the request wants an account: it is not public, or its name is not that of a public one.",
            "gcloud auth application-default login                      # a machine of your own; the VM: its service account\nfrom google.colab import auth; auth.authenticate_user()      # Colab\ngcloud storage ls gs://BUCKET                                # is it the right name? then its rights",
            "ValueError: Anonymous credentials cannot be refreshed.",
        ),
        Wording(
            r"(?:40[13] ?)?(?P<account>(?![\w.-]{1,60}@[\w.-]{1,60}gserviceaccount)[\w.+-]{1,60}@[\w.-]{2,60}\.\w{2,10}) does not have (?:serviceusage|storage)\.(?P<right>[\w.]{2,40}) access",
            "The account that is logged in, <<account>>, has no storage.<<right>> on this bucket: it is somebody else's bucket, of another project, or its name is mistyped (a bucket that does not exist is refused with the same words).",
            'gcloud storage buckets list --project=PROJECT      # is the bucket yours, and spelled so?\ngcloud storage buckets add-iam-policy-binding gs://BUCKET --member="user:<<account>>" --role=roles/storage.objectAdmin      # by its owner\ngcloud config get account; gcloud auth login                  # the account that was meant? in Colab: auth.authenticate_user() again',
            "PermissionDeniedError: HTTP response code 403: somebody@gmail.com does not have storage.objects.get access to bucket/data.",
        ),
    ),
    "E560": (
        Wording(
            r"`?cycle_length`? must be (?:>|greater|positive|a positive)",
            "The list of input files is empty: cycle_length is mostly min(threads, number of files), and the pattern of --input_file matched nothing (a wrong folder, an unfilled variable, no right to list the bucket, a comma list with blanks).",
            'files = tf.io.gfile.glob(PATTERN); assert files, f"nothing matches {PATTERN}"      # before the dataset is made\ngcloud storage ls "gs://BUCKET/DIR/*.tfrecord"                                       # what is there; quotes keep the shell from filling in the *',
            "cycle_length = min(num_cpu_threads, len(input_files)) ValueError: `cycle_length` must be > 0",
        ),
    ),
    "E213 E484": (
        Wording(
            r"could not be converted to the expected type.{0,200}?yielded element was \[?\[?list\(",
            "The element is an array of lists (`[list([...]) list([...])]`): its rows have different lengths, so NumPy keeps them as objects, and no tensor can be made of it.",
            "rows = keras.utils.pad_sequences(rows, maxlen=LENGTH, dtype='float32', padding='post')      # one length for all, before the yield\nprint({len(row) for row in rows})                                                              # more than one number: ragged",
            "TypeError: `generator` yielded an element that could not be converted to the expected type. The expected type was float32, but the yielded element was [list([0.5, 0.7]) list([0.1])].",
        ),
        Wording(
            r"The expected structure was \{.{1,2000}?yielded element was \{",
            "Both are dicts, with other keys (or other nesting): every key that is declared must come with each yield, and no other.",
            "print(sorted(next(iter(generate())))); print(sorted(output_types))      # the same names? what only one of them has is the fault\nyield {key: example[key] for key in output_signature}",
            "TypeError: `generator` yielded an element that did not match the expected structure. The expected structure was {'a': tf.float32}, but the yielded element was {'b': 1}.",
        ),
    ),
    "P75 E495": (
        Wording(
            r"'str' object has no attribute '(?P<name>items|keys|values|get|update|pop)'",
            "A text stands where a dict is wanted (`<<name>>` is asked of it): a setting of the configuration that takes names with values and was given a bare path or name, or a JSON or YAML text (or the file's path) that was not parsed.",
            '"val_set": {"NAME": "data/val.index"}            # the program\'s own example of the configuration shows which settings are groups\nconfig = json.load(open(path)); yaml.safe_load(open(path))      # parsed, not the text or path itself\nprint(type(value), repr(value)[:200])             # right before the line that fails',
            "for k, v in params['val_set'].items(): AttributeError: 'str' object has no attribute 'items'",
        ),
    ),
    "P03": (
        Wording(
            r"module 'tensorflow(?:\._api\.v\d)?\.compat\.v2' has no attribute '(?P<name>__internal__)'",
            "The package keras is newer than TensorFlow: keras 2.5 to 2.15 asks TensorFlow of its own number for `<<name>>`, and this TensorFlow is older (1.x, or below 2.5).",
            'pip show tensorflow keras | grep -E "Name|Version"\npip uninstall -y keras; pip install "keras==2.3.1"      # TensorFlow 1.15 to 2.1; 2.2.5 for 1.14 and older; from 2.5 on: TensorFlow\'s own number\nfrom tensorflow import keras                           # and in your code only this one, never `import keras` beside it; then restart the kernel',
            "AttributeError: module 'tensorflow._api.v1.compat.v2' has no attribute '__internal__'",
        ),
        Wording(
            r"module 'tensorflow(?:\._api\.v\d)?\.compat\.v2\.__internal__' has no attribute '(?P<name>\w{1,60})'",
            "The package keras is of another release than TensorFlow: up to 2.15 each keras asks its own TensorFlow for such inner names, and `<<name>>` is not in this one.",
            'pip install "keras==$(python -c \'import tensorflow as tf; print(".".join(tf.__version__.split(".")[:2]))\').*"      # keras of TensorFlow\'s number; 2.16 and later: keras 3\nfrom tensorflow import keras                     # and in your code only this one, never `import keras` beside it',
            "AttributeError: module 'tensorflow.compat.v2.__internal__' has no attribute 'register_clear_session_function'",
        ),
        Wording(
            r"module 'tensorflow\.compat\.v2' has no attribute 'contrib'|module 'tensorflow[\w.]{0,40}\.compat' has no attribute 'v1'",
            "TensorFlow is 1.14, or a preview of 2.0: its compat modules are not whole yet, and a newer package (tensorflow-datasets, tensorflow-hub) expects them.",
            'pip install -U tensorflow                                        # 2.1 or later; or 1.15, the last 1.x\npip install "tensorflow-datasets==1.3.*" "tensorflow-hub<0.8"      # packages of that time',
            "AttributeError: module 'tensorflow.compat.v2' has no attribute 'contrib'",
        ),
        Wording(
            r"module 'tensorflow' has no attribute '(?P<name>data|keras|Variable|constant|Tensor|__version__|nn|math|float32|function|io|config|distribute|convert_to_tensor|random|shape|cast|reshape|train|image|summary|saved_model)'",
            "Every TensorFlow of today has tf.<<name>>: what is imported is not it. Either an empty folder `tensorflow` is left over from a removed installation, or a file or folder of your own has the name; or it is very old (tf.data came with 1.4, tf.distribute with 1.14, tf.function and tf.config with 2.0).",
            "python -c \"import tensorflow as tf; print(tf.__path__, getattr(tf, '__version__', 'none'))\"      # _NamespacePath: an empty folder; a path of yours: rename it\npip uninstall -y tensorflow tensorflow-cpu tensorflow-tpu tensorflow-gpu; rm -rf \"$(python -c 'import sysconfig; print(sysconfig.get_paths()[\"purelib\"])')/tensorflow\"\npip install tensorflow                           # then restart the kernel",
            "AttributeError: module 'tensorflow' has no attribute 'data'",
        ),
        Wording(
            r"module 'tensorflow' has no attribute 'python'",
            "tensorflow.python is TensorFlow's private part: it is no attribute of `tensorflow` (since 2.1 not even by accident), and must not be used by name.",
            "import tensorflow as tf; tf.keras.optimizers.Optimizer, tf.keras.backend, tf.data      # the public name of what is meant\nfrom tensorflow.python.framework import ops      # if there is none: an import finds it, in this release",
            "AttributeError: module 'tensorflow' has no attribute 'python'",
        ),
    ),
    "P200": (
        Wording(
            r"command line flag 'f'",
            "The notebook's kernel was started as `... -f /path/kernel.json`, and absl (tf.flags) takes that for the program's own command line as soon as a flag is read.",
            'import sys; sys.argv = sys.argv[:1]                       # in the first cell, before any flag is read\nfrom absl import flags; flags.DEFINE_string("f", "", "the kernel\'s own")      # or a flag of that name; or python train.py ... from a terminal or with !',
            "absl.flags._exceptions.UnrecognizedFlagError: Unknown command line flag 'f'",
        ),
        Wording(
            r"wrapped\(_sys\.argv\).{0,900}?command line flag '(?P<flag>[\w-]{1,60})'",
            "A flag is read while the files are still imported (tf.flags parses at the first read), before the file that defines --<<flag>> was reached; or this file does not define it at all (another parser, argparse, does).",
            'grep -rn "<<flag>>" --include=*.py . | head      # who defines it?\ndef main(argv): ...                             # FLAGS are read in main only, started by app.run(main)\nfrom absl import flags; flags.FLAGS(sys.argv, known_only=True)      # beside argparse: absl leaves what it does not know',
            "np.random.seed(FLAGS.random_seed) flags.py, in __getattr__ wrapped(_sys.argv) absl.flags._exceptions.UnrecognizedFlagError: Unknown command line flag 'train'",
        ),
    ),
    "E500": (
        Wording(
            r"'ascii' codec can't encode character",
            "A text with other letters than ASCII's meets something that takes ASCII only: Python without a UTF-8 locale (a container, ssh, cron: print and open), or NumPy's bytes type, which datasets' to_tf_dataset makes of text columns (up to 2.12).",
            "export LANG=C.UTF-8 LC_ALL=C.UTF-8 PYTHONUTF8=1            # print, open: before Python starts; open(path, encoding='utf-8')\npip install -U datasets                                     # to_tf_dataset over a text column; or tokenise first and leave the text out: columns=['input_ids', 'attention_mask']\nnp.array([s.encode('utf-8') for s in texts])               # bytes by hand, never np.array(texts, dtype='S')",
            "UnicodeEncodeError: 'ascii' codec can't encode character '\\xe9' in position 0: ordinal not in range(128)",
        ),
    ),
    "E498": (
        Wording(
            r"BatchEncoding|tokenization_utils.{0,900}?too many values to unpack",
            "What goes into fit is a tokenizer's BatchEncoding: it looks like a dict but is none, and Keras takes it apart as a sequence of its names.",
            "model.fit(dict(encodings), labels)                         # encodings.data is the same\ndataset = tf.data.Dataset.from_tensor_slices((dict(tokenizer(texts, padding='max_length', truncation=True, max_length=128, return_tensors='np')), labels))",
            "model.fit(x=X_train, #transformers.tokenization_utils_base.BatchEncoding ValueError: too many values to unpack (expected 2)",
        ),
    ),
    "E489": (
        Wording(
            r"too many dimensions 'str'",
            "A column of texts is among what becomes tensors: the examples still hold their words (the original columns, a label as text) beside the tokenizer's numbers.",
            "tokenized = dataset.map(tokenize, batched=True, remove_columns=dataset.column_names)      # only ids, masks and labels are left\nlabels = [names.index(name) for name in labels]                                              # labels as numbers",
            "ValueError: too many dimensions 'str'",
        ),
    ),
    "E492": (
        Wording(
            r"Expected binary or unicode string, got ?(?P<value>[-\d.]{1,12}|None|nan|True|False)",
            "A column of type object holds texts and other values (<<value>>): a table with empty cells (nan is a float) or numbers between words, of which one tensor cannot be made.",
            "print(frame.dtypes); frame = frame.fillna('').astype(str)      # a column that is text; pd.to_numeric(frame[name]) for one that is numbers\ndataset = tf.data.Dataset.from_tensor_slices((dict(frame), labels))",
            "TypeError: Expected binary or unicode string, got 0",
        ),
    ),
    "E216": (
        Wording(
            r"DatasetNotFoundError: Dataset (?P<name>[\w/:.-]{1,60}) not found",
            "`<<name>>` is not among the data sets that this release of TensorFlow Datasets knows: newer, older (removed), spelled otherwise, or one of your own whose module was never imported. What lies ready in a bucket needs no name.",
            'print([n for n in tfds.list_builders() if "<<name>>"[:4] in n])      # how is it spelled here?\nbuilder = tfds.builder_from_directory("gs://gresearch/robotics/<<name>>/0.1.0")      # prepared data (Open X-Embodiment lies there); the folder with dataset_info.json\npip install -U tfds-nightly; import my_datasets      # a newer list; your own builder: its module imported before tfds.load',
            "tensorflow_datasets.core.registered.DatasetNotFoundError: Dataset bridge not found.",
        ),
    ),
    "E163": (
        Wording(
            r"signature_wrapper\w{0,20} as input #(?P<number>\d{1,3}).{0,20}?was expected to be an? (?P<want>\w{1,12}) tensor but is an? (?P<got>\w{1,12}) tensor",
            "A SavedModel's signature takes a <<want>> tensor as input <<number>> and is given <<got>>: what calls it (serving, TFX's evaluator, a batch job) sends another form than was exported; `string` mostly means whole serialized Examples.",
            'saved_model_cli show --dir MODEL --all             # names, types and shapes that each signature takes\n@tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="examples")])\ndef serve(examples): return {"outputs": model(tf.io.parse_example(examples, FEATURES))}\nmodel.save("MODEL", signatures={"serving_default": serve})      # a signature that takes serialized Examples',
            "InvalidArgumentError: cannot compute __inference_signature_wrapper_93614 as input #0(zero-based) was expected to be a float tensor but is a string tensor",
        ),
    ),
    "E119": (
        Wording(
            r"No files matched pattern: ?\]",
            "The pattern is empty: the flag was given no value (a blank behind its `=`, a variable that is not set, quotes that the shell ate).",
            'python main.py --training_file_pattern="gs://BUCKET/train-*.tfrecord"      # no blank behind =, in quotes\necho "$PATTERN"                                                          # is it set?',
            "InvalidArgumentError: assertion failed: [No files matched pattern: ]",
        ),
    ),
    "E567": (
        Wording(
            r"Cannot set the property (?P<name>\w{1,60}) on (?P<type>\w{0,30}Options)",
            "tf.data's <<type>> has no option `<<name>>` in this release: the options are fixed names that came, moved (experimental_*, .experimental_optimization, .threading) and went with the releases.",
            'print([n for n in dir(tf.data.Options()) if not n.startswith("_")])      # which ones there are\n# experimental_allow_stateful, experimental_stateful_whitelist -> experimental_external_state_policy -> external_state_policy; experimental_threading -> threading; experimental_deterministic -> deterministic\ngit checkout v2.0                     # a repository (tensorflow/models): the branch of your TensorFlow',
            "AttributeError: Cannot set the property experimental_allow_stateful on Options",
        ),
    ),
    "E470": (
        Wording(
            r"retrieve layer at index (?P<index>\d{1,5}),? but model only has (?P<name>\d{1,5})",
            "The model has <<name>> layers and was asked for number <<index>> (get_layer(index=...), model.layers[...]; they count from 0): a model within the model counts as one layer, or the model is another one (include_top=False, another release) than the number was counted in.",
            'for number, layer in enumerate(model.layers): print(number, layer.name)      # what there is\nlayer = model.get_layer("block5_conv3")                        # by name in place of a number\nlayer = model.get_layer("resnet50").get_layer("conv5_block3_out")      # within an inner model: ask that one',
            "ValueError: Was asked to retrieve layer at index 5 but model only has 3 layers.",
        ),
        Wording(
            r"[Ll]ayer (?P<layer>\S{1,60}?) has multiple inbound nodes",
            "The layer `<<layer>>` was called more than once (shared between inputs, or the model was applied a second time), so it has several outputs: layer.output (or input) does not say which.",
            'x = model.get_layer("<<layer>>").get_output_at(0)      # Keras 2: that of the first call; get_input_at(0)\nx = layer(inputs); features = keras.Model(inputs, x)      # or keep the tensor of the call (Keras 3 has no get_output_at)\nkeras.backend.clear_session()                             # a notebook in which the model was built twice',
            'AttributeError: Layer dense_24 has multiple inbound nodes, hence the notion of "layer output" is ill-defined.',
        ),
    ),
    "E281": (
        Wording(
            r"module '__main__' has no attribute '(?P<name>\w{1,80})'",
            "`<<name>>` was defined in the notebook or script that ran (`__main__`) and pickled by name; the process that reads it (a worker, another script, a container of a pipeline) has another `__main__` without it.",
            "# move <<name>> into a file of its own, my_module.py, that is installed (or copied) where it is read; then\nfrom my_module import <<name>>                  # before pickling, and in the other process: it is found by my_module.<<name>>\nimport __main__; __main__.<<name>> = <<name>>   # an old pickle: the name put there before pickle.load",
            "AttributeError: module '__main__' has no attribute 'vertex_model_uploader_Executor'",
        ),
    ),
    "E280": (
        Wording(
            r"No module named '(?P<name>user_module_\d{1,3}|user_code_\w{1,40})'",
            "`<<name>>` is TFX's name for the module file of a component: it was not brought to the workers (Dataflow, a container) that run the step.",
            'Transform(module_file="gs://BUCKET/preprocessing.py", ...)      # a path that workers can read\nbeam_pipeline_args = ["--setup_file=./setup.py"]                  # or functions in a package of yours: preprocessing_fn="my_package.preprocessing.preprocessing_fn"\npip install -U tfx                                                # 1.x packs the file as a wheel by itself',
            "ModuleNotFoundError: No module named 'user_module_0'",
        ),
    ),
    "E496": (
        Wording(
            r"KeyError: ?u?['\"](?P<name>\[(?:SEP|CLS|MASK|PAD|UNK)\]|<(?:s|/s|pad|unk|mask)>)['\"]",
            "The vocabulary has no `<<name>>`: its file was not found or is empty (a local path while everything else is in a bucket, or the reverse), belongs to another model, or has its lines in another form.",
            'vocab = tf.io.gfile.GFile("gs://BUCKET/vocab.txt").read().split(); print(len(vocab), vocab[:8])      # is it read, and whole?\ngcloud storage cp vocab.txt gs://BUCKET/DATA_DIR/vocab.txt                                             # where the program looks: ELECTRA wants it in --data-dir',
            "ignore_ids = [vocab['[SEP]']] KeyError: '[SEP]'",
        ),
    ),
    "E129": (
        Wording(
            r"tarfile\.(?:ReadError|InvalidHeaderError)|InvalidHeaderError|Not a gzipped file \(b?'(?P<start>[^']{1,8})|zipfile\.BadZipFile",
            "What was downloaded as an archive is none: mostly a web page (a proxy's, a login, an error, a page in place of the file), or half a file of a download that broke off.",
            "ls -l FILE; head -c 200 FILE      # `<!DOCTYPE html` or a few bytes: not the archive\nrm -r /tmp/tfhub_modules ~/.keras/datasets/FILE      # what was kept of it; then again\ncurl -L -o FILE 'URL'; file FILE      # by hand, from a machine with a way out; wget of GitHub: the raw file, not its page",
            "tarfile.ReadError: file could not be opened successfully",
        ),
    ),
    "E488": (
        Wording(
            r"(?P<handle>https?://(?:www\.)?(?:tfhub\.dev|kaggle\.com)[\w./-]{1,160}) does not appear to be a valid module",
            "TensorFlow Hub could not fetch <<handle>> or what it fetched is no module: no way to the internet (a proxy, Kaggle's switch, a machine without external address), a mistyped handle or version, a package that is too old for the site, or half a download in its cache.",
            'curl -sIL "<<handle>>?tf-hub-format=compressed" | grep -iE "^(HTTP|content-type)"      # 200 and an archive? else the network or the handle\nrm -r "${TFHUB_CACHE_DIR:-/tmp/tfhub_modules}"; pip install -U tensorflow-hub             # then again\nlayer = hub.KerasLayer("/path/to/the/unpacked/module")                                    # fetched by hand elsewhere: the folder with saved_model.pb',
            "OSError: https://tfhub.dev/google/tf2-preview/gnews-swivel-20dim/1 does not appear to be a valid module.",
        ),
    ),
    "E592": (
        Wording(
            r"could not determine a constructor for the tag ?'(?P<tag>[^']{1,80})'",
            "The YAML file holds an object of Python (the tag `<<tag>>`: a tuple, an enum, a class), which the safe reader refuses: it was written with yaml.dump of objects and not as plain values.",
            "yaml.safe_dump(json.loads(json.dumps(config.as_dict())), file)      # tuples become lists: written plainly\nhyperparams.save_params_dict_to_yaml(config, path)                     # Model Garden writes its own configuration so\nsed -i 's/ !!python\\/tuple//' FILE                                     # a file that is there: a tuple's tag taken out, its list stays",
            "yaml.constructor.ConstructorError: could not determine a constructor for the tag 'tag:yaml.org,2002:python/tuple'",
        ),
    ),
    "E491": (
        Wording(
            r"Non-existent config key: (?P<key>[\w.]{1,80})",
            "The configuration file sets `<<key>>`, which the program's defaults (yacs) do not know: a file of another release of the program, a key on another level, or a mistyped one.",
            'grep -rn "<<key>>" --include=*.py --include=*.yaml . | head      # where is it defined, who sets it?\ncfg.set_new_allowed(True); cfg.merge_from_file(PATH)              # keys that the defaults lack are taken; or the file of this very release',
            "KeyError: 'Non-existent config key: loss'",
        ),
    ),
}
