# ruff: noqa: E501  (what is pasted stays in one piece)
"""Arguments whose values are refused: what each takes, by its name."""

from __future__ import annotations

import re

from .meaning import Reading

_BY_NAME: tuple[tuple[str, str, str], ...] = (
    (
        r"steps_per_epoch|validation_steps|steps|max_steps|num_steps|train_steps|total_steps|decay_steps|steps_per_execution|iterations_per_loop",
        "is a whole number, 1 or more: a division by `/` gives a float, and `//` gives 0 where the data is smaller than one batch",
        "steps_per_epoch = max(1, examples // global_batch)      # //, not /; a dataset that repeats, or whose size is not known, needs it",
    ),
    (
        r"y",
        "is not given beside a dataset, generator or Sequence: the labels are the second part of each of its elements",
        "dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(global_batch, drop_remainder=True); model.fit(dataset)      # no y=",
    ),
    (
        r"sample_weight",
        "is not given beside a dataset or generator: it is the third part of each element",
        "dataset = dataset.map(lambda x, y: (x, y, weight_of(y))); model.fit(dataset)      # (inputs, labels, weights), no sample_weight=",
    ),
    (
        r"batch_size",
        "is not given beside a dataset, generator or Sequence, which is batched itself; elsewhere it is a whole number",
        "dataset = dataset.batch(global_batch, drop_remainder=True); model.fit(dataset)      # no batch_size=; global_batch = per_replica * strategy.num_replicas_in_sync",
    ),
    (
        r"validation_split",
        "works on arrays alone: a dataset or generator is split by hand",
        "valid, train = dataset.take(N // 10), dataset.skip(N // 10); model.fit(train, validation_data=valid)",
    ),
    (
        r"validation_data",
        "is a dataset, or a tuple (x, y) or (x, y, weights)",
        "model.fit(x, y, validation_data=(x_valid, y_valid))      # a tuple, not a list",
    ),
    (
        r"shuffle|buffer_size",
        "is the number of elements to mix, 1 or more: 0 comes from an empty list of files or arrays",
        'assert len(files), "no files"; dataset = dataset.shuffle(10_000)',
    ),
    (
        r"units|filters|kernel_size|strides|pool_size|num_heads|key_dim|input_dim|output_dim|dilation_rate|max_tokens|vocabulary_size|vocab_size|num_classes|hidden_size|depth|max_value|num_oov_indices",
        "is a whole number, 1 or more: a float from a division or a configuration, a text from the command line, or a size that comes out as 0",
        "keras.layers.Dense(int(units))      # 128, not 128.0 or '128'; print it where it is computed: // in place of /",
    ),
    (
        r"rate|dropout|alpha|momentum|beta_1|beta_2|epsilon|threshold|thresholds|label_smoothing|clipnorm|clipvalue|global_clipnorm|weight_decay|factor",
        "is a number within its range (a rate from 0 up to 1, a norm above 0)",
        "keras.layers.Dropout(0.2)      # the share that is dropped, not 20 and not what is kept; float(...) of what a command line gives",
    ),
    (
        r"learning_rate|lr",
        "is a number, or a schedule of this same Keras",
        "keras.optimizers.Adam(learning_rate=1e-3)      # or keras.optimizers.schedules.*; 1e-3, not '1e-3' (YAML reads 1e-3 as text: write 1.0e-3)",
    ),
    (
        r"optimizer",
        "is a name, or an object of the same Keras as the model (keras and tensorflow.keras are two; tf.train.* belongs to neither)",
        "model.compile(optimizer=keras.optimizers.Adam(1e-3))      # an object (with parentheses) of the Keras that made the model",
    ),
    (
        r"loss|loss_fn",
        "is a name, a function (y_true, y_pred) or an object of keras.losses; for several outputs a list or dict of them",
        "model.compile(loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))      # an object: with parentheses",
    ),
    (
        r"metrics|weighted_metrics|loss_weights|callbacks|layers",
        "is a list (for several outputs a list or dict of lists), of objects and not of classes",
        'model.compile(metrics=["accuracy"]); model.fit(dataset, callbacks=[keras.callbacks.EarlyStopping()])      # in [ ], each with ( )',
    ),
    (
        r"reduction",
        "has other names in Keras 3 (`sum_over_batch_size`, `sum`, `mean`, None) than in Keras 2 (tf.keras.losses.Reduction.*); in a loop of your own under a strategy it has to be none",
        'loss_object = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")      # then tf.nn.compute_average_loss(per_example, global_batch_size=GLOBAL_BATCH)',
    ),
    (
        r"mode|save_freq|save_best_only|monitor|update_freq",
        "takes few values: mode is auto, min or max; save_freq and update_freq `epoch` or a number of batches",
        'keras.callbacks.ModelCheckpoint("best.keras", monitor="val_loss", mode="min", save_freq="epoch")',
    ),
    (
        r"filepath|filename|path|directory|log_dir",
        "is a path as text (or pathlib.Path), with the ending that says its format in Keras 3",
        'str(path)      # Keras 3: "model.keras", "model.weights.h5"; a folder only in model.export(folder)',
    ),
    (
        r"axis|axes|dim|dims|perm|permutation",
        "is a whole number (or several) from -rank to rank - 1 of the tensor",
        "print(x.shape); axis=-1      # the last; an image without batch or channels has fewer axes than the code supposes",
    ),
    (
        r"shape|input_shape|batch_shape|target_shape|output_shape|target_size|image_size|size|crop_size",
        "is a tuple of whole numbers (None where one is not known): no bare number, no floats, no nested tuple, and without the batch where it is an input's",
        "keras.Input(shape=(224, 224, 3)); tf.image.resize(x, (224, 224)); keras.layers.Reshape((16, -1))      # (N,) with its comma for one size",
    ),
    (
        r"data_format|padding|activation|interpolation|color_mode|class_mode|label_mode|pooling|implementation",
        "takes one of a few names, in the spelling of this release",
        'data_format="channels_last"; padding="same"; interpolation="bilinear"; class_mode="sparse"      # the message lists the others',
    ),
    (
        r"dtype|dtype_policy|output_types|Tout",
        "is the name of a type (or tf.*): not a NumPy array's, not a torch type, `mixed_bfloat16` for policies alone",
        'dtype="float32"; keras.mixed_precision.set_global_policy("mixed_bfloat16")',
    ),
    (
        r"output_signature|output_shapes|fn_output_signature|input_signature",
        "is a tf.TensorSpec, or a tuple (not a list) or dict of them, built as the elements are",
        "output_signature=(tf.TensorSpec([224, 224, 3], tf.float32), tf.TensorSpec([], tf.int32))",
    ),
    (
        r"num_replicas|num_shards|num_workers|num_processes|nprocs|num_devices|device_count|devices|num_cores",
        "is the number that the TPU has (replicas of the strategy, chips or processes of the slice)",
        "print(strategy.num_replicas_in_sync, len(tf.config.list_logical_devices('TPU')))      # JAX: jax.device_count(), jax.process_count(); leave the argument out, and it is found",
    ),
    (
        r"strategy|tpu|tpu_name|distribute_strategy|distribution_strategy",
        "takes the strategy or TPU in one form: a TPUStrategy object, or the TPU's name",
        'resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local"); strategy = tf.distribute.TPUStrategy(resolver)',
    ),
    (
        r"labels|logits|y_true|y_pred|predictions|targets",
        "is passed by its name, and has the form that the loss takes: class numbers [batch] for sparse_ losses, one column for each class for the others",
        "tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)      # by name; int labels of shape [batch]",
    ),
    (
        r"initializer|kernel_initializer|embeddings_initializer|bias_initializer|regularizer|kernel_regularizer|constraint",
        "is a name or an object of keras.initializers (regularizers, constraints), made with parentheses",
        "kernel_initializer=keras.initializers.HeNormal()      # an object, not the class; TableConfig of TPUEmbedding likewise",
    ),
    (
        r"mask|attention_mask|training",
        "is a tensor of booleans (mask) or a Python bool (training)",
        "layer(x, mask=tf.cast(mask, tf.bool), training=True)",
    ),
    (
        r"spec|partition_spec|in_shardings|out_shardings|in_specs|out_specs|axis_names|axis_name|in_axes|out_axes|mesh|static_argnums|donate_argnums",
        "is built like the function's arguments (results), with axis names that the mesh has",
        'mesh = jax.make_mesh((jax.device_count(),), ("data",)); NamedSharding(mesh, P("data"))      # one spec (None: replicated) for each argument',
    ),
)
_NAMED = (
    re.compile(
        r"`(?P<name>\w{1,40})`(?:argument)?(?:must|should|canonly|needsto|cannot|hasto|is|argument|isonly|were|was)"
    ),
    re.compile(
        r"(?:[Aa]rguments?|valuefor|[Pp]arameter|[Ee]xpected)[:'`\"]{1,3}(?P<name>\w{1,40})[`'\"]"
    ),
    re.compile(r"Received:(?P<name>\w{1,40})="),
    re.compile(r"Error:(?P<name>[a-z_]{1,40})argumentisnotsupported"),
    re.compile(r"withnamedarguments\((?P<name>labels|logits)="),
)
_GOT = re.compile(
    r"(?:[Rr]eceived|[Gg]ot|found|gave|given|was)(?:instead)?:?(?:\w{1,40}=)?"
    r"(?P<value><class'[\w.]{1,60}'>|\(?-?\d[\w.,)-]{0,24}|None|True|False|['\"`][^'\"`]{1,40}['\"`]|\[[^\]]{0,40}\])"
)


def read(_: str, values: dict[str, str], text: str) -> Reading | None:
    """What an argument takes whose value was refused."""
    named = (hit["name"] for form in _NAMED for hit in form.finditer(text))
    for name in (values.get("argument", ""), *named):
        for kinds, takes, fix in _BY_NAME:
            if re.fullmatch(kinds, name):
                return Reading(f"`{name}` {takes}{_received(text)}.", fix)
    return None


def _received(text: str) -> str:
    """What was given in its place, where the message says it."""
    got = _GOT.search(text)
    return f" (it got {got['value'].rstrip('.,')})" if got else ""
