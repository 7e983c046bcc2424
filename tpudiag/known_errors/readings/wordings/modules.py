# ruff: noqa: E501  (sentences and what is pasted stay in one piece)
"""Modules that are not found, by the package that brings them, and other slips of Python."""

from __future__ import annotations

from .wording import Wording, Wordings

_NO_DEPS = "pip install --no-deps PACKAGE      # beside tensorflow-tpu or tensorflow-cpu: pip must not bring another TensorFlow over it"

MODULES: Wordings = {
    "P01": (
        Wording(
            r"google/colab/auth\.py",
            "Colab's own auth.authenticate_user() asks for tf.contrib, to hand the login to a TPU Node: your script is not what fails. It is a Colab of before 2020, or the TensorFlow was changed under it.",
            "# Runtime, Factory reset; or leave the call out: the TPU reads a bucket with its own service account\ngcloud storage buckets add-iam-policy-binding gs://BUCKET --member=serviceAccount:service-PROJECT_NUMBER@cloud-tpu.iam.gserviceaccount.com --role=roles/storage.objectAdmin\nimport tensorflow_gcs_config; tensorflow_gcs_config.configure_gcs_from_colab_auth()      # TensorFlow 2 in Colab",
            "google/colab/auth.py in authenticate_user() AttributeError: module 'tensorflow' has no attribute 'contrib'",
        ),
    ),
    "E280 E74": (
        Wording(
            r"No module named '(?P<name>official)(?:\.[\w.]{1,60})?'",
            "`official` is TensorFlow's Model Garden, a package of its own.",
            'pip install --no-deps "tf-models-official==$(python -c \'import tensorflow as tf; print(".".join(tf.__version__.split(".")[:2]))\').*"      # of TensorFlow\'s release; then the few packages that it asks for\nexport PYTHONPATH=$PYTHONPATH:/path/to/models                              # or the cloned repository tensorflow/models',
            "ModuleNotFoundError: No module named 'official'",
        ),
        Wording(
            r"No module named '(?P<name>object_detection|deeplab|slim|nets|delf)(?:\.[\w.]{1,60})?'",
            "`<<name>>` lies in models/research of the repository tensorflow/models, which is not on Python's path; its protocol buffers must be compiled as well.",
            "# clone the repository tensorflow/models, then: cd models/research\nprotoc object_detection/protos/*.proto --python_out=. && cp object_detection/packages/tf2/setup.py . && pip install .\nexport PYTHONPATH=$PYTHONPATH:$PWD:$PWD/slim      # or this, in place of the installation",
            "ModuleNotFoundError: No module named 'object_detection'",
        ),
        Wording(
            r"No module named '(?P<name>cloud_tpu_client)'",
            "`cloud_tpu_client` sets the TensorFlow version of a TPU Node (Colab's old runtime); on a TPU VM there is nothing to set, and the package is not there.",
            "pip install cloud-tpu-client      # a TPU Node alone\n# a TPU VM, Colab's and Kaggle's runtimes of today: delete `from cloud_tpu_client import Client` and Client().configure_tpu_version(...)",
            "ModuleNotFoundError: No module named 'cloud_tpu_client'",
        ),
        Wording(
            r"No module named '(?P<name>tensorflow|jax|torch|torch_xla)'",
            "`<<name>>` is not installed in the Python that runs the script (Colab's TPU runtime comes without TensorFlow since 2025; sudo and a virtual environment each have a Python of their own).",
            'python -c "import sys; print(sys.executable)"; python -m pip list | grep -iE "tensorflow|keras|jax|torch"\n<<tpu_install>>; on a TPU VM; tensorflow-cpu elsewhere\npython -m pip install "jax[tpu]"; python -m pip install "torch_xla[tpu]"',
            "ModuleNotFoundError: No module named 'tensorflow'",
        ),
        Wording(
            r"No module named '(?P<name>keras)'",
            "The package `keras` is not installed in this Python; with TensorFlow up to 2.5 it is one of its own that nothing brings along (conda and some images leave it out later too), while Keras itself is inside TensorFlow.",
            'from tensorflow import keras                          # your own code: TensorFlow\'s Keras, in every release; never both\npython -m pip install "keras==2.6.*"                  # a library imports it: the number of your TensorFlow, 2.6 to 2.15; keras 3 for 2.16 and later\npython -c "import sys, tensorflow as tf; print(sys.executable, tf.__version__)"',
            "ModuleNotFoundError: No module named 'keras'",
        ),
        Wording(
            r"No module named '(?P<name>cv2)'",
            "cv2 is OpenCV.",
            "pip install opencv-python-headless      # without the windows' libraries that servers lack",
            "ModuleNotFoundError: No module named 'cv2'",
        ),
        Wording(
            r"No module named '(?P<name>sklearn|PIL|yaml|bs4|skimage|dateutil|dotenv|gin|absl|google\.cloud\.storage|googleapiclient|oauth2client|attr|Bio)(?:\.[\w.]{1,60})?'",
            "`<<name>>` is installed under another name than it is imported by.",
            "pip install scikit-learn pillow pyyaml beautifulsoup4 scikit-image gin-config absl-py google-cloud-storage google-api-python-client oauth2client      # sklearn, PIL, yaml, bs4, skimage, gin, absl, google.cloud.storage, googleapiclient: the one that is missing",
            "ModuleNotFoundError: No module named 'sklearn'",
        ),
        Wording(
            r"No module named '(?P<name>tensorflow_hub|tensorflow_datasets|tensorflow_probability|tensorflow_io|tensorflow_model_optimization|tensorflow_recommenders|tensorflow_similarity|tf_slim|tf_models|keras_tuner|keras_cv|keras_nlp|keras_hub|keras_cv_attention_models|vit_keras|segmentation_models|sentencepiece|transformers|datasets|pycocotools|mesh_tensorflow|t5|seqio|tensorboard|tpu_info|efficientnet|iterstrat|albumentations|imgaug)(?:\.[\w.]{1,60})?'",
            "The package of `<<name>>` is not installed here.",
            "python -m pip install <<name>>      # its name has a hyphen where the module has _: tensorflow_hub is tensorflow-hub, tpu_info is tpu-info\n"
            + _NO_DEPS,
            "ModuleNotFoundError: No module named 'tensorflow_hub'",
        ),
    ),
    "E281": (
        Wording(
            r"__init__\(\) got an unexpected keyword argument '(?P<name>name|trainable|dtype|batch_input_shape)'",
            "A class of your own (layer, model, metric, optimizer) does not take `<<name>>`, which Keras passes to every one, above all when a model is loaded.",
            "class Block(keras.layers.Layer):\n    def __init__(self, units, **kwargs):      # name, dtype, trainable are in kwargs\n        super().__init__(**kwargs)",
            "TypeError: __init__() got an unexpected keyword argument 'name'",
        ),
    ),
    "E285": (
        Wording(
            r"Unexpected result of `?(?P<what>train|predict|test)_function`? \(Empty",
            "Not one step was run: the data is empty, smaller than one batch with drop_remainder=True, was used up (a generator that is read once), or steps_per_epoch came out as 0.",
            "print(len(list(dataset.take(2))), steps_per_epoch)      # 0: no batch at all\ndataset = dataset.batch(global_batch)                   # a batch no larger than the data; drop_remainder only where a batch is left\nfiles = tf.io.gfile.glob(PATTERN); assert files",
            "ValueError: Unexpected result of `train_function` (Empty Logs). Please use `Model.compile(..., run_eagerly=True)`",
        ),
    ),
    "E162": (
        Wording(
            r"Failed to find data adapter that can handle input: <class 'NoneType'>",
            "fit was given None: a function that returns nothing, a variable that was not set, or data that could not be read.",
            "assert x is not None and y is not None      # a loader of your own: does it end in `return x, y`?",
            "ValueError: Failed to find data adapter that can handle input: <class 'NoneType'>, <class 'NoneType'>",
        ),
        Wording(
            r"Failed to find data adapter.{0,200}?containing values of types .{0,12}?\W(?P<type>int|float|str)\W",
            "The labels (or inputs) are a Python list, which fit does not take beside arrays.",
            "x, y = np.asarray(x), np.asarray(y)      # arrays; texts: np.asarray(texts, dtype=object) into a TextVectorization, or tf.constant(texts)",
            "ValueError: Failed to find data adapter that can handle input: <class 'numpy.ndarray'>, (<class 'list'> containing values of types {\"<class 'int'>\"})",
        ),
        Wording(
            r"Failed to find data adapter.{0,200}?(?P<type>Sequence|DataGenerator|Iterator|ImageDataGenerator|generator)",
            "The generator is an object of another Keras than the model (keras beside tensorflow.keras), or a class that is no Sequence at all.",
            "from tensorflow import keras      # in the file of the generator too: class Data(keras.utils.Sequence)\ndataset = tf.data.Dataset.from_generator(lambda: iter(data), output_signature=...)      # on a TPU better: TFRecord files",
            "ValueError: Failed to find data adapter that can handle input: <class 'keras_preprocessing.image.DataFrameIterator'>, <class 'NoneType'>",
        ),
    ),
    "E480": (
        Wording(
            r"Could not build a `?TypeSpec`? for .{0,60}?KerasTensor",
            "A tensor of a functional model under construction is given to something that wants real tensors: a tf function or tf.data call on a layer's output, or layers of two Keras (keras, tensorflow.keras) in one model.",
            "x = keras.layers.Lambda(lambda t: tf.image.resize(t, (64, 64)))(x)      # or keras.ops in Keras 3\ngrep -rnE 'import.*keras|from.*keras' *.py                              # one Keras in all files",
            "TypeError: Could not build a TypeSpec for KerasTensor(type_spec=TensorSpec(shape=(None, 8)))",
        ),
    ),
    "E119": (
        Wording(
            r"NotFoundError: ?; ?No such file or directory",
            'The path is an empty text: a setting, flag or column that was not filled, or a list that begins with "".',
            'assert path, "no path"; dataset = dataset.filter(lambda p: tf.strings.length(p) > 0)      # where does the empty one come from?',
            "NotFoundError: ; No such file or directory [Op:ReadFile]",
        ),
    ),
    "E26": (
        Wording(
            r"billed is associated with an absent billing account|(?:requester pays|no user project provided)",
            "The bucket is to be paid for by a project that has no billing account: billing is off or ended, or the bucket is one where the reader pays.",
            "gcloud billing projects describe PROJECT; gcloud billing projects link PROJECT --billing-account=ACCOUNT\ngcloud storage cp -r gs://BUCKET gs://OWN --billing-project=PROJECT      # a bucket where the reader pays: copied once into one of your own",
            "PermissionDeniedError: Error executing an HTTP request: HTTP response code 403 with body 'The project to be billed is associated with an absent billing account.'",
        ),
    ),
    "E205": (
        Wording(
            r"SavedModel file does not exist at: ?(?P<path>[^\s{,]{1,160}?)/?\{saved_model",
            "In <<path>> there is no saved_model.pb: the path is another (relative to where the program was started), the folder holds weights or a .keras file, or it is a checkpoint.",
            'ls -l <<path>>      # saved_model.pb and variables/ are a SavedModel; model.keras, .h5: the file itself is the path\nmodel = build_model(); model.load_weights("<<path>>/model.weights.h5")      # weights alone',
            "OSError: SavedModel file does not exist at: /tmp/model/{saved_model.pbtxt|saved_model.pb}",
        ),
    ),
}
