# ruff: noqa: E501  (what is pasted stays in one piece)
"""What the traceback and the code around an error tell beside its sentence.

The same sentence means one thing from `load_model` and another one from a training step: here a
rule holds for errors of some families, or for all that leave their cause open, where the text
around them names a file, a call or a record that decides.
"""

from __future__ import annotations

import re

from . import step_surroundings
from .meaning import Reading, Rule

REACH = 6000
"""Bytes without white space before an error in which its traceback is looked at."""

_KERAS3 = r"keras/src/(?:layers/layer|layers/\w{1,20}/|backend/|models/|trainers/|ops/|optimizers/base_optimizer|saving/|callbacks/callback_list|losses/loss\.|metrics/metric\.)"
_LEGACY = (
    'pip install --no-deps "<<keras2>>" && export TF_USE_LEGACY_KERAS=1      # before TensorFlow is imported, in a fresh process; then'
    " tensorflow.keras is Keras 2"
)


_RULES = (
    Rule(
        "",
        rf"transformers/(?:models/\w{{1,40}}/)?model(?:ing|ling)_tf_.{{0,3000}}{_KERAS3}|{_KERAS3}.{{0,3000}}transformers/(?:models/\w{{1,40}}/)?modeling_tf_",
        "The traceback goes from a TF class of Transformers into Keras 3: these classes are written for Keras 2 and break in Keras 3 in many ways.",
        f'{_LEGACY}\npip install "transformers>=4.40,<5"      # the last with TF classes',
    ),
    Rule(
        "",
        rf"tensorflow_hub/keras_layer\.py.{{0,3000}}{_KERAS3}|{_KERAS3}.{{0,3000}}tensorflow_hub/keras_layer\.py",
        "The traceback goes through hub.KerasLayer inside a Keras 3 model: it is a layer of Keras 2, and Keras 3 hands it symbolic tensors that it cannot use.",
        f'{_LEGACY}; pip install -U tensorflow_hub\nlayer = keras.layers.TFSMLayer(hub.resolve(URL), call_endpoint="serving_default")      # Keras 3: a SavedModel as a layer, for inference',
    ),
    Rule(
        "",
        rf"tensorflow_probability/(?:python/)?.{{0,3000}}{_KERAS3}|{_KERAS3}.{{0,3000}}tensorflow_probability/",
        "The traceback goes through TensorFlow Probability and Keras 3: its layers (tfp.layers, DistributionLambda) are of Keras 2.",
        f"{_LEGACY}; import tf_keras as keras      # tfp.layers inside tf_keras models",
    ),
    Rule(
        "",
        rf"(?:segmentation_models|efficientnet|classification_models|image_classifiers|keras_applications|keras_contrib|keras_unet_collection|keras_bert|keras_transformer|keras_radam|keras_self_attention|keras_retinanet|mrcnn|vit_keras|keras_vggface|bert4keras|spektral|tensorflow_similarity|tensorflow_model_optimization|tensorflow_recommenders|tf_slim|object_detection|tensorflow_addons|keras_preprocessing|tf_bodypix|deepctr|neurite|voxelmorph|stardist|csbdeep)/.{{0,3000}}{_KERAS3}|{_KERAS3}.{{0,2000}}(?:segmentation_models|efficientnet|classification_models|image_classifiers|keras_applications|keras_contrib|keras_unet_collection|vit_keras|keras_retinanet|tensorflow_model_optimization|tensorflow_recommenders|tensorflow_addons|spektral|deepctr)/",
        "The traceback goes through a library that is written for Keras 2 into Keras 3 (TensorFlow 2.16 and later bring Keras 3).",
        _LEGACY,
    ),
    Rule(
        "recursion",
        r"super\((?:\w{1,40},self)?\)\.__init__\(self[,)]",
        "super().__init__(self) gives the layer or model to itself (as its name or first argument): it then holds itself and is walked through without end.",
        "super().__init__(**kwargs)      # no self between the brackets; super(MyLayer, self).__init__() in the old style",
    ),
    Rule(
        "",
        r"_iterators\[iterator_id\].{0,60}unhashabletype",
        "from_generator runs in tf.data's debug mode (enable_debug_mode, or tf.data functions run eagerly), which some releases (2.7) cannot: its iterator's number comes as an array there.",
        "# no tf.data.experimental.enable_debug_mode() with from_generator: look at what the generator gives instead\n"
        "for element in itertools.islice(generator(), 3): print(element)      # or pip install -U tensorflow",
    ),
    Rule(
        "",
        r"get_iterator\(iterator_id\).{0,600}_iterators\[iterator_id\]",
        "from_generator's Python iterator is gone: its dataset is read by another process or after its program's end (a second worker, a remote host, a dataset that outlived the TPU's or the notebook's restart).",
        "files = write_tfrecords(generate())      # once; then tf.data.TFRecordDataset(files): nothing of Python is left in the pipeline\n"
        "dataset = make_dataset()                 # else made anew in each process, after the strategy, and read there alone",
    ),
    Rule(
        "",
        r"ops/script_ops\.py",
        "It was raised by Python code that the dataset calls (py_function, numpy_function, from_generator): the frames below script_ops.py are that code, with the line, and the sentence at their end is its error; TensorFlow only passes it on.",
        "example = next(iter(source)); my_function(*[t.numpy() for t in example])      # the function alone, on one example, outside the dataset\n"
        "dataset = dataset.ignore_errors(log_warning=True)                     # where single examples are bad; it drops them",
    ),
    Rule(
        "replica-context none-object",
        r"load_model\(|saving/(?:hdf5_format|save|legacy)[\w/]{0,40}\.py.{0,200}load_model|model_from_json\(",
        "The model is loaded whole, with its optimizer, under the strategy: its optimizer's state is put back by a step of its own, which some releases run outside any replica.",
        "with strategy.scope():\n"
        "    model = keras.models.load_model(path, compile=False)      # without the optimizer; then compile anew\n"
        "    model.compile(optimizer, loss, metrics=metrics)\n"
        "model.load_weights(path)                                       # or: build the model in the scope, load only the weights",
    ),
    Rule(
        "none-object",
        r"(?:transformers/.{0,2000}compute_loss|hf_compute_loss|TF(?:Bert|Auto|Roberta|Distil|XLM|Electra|Albert|T5|GPT2|Camembert)\w{0,40}).{0,3000}attribute'(?:dtype|shape|op)|attribute'(?:dtype|shape|op).{0,700}(?:hf_compute_loss|TF(?:Bert|Auto|Roberta|Distil|XLM|Electra|Albert|T5|GPT2)\w{0,40}\.from)",
        "A TF model of Transformers got no labels, or a loss that does not fit: its own loss wants labels among the inputs, Keras' fit gives them beside them, and compute_loss is no loss for compile.",
        'model.compile(optimizer, loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])      # the dataset yields (inputs, labels)\n'
        'model.compile(optimizer)      # or the model\'s own loss: no loss given, and labels as inputs["labels"]',
    ),
    Rule(
        "checkpoint-mismatch somewhere-in-a-checkpoint",
        r"(?:Mutable|Static|Dense)\w{0,8}HashTable|(?:TextVectorization|StringLookup|IntegerLookup)",
        "What found no value is a lookup table: the vocabulary of a TextVectorization or StringLookup layer, which TensorFlow's releases save in different ways (and which a TPU has no use for).",
        "pip install tensorflow==VERSION_THAT_SAVED_IT      # load it there, then model.get_weights() and layer.get_vocabulary() out of it\n"
        "vectorize = keras.layers.TextVectorization(vocabulary=words)      # the vocabulary as a list, in the dataset and not in the model",
    ),
    Rule(
        "checkpoint-mismatch somewhere-in-a-checkpoint",
        r"(?:bert|albert|electra|xlnet|biobert|scibert|roberta)_?(?:model|base|large|tiny|small)?\w{0,20}(?:/\w{0,30})?\.ckpt|get_transformer_encoder",
        "The checkpoint has the form of TensorFlow 1's BERT releases (variables by name: bert_model.ckpt): Checkpoint.read of TensorFlow 2 looks for objects and finds none, or few, of them.",
        "python -m official.legacy.bert.tf2_encoder_checkpoint_converter --bert_config_file=bert_config.json --checkpoint_to_convert=bert_model.ckpt --converted_checkpoint_path=tf2/bert      # Model Garden: once; then read that one\n"
        "for name, shape in tf.train.list_variables(path): print(name, shape)      # bert/encoder/layer_0/...: by name; encoder/layer_with_weights-0/...: by object",
    ),
    Rule(
        "checkpoint-mismatch",
        r"object_detection/|fine_tune_checkpoint|pipeline\.config",
        "The checkpoint is one of the Object Detection API: it fits the configuration that it was published with, and says by fine_tune_checkpoint_type what is taken from it.",
        'fine_tune_checkpoint: "PATH/checkpoint/ckpt-0"; fine_tune_checkpoint_type: "detection"      # the prefix without .index; "classification" for a backbone alone\n'
        "# the same meta-architecture, backbone and image size as the model's own pipeline.config; an empty --model_dir for another configuration",
    ),
    Rule(
        "parse-spec",
        r"Key:(?:input_ids|segment_ids|input_mask|input_word_ids|input_type_ids|token_type_ids|attention_mask|masked_lm_\w{1,10}|next_sentence_labels|lm_label_ids)",
        "The feature is one of BERT's inputs: the records were written with another max_seq_length (or max_predictions_per_seq) than the job reads them with, or by another script.",
        "python create_pretraining_data.py --max_seq_length=128 --max_predictions_per_seq=20 ...      # and the same two numbers for the training\n"
        'example = tf.train.Example.FromString(next(iter(tf.data.TFRecordDataset(path))).numpy()); print(len(example.features.feature["input_ids"].int64_list.value))      # the length that they have',
    ),
    Rule(
        "unknown-shape static-shape-wanted static-shapes-wanted",
        r"numpy_function|py_function|py_func|from_generator",
        "The data come through Python (numpy_function, py_function, from_generator), which loses every shape.",
        "def load(path):\n"
        "    image, label = tf.numpy_function(read, [path], (tf.float32, tf.int32))\n"
        "    image.set_shape([224, 224, 3]); label.set_shape([])           # right behind it; then batch with drop_remainder=True\n"
        "    return image, label\n"
        "tf.data.Dataset.from_generator(gen, output_signature=(tf.TensorSpec([224, 224, 3], tf.float32), tf.TensorSpec([], tf.int32)))",
    ),
    Rule(
        "ragged-or-sparse",
        r"`images`argument|images=tf\.RaggedTensor|(?:R|r)aggedTensor.{0,80}?image",
        "It is the images that are ragged: they differ in size when they are batched.",
        'dataset = dataset.map(lambda x: {**x, "images": tf.image.resize_with_pad(x["images"], 640, 640)})      # one size, before batch\n'
        "dataset = dataset.batch(global_batch, drop_remainder=True)      # in place of ragged_batch; boxes: bounding_box.to_dense(boxes, max_boxes=100)",
    ),
    Rule(
        "generator-output",
        r"expectedstructurewas\(.{0,600}yieldedelementwas\[",
        "A list was yielded where a tuple is declared: to tf.data a list is one value and a tuple several (Keras 3's PyDataset and from_generator both ask for the tuple).",
        "return x, y      # in __getitem__ or yield: a tuple, not [x, y]; inputs by name stay a dict inside it",
    ),
    Rule(
        "python-control-flow",
        r"teratingovera?(?:symbolic)?`?tf\.Tensor`?.{0,900}(?:Argumentsreceivedby|Callargumentsreceived)|Exceptionencounteredwhencalling.{0,300}teratingover",
        "A layer's call takes its input apart (`a, b = inputs`, `for x in inputs`, `*inputs`) and was given one tensor: the values under `Arguments received` say which. Either several inputs were meant, as a tuple, or the loop is one over a tensor's rows.",
        "model((x_encoder, x_decoder)); dataset = dataset.map(lambda a, b, y: ((a, b), y))      # several inputs: a tuple of tensors, also in the dataset\n"
        "for row in tf.unstack(x, axis=1): ...                                                   # rows of a tensor of known length; else without a loop",
    ),
    Rule(
        "layer-arguments keras-argument",
        r"from_config|load_model\(|model_from_json|deserializ|saving/(?:legacy|saving|serialization|hdf5)",
        "The argument stands in a saved file: the model was saved by another Keras than the one that loads it, whose layer writes or takes other arguments (Keras 2's DepthwiseConv2D wrote groups, its layers batch_input_shape; Keras 3 writes batch_shape, its own dtype policies).",
        f"{_LEGACY}      # a file of Keras 2 in TensorFlow 2.16 and later\n"
        "pip install -U keras                                # a file of Keras 3 in an older one\n"
        "class Depthwise(keras.layers.DepthwiseConv2D):\n"
        "    def __init__(self, *args, groups=1, **kwargs): super().__init__(*args, **kwargs)\n"
        'model = keras.models.load_model("m.h5", custom_objects={"DepthwiseConv2D": Depthwise}, compile=False)      # one argument too many',
    ),
    Rule(
        "conflicting-packages",
        r"tensorflow-tpu\d?\.?\d{1,2}\.\d{1,2}\.\d{1,2}dependsonlibtpu|Cannotinstalltensorflow-tpu",
        "tensorflow-tpu 2.16 to 2.18 want a libtpu of their own number (2.18.0), which lies in the list of TensorFlow's libtpu releases that Cloud TPU's documentation gives for pip's -f, and not where libtpu lies else.",
        "<<tpu_install>>; needs no other list\n"
        'pip install "tensorflow-tpu==RELEASE" -f LIST_OF_LIBTPU_RELEASES        # an older one: with the list of the documentation',
    ),
    Rule(
        "conflicting-packages",
        r"dependencyresolverdoesnotcurrentlytakeintoaccount.{0,3000}?tensorflow(?:-cpu|-tpu|-intel)?[12]\.\d{1,2}\.\d{1,2}requires(?:numpy|keras|protobuf|h5py|gast|six|tensorboard|tensorflow|typing|wrapt|grpcio|ml-dtypes|absl|tf-keras)",
        "pip replaced packages that the installed TensorFlow itself needs in other releases (the lines `tensorflow ... requires`): the list that was installed is pinned for another release of TensorFlow.",
        "pip install --no-deps PACKAGE                                   # the package alone; or its list without the pins of what TensorFlow brings\n"
        'pip install --force-reinstall "tensorflow==$(pip show tensorflow | sed -n "s/^Version: //p")"      # puts back what TensorFlow needs; then restart the kernel\n'
        "python -m venv fresh && fresh/bin/pip install -r requirements.txt      # or the list in an environment of its own, with the TensorFlow it names",
    ),
    Rule(
        "conflicting-packages",
        r"dependencyresolverdoesnotcurrentlytakeintoaccount",
        "pip did install what was asked for and then lists packages that were here before and want other versions: a remark, harmless for the training unless one of them is imported.",
        'pip check | grep -iE "tensorflow|keras|numpy|protobuf|jax"      # only these matter; nothing listed: go on\n'
        "# restart the kernel after the installation: the old release is still loaded",
    ),
    Rule(
        "no-such-release",
        r"hasinconsistentversion",
        "The wheel names one version in its file name and another one inside; pip from 24.1 on refuses such wheels (libtpu-nightly's of 2024).",
        'pip install "pip<24.1"; then the same command again\n'
        "pip install -U torch torch_xla[tpu]                     # or a newer release, which asks for libtpu of today",
    ),
    Rule(
        "autograph-source",
        r"(?i:gast)|BadargumentnumberforName|posonlyargs|Unexpectederrortransforming",
        "The reason is gast, the package that AutoGraph reads sources with: it is of another release than this TensorFlow wants, so no function is converted at all.",
        'pip install "gast==0.2.2"      # TensorFlow 1.14 to 2.1; "gast==0.3.3" for 2.2 to 2.4, "gast==0.4.0" for 2.5 to 2.12; then restart the kernel\n'
        "pip check | grep gast",
    ),
    Rule(
        "none-value",
        r"__getitem__|keras\.utils\.Sequence|PyDataset|on_epoch_end|element_spec|data_adapter|fit_generator",
        "A generator or Sequence gives None in place of an array: a missing return, labels or weights that are None, or a third member that is None (TPUStrategy turns every member into a tensor).",
        "x, y = sequence[0]; print(type(x), type(y))                 # neither may be None; (x, y), not (x, y, None)\n"
        "dataset = tf.data.Dataset.from_generator(gen, output_signature=(tf.TensorSpec([224, 224, 3], tf.float32), tf.TensorSpec([], tf.int32)))",
    ),
    Rule(
        "none-value",
        r"tape\.gradient|apply_gradients|clip_by_global_norm|gradients?=|all_reduce\(|grads=",
        "Gradients are None: some variables take no part in the loss (a head that is not used, a frozen or second model), and the operation over the gradients does not take None.",
        "pairs = [(g, v) for g, v in zip(gradients, variables) if g is not None]; optimizer.apply_gradients(pairs)\n"
        "print([v.name for g, v in zip(gradients, variables) if g is None])",
    ),
    Rule(
        "outside-scope",
        r"tensorflow_hub|hub\.KerasLayer|hub\.load",
        "The variables are those of a TensorFlow Hub module: it was loaded outside the scope, or in the form of TensorFlow 1 (hub.Module, a handle without SavedModel 2), whose variables never enter a scope.",
        "with strategy.scope():\n"
        '    layer = hub.KerasLayer(HANDLE, trainable=True, load_options=tf.saved_model.LoadOptions(experimental_io_device="/job:localhost"))      # loaded in the scope; a handle of TensorFlow 2 (.../2 and later)\n'
        "    model = make_model(layer); model.compile(...)",
    ),
    Rule(
        "nested-function",
        r"load_model_from_hdf5|hdf5_format\.py",
        "A compiled model is loaded inside the scope, and restoring the optimizer's state calls apply_gradients there, outside any replica: that happens with .h5 files.",
        'with strategy.scope():\n    model = tf.keras.models.load_model("m.h5", compile=False)      # the model without its optimizer\n    model.compile(optimizer=tf.keras.optimizers.Adam(1e-4), loss=LOSS)\nmodel.save("gs://BUCKET/model")      # to go on with the optimizer\'s state: a SavedModel or tf.train.Checkpoint(model=model, optimizer=optimizer)',
    ),
    Rule(
        "assertion",
        r"distribute/(?:python/)?(?:values|mirrored_strategy|cross_tower_ops)\.py.{0,200}assert(?:notas_ref|isinstance)",
        "A strategy of TensorFlow 1's contrib meets code that it was not made for: mirrored variables cannot be used as references (colocate_with, regularisation losses, moving averages, slim), nor be anything but its own kinds of values.",
        "pip install 'tensorflow>=2.4'      # tf.distribute as it is today, with tf.keras layers in place of slim and tf.contrib\n"
        "config = tf.estimator.RunConfig(model_dir=MODEL_DIR)      # or without train_distribute: one device",
    ),
    Rule(
        "assertion",
        r"[Rr]agged|bounding_box|row_splits",
        "What is compared are the row lengths of ragged tensors (boxes, sequences, images of several sizes): two that go together have other numbers of rows or values.",
        "dense = ragged.to_tensor(shape=[None, MAX_BOXES, 4])      # one fixed size for all that go together, before they are combined\n"
        "print(a.row_lengths(), b.row_lengths())",
    ),
)


def read(family: str, around: str, *, broad: bool) -> Reading | None:
    """What the first rule says that holds for an error of this family near this text.

    `broad`: the error leaves its cause open.
    """
    for rule in (*_RULES, *step_surroundings.RULES):
        holds = family in rule.families.split() if rule.families else broad
        if holds and re.search(rule.near, around):
            return Reading(rule.cause, rule.fix)
    return None


def families() -> frozenset[str]:
    """The families of which some text around tells more."""
    rules = (*_RULES, *step_surroundings.RULES)
    return frozenset(family for rule in rules for family in rule.families.split())
