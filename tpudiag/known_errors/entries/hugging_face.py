# ruff: noqa: E501  (texts of other programs stay as they are)
"""Hugging Face's Transformers, TensorFlow Hub, Model Garden and KerasHub in TensorFlow."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase

ERRORS = (
    KnownError(
        id="E487",
        family="transformers-tensorflow",
        phase=Phase.INSTALLING,
        patterns=(
            r"cannot import name '(?P<name>TF\w{2,60})' from '(?:partially initialized module ')?transformers",
            r"module '?transformers[\w.]{0,60}'? has no attribute '?(?P<name>TF\w{2,60})",
            r"name '(?P<name>TF(?:Auto|Bert|GPT2|T5|Roberta|Distil|XL|Trainer)\w{0,50})' is not defined",
            r"(?P<name>TF\w{2,60}) requires the TensorFlow library but it was not found",
            r"No module named 'transformers\.(?P<name>modeling_tf_\w{1,40}|models\.\w{1,40}\.modeling_tf_\w{1,40}|tf_utils|keras_callbacks|trainer_tf|training_args_tf|activations_tf)'",
            r"None of PyTorch, TensorFlow >= 2\.0, or Flax have been found",
            r"None of PyTorch, TensorFlow.{0,40}?have been found",
            r"TensorFlow (?:and JAX )?classes are deprecated and will be removed in Transformers v5",
            r"Failed to import transformers\.[\w.]{0,80}?(?:_tf|tf_)\w{0,40}",
            r"cannot import name '(?P<name>TFTrainer|TFTrainingArguments|TFGenerationMixin|create_optimizer|PushToHubCallback|KerasMetricCallback|AdamWeightDecay)'",
        ),
        cause="This Transformers has no (working) TensorFlow side: version 5 dropped all TF classes, TFTrainer went in 4.x before, and the TF classes of 4.x need Keras 2 (tf-keras) and a TensorFlow they know.",
        details=("The name is {name}.",),
        fix="""\
pip install "transformers>=4.40,<5" "<<keras2>>"      # tf-keras of your TensorFlow's version
export TF_USE_LEGACY_KERAS=1                           # before TensorFlow and transformers are imported
python -c "import tensorflow, transformers; print(tensorflow.__version__, transformers.__version__)"
# TFTrainer is gone: model = TFAutoModelForSequenceClassification.from_pretrained(...) in strategy.scope(), compile and fit
# without TF classes: keras_hub.models.*.from_preset("hf://ORG/MODEL") on the TensorFlow backend""",
        citations=("huggingface/transformers#14423", "huggingface/transformers#36410"),
        example="ImportError: cannot import name 'TFAutoModel' from 'transformers' (/usr/lib/python3/site-packages/transformers/__init__.py)",
        yields_to=("P33", "P29", "E73", "E71", "E80"),
    ),
    KnownError(
        id="E488",
        family="hub-model-missing",
        phase=Phase.READING,
        patterns=(
            r"is not a (?:local folder|valid model identifier)",
            r"(?:does not appear to have a|Error no) file named (?P<name>[\w.\-]{1,60})",
            r"Can't load (?:the |)(?:config|configuration|model|tokenizer|feature extractor|weights|image processor|processor).{0,20}? (?:for|of) '(?P<model>[^']{1,120})'",
            r"there is a file for PyTorch weights",
            r"Use `?from_pt=True`? to load this model",
            r"Unable to load (?:vocabulary|weights) from (?:file|h5 file|TF checkpoint|pytorch checkpoint)",
            r"We couldn't connect to '.{1,80}?' to load",
            r"You are trying to access a gated repo",
            r"(?:Cannot access|access to).{0,30}? gated repo",
            r"Repository Not Found for url",
            r"(?:RepositoryNotFound|GatedRepo|EntryNotFound|RevisionNotFound|LocalEntryNotFound|HFValidation|HfHubHTTP)Error",
            r"401 Client Error.{0,60}?huggingface",
            r"Repo id must (?:be in the form|use alphanumeric)",
            r"`?hf_path`? argument: expected",
            r"Unknown preset identifier",
            r"`?preset`? must be (?:either|one of|a)",
            r"Folder .{1,120}? has no config\.json",
            r"kagglehub.{0,300}?(?:(?<![\d.])(?:403|401|404)\b|Forbidden|Unauthorized|KaggleApiHTTPError)",
            r"KaggleApiHTTPError",
            r"tfhub\.dev/.{0,200}?(?:(?<![\d.])(?:403|404|500)\b|does not exist|not found|URLError|HTTPError|certificate)",
            r"Unsupported handle format",
            r"does not appear to be a valid module",
            r"tfhub_modules/\w{10,60}.{0,60}?(?:contains neither|does not exist|No such file)",
            r"contains neither 'saved_model\.pb' nor 'saved_model\.pbtxt'",
            r"SavedModel file does not exist at: .{0,120}?tfhub",
            r"is a gated repository",
            r"Incorrect path_or_model_id",
            r"is not a valid git identifier",
            r"Unable to locate the file .{1,120}? which is necessary to load this pretrained model",
            r"found a TensorFlow checkpoint at .{1,160}?set from_tf",
        ),
        cause="A pretrained model is not found or may not be read: the name is misspelt, gated or private (no token), the repository has no TensorFlow weights (PyTorch's only), there is no way to the internet (Kaggle's switch, a TPU VM without external address), or a half-written folder is in the cache.",
        details=("The file is {name}.", "The model is {model}."),
        fix="""\
hf auth login                                                    # or HF_TOKEN=...; accept the model's licence on its page first
model = TFAutoModel.from_pretrained("ORG/MODEL", from_pt=True)    # PyTorch weights alone; needs torch installed on this machine
rm -r /tmp/tfhub_modules                                           # a download that was cut off; export TFHUB_CACHE_DIR=gs://BUCKET/tfhub
export TFHUB_MODEL_LOAD_FORMAT=UNCOMPRESSED                         # TF Hub on a TPU Node: read from its bucket; Kaggle: Settings, Internet on""",
        evidence="recalled",
        example="OSError: ORG/MODEL does not appear to have a file named tf_model.h5 but there is a file for PyTorch weights. Use `from_pt=True` to load this model from those weights.",
        yields_to=("E630", "E68", "E887"),
    ),
    KnownError(
        id="E489",
        family="transformers-inputs",
        phase=Phase.TRACING,
        patterns=(
            r"Data of type (?!<class 'keras\.).{1,80}? is not allowed only .{1,200}? is accepted for",
            r"text input must (?:be )?of type `?(?:str|List)",
            r"TextEncodeInput must be Union",
            r"The following keyword arguments are not supported by this model",
            r"Could not find label column",
            r"You (?:have to|must) specify either `?(?:decoder_)?input_ids",
            r"You cannot specify both `?(?:decoder_)?input_ids",
            r"Dataset argument should be a datasets\.Dataset",
            r"Unable to create tensor, you should probably activate truncation",
            r"ValueError: too many dimensions 'str'",
            r"Asking to pad but the tokenizer does not have a padding token",
            r"You should supply an (?:encoding|instance).{0,80}?to this method",
            r"(?:Token indices sequence length|sequence length) .{0,20}?is longer than the (?:specified )?maximum",
            r"indices\[[\d,]{1,20}\] = \d{3,7} is not in \[0, 512\)",
            r"Unrecognized configuration class",
            r"`?return_tensors`? .{0,30}?(?:should|must) be one of",
            r"Unable to convert output to TensorFlow tensors format",
            r"to_tf_dataset.{0,200}?(?:Error|must|requires)",
            r"has no attribute '(?P<name>to_tf_dataset|prepare_tf_dataset|set_format)'",
            r"All elements of .{0,60}?input_ids.{0,60}?must have the same length",
            r"does not have a pad token",
            r"tokenizer does not have a mask token",
            r"chat template functions because tokenizer\.chat_template is not set",
            r"Wrong shape for input_ids",
        ),
        cause="What the tokenizer makes and what the model takes do not fit: strings or lists in place of id tensors, names the model does not know, sequences that are longer than the model's positions or not padded to one length (a TPU wants one length for all).",
        fix="""\
ids = tokenizer(list(texts), padding="max_length", truncation=True, max_length=128, return_tensors="np")    # one length
dataset = tf.data.Dataset.from_tensor_slices((dict(ids), labels)).batch(global_batch, drop_remainder=True)
tokenizer.pad_token = tokenizer.eos_token                      # GPT-2 and others have no padding token
dataset = model.prepare_tf_dataset(hf_dataset, batch_size=global_batch, tokenizer=tokenizer)   # TPU Node: write TFRecord instead""",
        evidence="recalled",
        example="ValueError: Unable to create tensor, you should probably activate truncation and/or padding with 'padding=True' 'truncation=True' to have batched tensors with the same length.",
        near_miss="Token ids: 1 2 3",
    ),
    KnownError(
        id="E490",
        family="hub-layer",
        phase=Phase.BUILDING,
        patterns=(
            r"Only instances of `?keras\.Layer`? can be added to a Sequential model.{0,200}?tensorflow_hub",
            r"tensorflow_hub\.keras_layer\.KerasLayer object",
            r"<class 'tensorflow_hub\.keras_layer\.KerasLayer'>",
            r"'KerasLayer' object has no attribute",
            r"hub\.KerasLayer.{0,120}?(?:not supported|cannot|Keras 3)",
            r"hub\.Module.{0,120}?(?:TF2|TensorFlow 2|eager)",
            r"not supported when eager execution is enabled.{0,60}?hub\.KerasLayer",
            r"hub\.KerasLayer\(?.{0,10}? (?:is|was) (?:not|only)",
            r"Setting hub\.KerasLayer\.trainable = True is unsupported",
        ),
        cause="hub.KerasLayer is a layer of Keras 2: a model of Keras 3 (tf.keras since TensorFlow 2.16) does not take it; hub.Module is of TensorFlow 1.",
        fix="""\
import tf_keras as keras                                   # pip install tf-keras (your TensorFlow's version); Keras 2 for the whole model
model = keras.Sequential([hub.KerasLayer(handle, trainable=True), keras.layers.Dense(10)])
export TF_USE_LEGACY_KERAS=1                                 # or tf.keras is Keras 2, before TensorFlow is imported
# with Keras 3: keras.layers.TFSMLayer(path, call_endpoint="serving_default"), or keras_hub.models...from_preset(...)
# on a TPU, string inputs (text encoders) stay in dataset.map: strings do not go to a TPU""",
        citations=("tensorflow/tensorflow#65419", "tensorflow/hub#920"),
        example="ValueError: Only instances of `keras.Layer` can be added to a Sequential model. Received: <tensorflow_hub.keras_layer.KerasLayer object at 0x7d> (of type <class 'tensorflow_hub.keras_layer.KerasLayer'>)",
        yields_to=("E139",),
    ),
    KnownError(
        id="E491",
        family="model-garden",
        phase=Phase.BUILDING,
        patterns=(
            r"The key '?(?P<name>[\w./]{1,60})'? does not exist in (?:the )?(?:<class|config|Config)",
            r"KeyError: .{0,100}?(?:cannot be found in registry|has not been registered|Collection is not registered)",
            r"cannot be found in registry",
            r"The (?:attribute|key) .{1,60}? is not allowed to be (?:changed|set)",
            r"site-packages/official/.{0,400}?(?:ImportError|AttributeError)",
            r"`?orbit\.\w{1,40}`?.{0,80}?(?:must|required|Error)",
            r"The train loop completed without updating the global_step",
            r"`?global_step`? .{0,80}?(?:train loop|train_steps|expected)",
            r"Unknown (?:task|experiment|model|backbone|decoder|head|dataset) type",
            r"Message type .{1,80}? has no field named",
            r"google\.protobuf\.text_format\.ParseError",
            r"Non-existent config key",
            r"To extend the existing keys, use",
            r"'FlagValues' object has no attribute '(?P<name>\w{1,60})",
            r"Override '(?P<name>[\w.]{1,60})' not found in",
        ),
        cause="Model Garden (official, orbit, object_detection) does not get the configuration or the environment that this version of it takes: a key or flag of another release, a model that no import registered, a package of another version than TensorFlow, or a repository that is not on PYTHONPATH.",
        details=("The name is {name}.",),
        fix="""\
pip install "tf-models-official==$(python -c 'import tensorflow as tf; print(".".join(tf.__version__.split(".")[:2]))').*"   # the same minor version
export PYTHONPATH=$PYTHONPATH:/path/to/models:/path/to/models/research:/path/to/models/research/slim                        # from the repository
from official.common import registry_imports                       # registers all tasks and models, before exp_factory.get_exp_config
python -m official.vision.train --experiment=NAME --mode=train_and_eval --config_file=C.yaml --tpu=local --model_dir=gs://BUCKET/run --helpfull | head -40""",
        evidence="recalled",
        kind=Kind.BROAD,
        example="KeyError: \"The key 'task.model.head' does not exist in <class 'ImageClassification'>. To extend the existing keys, use `override` with `is_strict` = False.\"",
    ),
)
