# ruff: noqa: E501  (sentences and what is pasted stay in one piece)
"""Wordings of weights and models that are saved, loaded and restored."""

from __future__ import annotations

from .wording import Wording, Wordings

WEIGHTS: Wordings = {
    "E122": (
        Wording(
            r"Layer '(?P<layer>[\w./-]{1,80})' expected 0 variables, but received (?P<saved>\d{1,5}) variables",
            "`<<layer>>` has no variables yet when its <<saved>> are read: the model that is made anew is not built (a class of your own or of transformers builds its layers at the first call), so that there is nothing to put them into.",
            "model = build_model(); model(tf.zeros([1, *SHAPE], tf.int32)); model.load_weights(path)      # one call first, then the weights\nmodel.save_pretrained(folder); type(model).from_pretrained(folder)      # models of transformers: this, never save() and load_model()",
            "ValueError: Layer 'pre_classifier' expected 0 variables, but received 2 variables during loading. Expected: []",
        ),
        Wording(
            r"Model expected (?P<model>\d{1,5}) layers, found (?P<saved>\d{1,5}) saved layers",
            "The file holds the weights of <<saved>> layers and the model has <<model>> layers with weights: the model is built otherwise than the one that was saved (a top that was left out, a wrapper around a base model), or with 0 on one side that one was never built or holds no weights under its top.",
            "model(tf.zeros([1, *SHAPE])); model.load_weights(path)      # build first, by the code that saved it: include_top, the head, the number of classes\nmodel.load_weights(path, by_name=True, skip_mismatch=True)   # .h5: what has the same name; the rest stays as it is\nh5ls -r weights.h5 | head -40                                # which layers the file holds",
            "ValueError: Layer count mismatch when loading weights from file. Model expected 14 layers, found 0 saved layers.",
        ),
        Wording(
            r"was never built and thus it doesn't have any variables",
            "A layer had no variables when its weights were loaded: it stands inside a layer or model of your own that makes its children in __init__ and does not build them in build().",
            "def build(self, input_shape):      # of the layer that owns it: build each child\n    self.conv.build(input_shape); super().build(input_shape)\nmodel(tf.zeros([1, *SHAPE])); model.load_weights(path)      # or one call before load_weights, instead of load_model",
            "ValueError: Layer 'conv2d' was never built and thus it doesn't have any variables. However the weights file lists 2 variables for this layer.",
        ),
        Wording(
            r"Layer '(?P<layer>[\w./-]{1,80})' expected (?P<model>\d{1,5}) variables, but received 0 variables",
            "The file holds nothing at the place of `<<layer>>`: the model's layers have another order, nesting or kind than when it was saved, the layer was not built then, or the file is of another Keras (Keras 3 stores by the model's structure, Keras 2 by names).",
            'h5ls -r model.weights.h5 | grep -iE "layers|vars"      # where the file has its variables (a .keras: unzip it first)\nmodel = build_model_as_it_was_saved(); model(tf.zeros([1, *SHAPE])); model.load_weights(path)      # the same code and Keras version\nmodel.load_weights(path, skip_mismatch=True)           # keeps `<<layer>>` as it is, and warns of each that is left out',
            "ValueError: A total of 1 objects could not be loaded. Example error message for object <Dense name=dense, built=True>: Layer 'dense' expected 2 variables, but received 0 variables during loading. Expected: ['kernel', 'bias']",
        ),
        Wording(
            r"Unresolved object in checkpoint:? \(root\)\.(?P<path>[\w./-]{1,80}?):? ?(?:attributes|$)",
            "assert_consumed found `<<path>>` in the checkpoint, and no object that takes it: what is given to Checkpoint is another structure than what was saved, or its variables come later (an optimizer makes them at its first step, a layer at its first call, a wrapping optimizer keeps them under another name).",
            "optimizer.build(model.trainable_variables)                  # Keras 2.11 and later: before restore, in the scope\nstatus = checkpoint.restore(path); train_step(batch)         # older: restore, one step, then status.assert_consumed()\ncheckpoint.restore(path).assert_existing_objects_matched()   # only what the program has must be there\ncheckpoint.restore(path).expect_partial()                    # `<<path>>` is not needed (evaluation): silent",
            "AssertionError: Unresolved object in checkpoint (root).optimizer.iter: attributes {",
        ),
    ),
    "E478 E122 E205 E509": (
        Wording(
            r"\(file signature not found\)",
            "The file is no HDF5 file, whatever its name says: a .keras archive (zip), a TensorFlow checkpoint or a web page under that name, a pointer of git-lfs, or a download that brought something else.",
            'file MODEL.h5; head -c 60 MODEL.h5      # HDF5, Zip (rename it to .keras), text (a pointer or a page: fetch it again)\nmodel.load_weights("prefix")            # a TensorFlow checkpoint has .index and .data-00000-of-00001: give the prefix, without .h5\nrm ~/.keras/models/NAME.h5              # what Keras had downloaded: it is fetched anew',
            "OSError: Unable to open file (file signature not found)",
        ),
        Wording(
            r"truncated file: eof = (?P<has>\d{1,15}), .{0,40}?stored_e(?:of|oa) = (?P<wanted>\d{1,15})",
            "The file is incomplete: it has <<has>> of <<wanted>> bytes. A download, copy or write did not come to its end.",
            "rm ~/.keras/models/NAME.h5      # pretrained weights: they are downloaded anew\nls -l MODEL.h5                  # <<wanted>> bytes are right: copy or save it again, with room on the disk",
            "OSError: Unable to open file (truncated file: eof = 94371840, sblock->base_addr = 0, stored_eof = 102869336)",
        ),
        Wording(
            r"not an sstable \(bad magic number\)",
            "What was given as a checkpoint is none of TensorFlow's: a single file of the three, a file of another format (.h5, .pt, .pb, a TensorFlow 1.0 file), or one that came damaged.",
            'ls -l FOLDER; file FOLDER/*                       # a checkpoint is PREFIX.index and PREFIX.data-00000-of-00001\npath = tf.train.latest_checkpoint("FOLDER")      # give the prefix (model.ckpt-1000), no file\nmodel.load_weights("weights.h5")                  # .h5 keeps its ending',
            "tensorflow.python.framework.errors_impl.DataLossError: not an sstable (bad magic number): perhaps your file is in a different file format and you need to use a different restore operator?",
        ),
    ),
    "E205": (
        Wording(
            r"No model (?:found in config file|config found in the file)",
            "The .h5 file holds weights alone (save_weights, or a ModelCheckpoint with save_weights_only=True): load_model finds no architecture in it.",
            'model = build_model(); model.load_weights("weights.h5")      # the model from its code\nmodel.save("model.keras")                                     # whole, from then on',
            "ValueError: No model found in config file.",
        ),
    ),
    "E205 E509": (
        Wording(
            r"(?:dataset|link|group|object) \(?name already exists",
            "Two weights or layers of the model have the same name, and an HDF5 file has one place for each: layers made in a loop with one name, a model used twice, or weights made by add_weight without a name.",
            'print([name for name, n in collections.Counter(w.name for w in model.weights).items() if n > 1])      # which\nself.a = self.add_weight(name="a", shape=...); keras.layers.Dense(8, name=f"dense_{i}")               # a name for each\nmodel.save("model.keras")                             # Keras 3; in Keras 2 model.save_weights("ckpt/model") (TensorFlow format) takes equal names',
            "RuntimeError: Unable to create link (name already exists)",
        ),
    ),
    "E509": (
        Wording(
            r"unable to open file:? ?name = '(?P<path>[^']{1,200})', errno = 2,",
            "There is no file <<path>>: the name or folder is another (relative paths start where the program was started), or it was never written (a ModelCheckpoint that did not come to its first save).",
            'ls -l "<<path>>"; ls -lt *.h5 *.keras */*.h5 | head      # what there is\nos.makedirs(os.path.dirname(path), exist_ok=True)         # before saving: HDF5 makes no folders',
            "OSError: Unable to synchronously open file (unable to open file: name = 'model.weights.h5', errno = 2, error message = 'No such file or directory', flags = 0, o_flags = 0)",
        ),
        Wording(
            r"filename ?= ?'(?P<path>[^']{1,200})',.{0,60}?errno ?= ?5,",
            "The disk or mount under <<path>> gave no bytes (errno 5, an input/output error): a network drive, Google Drive's mount or gcsfuse that lost its connection or reached its quota, or a failing disk. The file itself may be whole.",
            'cp "<<path>>" /tmp/model.h5                               # does a copy come through? then load that one\ndmesg | tail; df -h                                        # errors of the disk; the mount is still there?\ntf.io.gfile.copy("gs://BUCKET/model.h5", "/tmp/model.h5", overwrite=True)      # from a bucket: never through a mount',
            "OSError: Unable to open file (file read failed: time = Tue Dec 10 16:36:14 2019, filename = 'm.h5', file descriptor = 14, errno = 5, error message = 'Input/output error')",
        ),
        Wording(
            r"name = '(?P<path>[^']{1,200})', errno = 13,",
            "<<path>> may not be opened by this user: a read-only place (/kaggle/input), or a file of another user (root in a container).",
            'model.save_weights("/tmp/model.weights.h5")      # /kaggle/working on Kaggle\nls -l "<<path>>"; id                              # whose it is; sudo chown $USER',
            "OSError: Unable to create file (unable to open file: name = '/kaggle/input/w.h5', errno = 13, error message = 'Permission denied', flags = 13, o_flags = 242)",
        ),
    ),
    "E475": (
        Wording(
            r"argument\(s\) are not supported(?: with the native Keras format)?: ?\W{1,4}(?P<argument>save_format|options|signatures|save_traces|include_optimizer)",
            "Keras 3's save takes no `<<argument>>`: the file's ending decides on the format, and files are written by the client.",
            'model.save("model.keras")                     # the ending in place of save_format; options= left out\nmodel.export("saved_model_folder")            # a SavedModel, for serving (was save_format="tf", signatures)\nmodel.save("gs://BUCKET/model.keras")         # Keras 3 writes to gs:// itself: no experimental_io_device',
            "ValueError: The following argument(s) are not supported: ['save_format']",
        ),
    ),
    "P31": (
        Wording(
            r"passed to (?P<layer>\w{1,40}): \{'batch_input_shape': \((?P<shape>[\w, ]{1,60})\)",
            "Keras 3's layers take no `batch_input_shape`: the shape, with its batch (which a stateful layer needs), is the Input's.",
            "model = keras.Sequential([keras.Input(batch_shape=(<<shape>>)), keras.layers.<<layer>>(...)])      # batch_shape= with the batch; shape= without it",
            "ValueError: Unrecognized keyword arguments passed to LSTM: {'batch_input_shape': (1, 1, 7)}",
        ),
        Wording(
            r"passed to Embedding: \{'weights'",
            "Keras 3's Embedding takes no `weights`: a matrix is given as initializer.",
            "keras.layers.Embedding(*matrix.shape, embeddings_initializer=keras.initializers.Constant(matrix), trainable=False)",
            "ValueError: Unrecognized keyword arguments passed to Embedding: {'weights': [array([[0., 0.]])]}",
        ),
        Wording(
            r"passed to Embedding: \{'input_length'",
            "Keras 3's Embedding takes no `input_length`: the length of a sequence is the Input's.",
            "model = keras.Sequential([keras.Input(shape=(LENGTH,)), keras.layers.Embedding(VOCABULARY, WIDTH)])",
            "ValueError: Unrecognized keyword arguments passed to Embedding: {'input_length': 100}",
        ),
    ),
    "P23 P31": (
        Wording(
            r"passed to (?P<layer>DepthwiseConv2D|Conv[123]DTranspose|SeparableConv[12]D): \{'groups': 1",
            "The file was saved by Keras 2 (MobileNet, EfficientNet, Teachable Machine and many more), which wrote groups=1 for <<layer>>; Keras 3's layer takes no `groups`.",
            'class <<layer>>(keras.layers.<<layer>>):\n    def __init__(self, **kwargs): kwargs.pop("groups", None); super().__init__(**kwargs)\nmodel = keras.models.load_model(path, custom_objects={"<<layer>>": <<layer>>}, compile=False)\nmodel.save("model.keras")                       # of Keras 3 from then on\n# or load it by Keras 2: import tf_keras; model = tf_keras.models.load_model(path)',
            "ValueError: Unrecognized keyword arguments passed to DepthwiseConv2D: {'groups': 1}",
        ),
    ),
    "E474 P23 E204": (
        Wording(
            r"Unknown? (?P<kind>metric|loss) function['\"]?[:,] ?['\"]?:?(?P<name>\w{1,60})",
            "`<<name>>` is given by its name, and Keras knows no <<kind>> of that name: one of your own (or of a package) is passed as the object itself, and a saved model that was compiled with it must be told of it.",
            'model.compile(optimizer, <<kind>>=<<name>>)                                               # the function or object, not its name (metrics=[...])\nmodel = keras.models.load_model(path, custom_objects={"<<name>>": <<name>>})           # loading; or\nmodel = keras.models.load_model(path, compile=False)                                    # then compile again',
            "ValueError: Unknown metric function: f1_score",
        ),
    ),
    "P71": (
        Wording(
            r"unexpected keyword argument \W?drop_remainder",
            "Dataset.batch takes drop_remainder since TensorFlow 1.10: the one that is installed is older than the code.",
            "pip install -U tensorflow      # the TPU's release too, of a TPU Node; or the release of the library that fits the installed one\n# to drop the argument is no way out: then the size of a batch is not known, which a TPU does not take",
            "TypeError: batch() got an unexpected keyword argument 'drop_remainder'",
        ),
    ),
    "P77": (
        Wording(
            r"requires a `?tags=?`? ?argument if there is more than one",
            "The SavedModel has several graphs (a TF Hub module of TensorFlow 1 has one with tags [] and one with ['train']), and load was not told which.",
            "module = hub.load(URL, tags=[])                  # inference; tags=['train'] for training\nloaded = tf.saved_model.load(PATH, tags=[])      # its signatures: list(loaded.signatures)\n# hub.KerasLayer wants a module of TensorFlow 2: the next version of the model on TF Hub or Kaggle Models",
            "ValueError: Importing a SavedModel with `tf.saved_model.load` requires a `tags=` argument if there is more than one MetaGraph. Got `tags=None`, but there are 2 MetaGraphs in the SavedModel with tag sets: [[], ['train']].",
        ),
    ),
}
