# ruff: noqa: E501  (sentences and what is pasted stay in one piece)
"""Wordings of Transformers, TensorFlow Hub and TensorFlow Datasets."""

from __future__ import annotations

from .wording import Wording, Wordings

HUB: Wordings = {
    "E489": (
        Wording(
            r"to_tf_dataset\(\) loads the data with a generator",
            "to_tf_dataset (and prepare_tf_dataset) reads rows through a Python generator: no error, and on a TPU VM it works; a remote TPU (TPU Node) cannot run it, and Python may be too slow for the chips.",
            'columns = dataset.with_format("numpy")[:]                                  # what fits into memory: tensors, no Python in the pipeline\ntf_data = tf.data.Dataset.from_tensor_slices({name: columns[name] for name in ("input_ids", "attention_mask", "label")})',
            "to_tf_dataset() loads the data with a generator rather than a full tf.data pipeline and is not compatible with remote TPU connections. If you encounter errors, please try using a TPU VM",
        ),
        Wording(
            r"Data of type <class 'torch\.Tensor'> is not allowed",
            "PyTorch's tensors are given to a TensorFlow model: the tokenizer (or the dataset's set_format) was told to make them.",
            'inputs = tokenizer(texts, padding="max_length", truncation=True, max_length=128, return_tensors="tf")      # "tf", not "pt"\ndataset.set_format("tensorflow")                                                                          # datasets: not "torch"',
            "Data of type <class 'torch.Tensor'> is not allowed only (<class 'tensorflow.python.framework.ops.Tensor'>, <class 'bool'>) is accepted for token_type_ids.",
        ),
        Wording(
            r"is longer than the (?:specified )?maximum sequence length for this model \((?P<n>\d{1,6}) > (?P<max>\d{1,6})\)|= \d{3,7} is not in \[0, (?P<limit>512)\)",
            "The text has more tokens than the model has positions: it must be cut.",
            'inputs = tokenizer(texts, truncation=True, max_length=512, padding="max_length")      # or windows: stride=128, return_overflowing_tokens=True',
            "Token indices sequence length is longer than the specified maximum sequence length for this model (789 > 512).",
        ),
        Wording(
            r"does not have a (?:padding|pad) token",
            "This tokenizer (GPT-2, Llama) has no padding token, and sequences are to be padded to one length.",
            "tokenizer.pad_token = tokenizer.eos_token; model.config.pad_token_id = tokenizer.eos_token_id",
            "ValueError: Asking to pad but the tokenizer does not have a padding token.",
        ),
        Wording(
            r"text input must (?:be )?of type|TextEncodeInput must be",
            "The tokenizer gets something else than texts: a NumPy array, a pandas column, numbers or missing values (NaN), or a tensor in dataset.map.",
            'inputs = tokenizer([str(t) for t in texts], ...)      # a list of Python strings: frame["text"].fillna("").astype(str).tolist()',
            "ValueError: text input must of type `str` (single example), `List[str]` (batch or single pretokenized example)",
        ),
    ),
    "E486 E216": (
        Wording(
            r"Dataset(?:NotFoundError)?:? (?:Dataset )?(?P<name>\w{1,60}) not found\. ?Available datasets",
            "This TensorFlow Datasets does not know `<<name>>`: a data set of your own whose module was not imported (registering is what the import does), a newer one than the release knows, or a misspelt name.",
            'import <<name>>                                                        # the module with your DatasetBuilder, before tfds.load\nbuilder = tfds.builder_from_directory("DATA_DIR/<<name>>/1.0.0")       # or from the prepared files alone, without its code\npip install -U tfds-nightly                                            # a data set that is newer than this release',
            "DatasetNotFoundError: Dataset ausls2018 not found. Available datasets: - abstract_reasoning",
        ),
        Wording(
            r"Manual directory .{1,160}? does not exist or is empty|manual_dir",
            "The data set may not be downloaded by the program: its files must be fetched by hand and put into the manual directory.",
            'tfds.load(NAME, download_and_prepare_kwargs={"download_config": tfds.download.DownloadConfig(manual_dir="gs://BUCKET/manual")})      # its page in the catalogue says which files',
            "AssertionError: Manual directory /root/tensorflow_datasets/downloads/manual does not exist or is empty. Create it and download/extract dataset artifacts in there",
        ),
        Wording(
            r"Failed to get url .{1,200}?HTTP code",
            "The place where the data set's files lay has moved or refuses (Google Drive's limit is frequent): newer recipes know the new address.",
            "pip install -U tfds-nightly\ntfds.load(NAME, try_gcs=True)      # a prepared copy, where there is one",
            "DownloadError: Failed to get url https://drive.google.com/uc?export=download. HTTP code: 404.",
        ),
    ),
    "E488": (
        Wording(
            r"there is a file for PyTorch weights|Use `?from_pt=True`? to load this model",
            "The model's repository holds PyTorch weights only.",
            'model = TFAutoModel.from_pretrained("ORG/MODEL", from_pt=True)      # converts them; torch must be installed here\nmodel.save_pretrained("gs-or-local/tf_model")                       # once: then TensorFlow weights are there',
            "OSError: ORG/MODEL does not appear to have a file named tf_model.h5 but there is a file for PyTorch weights. Use `from_pt=True` to load this model from those weights.",
        ),
        Wording(
            r"gated repo|401 Client Error.{0,60}?huggingface",
            "The model is gated or private: its licence was not accepted by this account, or the program has no token.",
            "hf auth login                      # or: export HF_TOKEN=...; on every host of the TPU\n# accept the licence on the model's page with the same account",
            "OSError: You are trying to access a gated repo. 401 Client Error",
        ),
        Wording(
            r"tfhub_modules/\w{10,60}.{0,60}?(?:contains neither|does not exist|No such file)|contains neither 'saved_model\.pb' nor",
            "A download of TensorFlow Hub was cut off, and its half-written folder is in the cache; on a TPU Node the worker cannot see the client's cache at all.",
            'rm -r /tmp/tfhub_modules                             # then again\nos.environ["TFHUB_MODEL_LOAD_FORMAT"] = "UNCOMPRESSED"      # a TPU Node reads the model from the bucket itself, without a cache; or TFHUB_CACHE_DIR=gs://BUCKET/hub',
            "ValueError: Trying to load a model of incompatible/unknown type. '/tmp/tfhub_modules/602d30248ff7929470db09f7385fc895e9ceb4c0' contains neither 'saved_model.pb' nor 'saved_model.pbtxt'.",
        ),
    ),
    "E490": (
        Wording(
            r"Only instances of `?keras\.Layer`? can be added to a Sequential model|tensorflow_hub\.keras_layer\.KerasLayer object",
            "hub.KerasLayer is a layer of Keras 2, and this model is of Keras 3 (tf.keras of TensorFlow 2.16 and later).",
            'pip install "<<keras2>>"\nimport tf_keras as keras                              # Keras 2 for the whole model; or export TF_USE_LEGACY_KERAS=1 before TensorFlow is imported\nclass Hub(keras.layers.Layer):                        # or, in Keras 3, a layer around the loaded module\n    def __init__(self): super().__init__(); self.module = hub.load(HANDLE)\n    def call(self, x): return self.module(x)',
            "ValueError: Only instances of `keras.Layer` can be added to a Sequential model. Received: <tensorflow_hub.keras_layer.KerasLayer object at 0x7f>",
        ),
    ),
    "P03": (
        Wording(
            r"module 'tensorflow\.contrib\.(?P<module>[\w.]{1,60})' has no attribute '(?P<name>\w{1,60})'",
            "This TensorFlow 1 is too old (or too new) for `tf.contrib.<<module>>.<<name>>`: parts of contrib came and went with each 1.x release.",
            'pip install "tensorflow==1.15.*"      # the last 1.x (Python 3.7 or older); the one that the project names in its requirements else\n# TensorFlow 2 has no contrib: <<name>> of tf.keras.layers or tensorflow-addons in its place',
            "AttributeError: module 'tensorflow.contrib.layers' has no attribute 'instance_norm'",
        ),
    ),
}
