# ruff: noqa: E501  (sentences and what is pasted stay in one piece)
"""Wordings of types, conditions, loops and Python's own errors."""

from __future__ import annotations

from .wording import Wording, Wordings

_HALF = "(?:float16|bfloat16|half)"
_FIXES = """\
x = tf.cast(x, self.compute_dtype); mask = tf.cast(mask, x.dtype)      # in the layer that is named: masks, constants and variables of its own
layer = TheLayer(dtype="float32")                                      # or that layer (and the logits) in float32
keras.mixed_precision.set_global_policy("mixed_bfloat16")              # the policy is set before any layer is made; layers of float32 made earlier do not change"""

LANGUAGE: Wordings = {
    "E163 E492": (
        Wording(
            r"Expected u?int\d{1,2}, got -?\d{1,9}\.\d{0,9} of type 'float'",
            "A number of Python decides the type of an operation: a whole number was given where a float belongs (momentum=0, epsilon=1, a factor of 2), so that the operation counts in integers, and meets a float.",
            "BatchNormalization(momentum=0.0)                       # with its point: 0.0, 1.0; so epsilon, rates, factors and initial values\nx = tf.cast(x, tf.float32) * 0.5                         # or the integer tensor is cast first",
            "TypeError: Expected int32, got 1.0 of type 'float' instead.",
        ),
        Wording(
            r"Expected \w{3,10}, but got .{1,200}? of type '(?:SymbolicTensor|EagerTensor|Tensor)'",
            "A tensor is given where numbers of Python are wanted: tf.constant (or a shape, a size) around what is a tensor already, in a graph.",
            "x = tf.convert_to_tensor(x)                             # in place of tf.constant(x): takes tensors too\nx = tf.cast(x, tf.float32); x = tf.stack([a, b])        # another type; a tensor made of tensors",
            "TypeError: Expected float32, but got Tensor(\"Const:0\", shape=(1,), dtype=float32) of type 'SymbolicTensor'.",
        ),
        Wording(
            rf"requested dtype (?P<left>{_HALF}) for Tensor with dtype (?P<right>float32|float64)(?:: ?<?.{{0,30}}?'(?P<name>[\w/:.-]{{1,120}})')?",
            "Under a mixed precision policy the layers compute in <<left>>, and here a <<right>> tensor meets them (`<<name>>`): a mask, a constant, a variable or a layer that was not written for the policy.",
            _FIXES,
            "ValueError: Tensor conversion requested dtype float16 for Tensor with dtype float32: <tf.Tensor 'Transformer-0/mul:0' shape=(None, 1)>",
        ),
        Wording(
            rf"has type (?:float32|{_HALF}) that does not match type (?:{_HALF}|float32) of argument|expected to be a (?:{_HALF}|float) tensor but is a (?:float|{_HALF}) tensor",
            "float32 and a 16-bit type meet in one operation: the input was cast by hand while the layer's weights are float32, or one layer is outside the mixed precision policy (its own variable, an Embedding's weights, a mask).",
            _FIXES,
            "TypeError: Input 'y' of 'MatMul' Op has type float32 that does not match type bfloat16 of argument 'x'.",
        ),
        Wording(
            r"requested dtype (?P<left>int32|int64|uint8) for Tensor with dtype (?P<right>float\d{2}|bfloat16)|requested dtype (?P<to>float\d{2}) for Tensor with dtype (?P<of>u?int\d{1,2})",
            "A whole number and a float meet: labels, a step, a length or a Python int beside floats (TensorFlow converts neither by itself).",
            "labels = tf.cast(labels, tf.float32); step = tf.cast(step, tf.float32)      # where they meet\nimages = tf.cast(images, tf.float32) / 255.0",
            "ValueError: Tensor conversion requested dtype float32 for Tensor with dtype int64: <tf.Tensor 'y:0'>",
        ),
        Wording(
            r"has DataType string not in list of allowed values: [\w, ]{20,200}bool, variant",
            "tf.strings.as_string is given texts already: it makes texts of numbers.",
            "words = tf.strings.split(inputs)      # without as_string: inputs are texts\ndataset = dataset.map(lambda text, y: (lookup(text), y))      # texts become ids before the model: a TPU has none",
            "TypeError: Value passed to parameter 'input' has DataType string not in list of allowed values: float32, float64, int32, uint8, int16, int8, int64, bfloat16, uint16, float16, uint32, uint64, complex64, complex128, bool, variant",
        ),
        Wording(
            r"'(?P<name>\w{1,40})' has DataType (?P<type>\w{3,12}) not in list of allowed values: (?P<allowed>[\w, ]{3,160})",
            "The operation takes <<allowed>> for `<<name>>` and is given <<type>>: texts must be turned into numbers before (a vocabulary, strings.to_number, one-hot), whole numbers and floats are cast.",
            "x = tf.cast(x, tf.float32)                                       # a number of another type\nids = keras.layers.StringLookup(vocabulary=words)(texts)         # texts; tf.strings.to_number(x) for numbers that were read as text\nprint(dataset.element_spec)                                       # which part of an element it is",
            "TypeError: Value passed to parameter 'input' has DataType string not in list of allowed values: float32, float64",
        ),
        Wording(
            r"(?:set_floatx\(.{0,3}?float64|float64.{0,400}?set_floatx\()",
            "floatx is set to float64, and what Keras or your code makes as float32 (constants, learning rates, optimizers' and losses' inner values of this release) stays so: the two meet.",
            "tf.keras.backend.set_floatx('float32')                          # a TPU has no float64 worth its time; inputs by x.astype(np.float32)\nlayer = keras.layers.Dense(10, dtype='float64')                 # on a CPU: float64 for the layers that need it alone",
            "tf.keras.backend.set_floatx('float64'): TypeError: Input 'y' of 'Mul' Op has type float32 that does not match type float64 of argument 'x'.",
        ),
        Wording(
            r"float64.{0,60}?float32|float32.{0,60}?float64",
            "float64 (NumPy's default) meets float32.",
            "x = x.astype(np.float32)      # arrays, before tf sees them; weights of classes and losses too",
            "TypeError: Input 'b' of 'MatMul' Op has type float64 that does not match type float32 of argument 'a'.",
        ),
    ),
    "E215": (
        Wording(
            r"slice index (?P<index>[1-9]\d{0,6}) of dimension 0 out of bounds.{0,300}?(?:MultiDeviceIterator|IteratorGetNext|RemoteCall)",
            "In the input pipeline element <<index>> of a batch is asked for that is not there: a map after batch counts on the global batch, while the strategy cuts the batch into one part for each replica (TensorFlow 2.0 pushes that cut before the map), or the last batch is smaller.",
            "dataset = dataset.map(one_example).batch(global_batch, drop_remainder=True)      # map before batch, on one example\nn = tf.shape(x)[0]                                                              # or the size that is there, not a number or x.shape[0]\npip install -U tensorflow                                                       # 2.1 and later rebatch after the map",
            "InvalidArgumentError: slice index 3 of dimension 0 out of bounds. [[{{node strided_slice_3}}]] [[MultiDeviceIteratorGetNextFromShard]]",
        ),
        Wording(
            r"Need minval < maxval",
            "tf.random.uniform got an empty range: a crop or offset is drawn from a size that is 0 or negative (an image smaller than the crop).",
            "image = tf.image.resize_with_crop_or_pad(image, CROP, CROP)      # images smaller than the crop: padded or resized first\ntf.random.uniform([], 0, tf.maximum(1, tf.shape(image)[0] - CROP + 1), tf.int32)",
            "InvalidArgumentError: Need minval < maxval, got 0 >= 0",
        ),
    ),
    "E98": (
        Wording(
            r"RET_CHECK failure \([\w/.-]{1,120}?(?P<name>dynamic_dimension_inference|dynamic_padder)\.cc",
            "The compiler failed where it follows dimensions that change from batch to batch (<<name>>): a fault of its release, which only programs with such dimensions meet. The batch or another size of the data is not fixed.",
            "dataset = dataset.batch(global_batch, drop_remainder=True)      # training and validation; every size fixed: nothing is left to infer\nx = tf.ensure_shape(x, [None, LENGTH])                          # other sizes: padded_batch, resize\npip install -U tensorflow                                       # a newer compiler (and the TPU's runtime version)",
            "Internal: RET_CHECK failure (third_party/tensorflow/compiler/xla/service/dynamic_dimension_inference.cc:1182) operand != nullptr",
        ),
    ),
    "E497": (
        Wording(
            r"local variable '(?P<name>epoch_logs|logs|batch_logs|val_logs|val_outs|outs|step|tmp_logs|batch_index)'",
            "Keras ran no step at all in the epoch, so `<<name>>` was never set: the dataset or generator is empty, or its length rounds down to 0 (fewer examples than one batch, no file matched, steps_per_epoch=0).",
            "print(len(generator), generator.n if hasattr(generator, 'n') else '')      # 0: fewer examples than a batch\nsteps = max(1, examples // batch_size); assert files, pattern",
            "UnboundLocalError: local variable 'epoch_logs' referenced before assignment",
        ),
    ),
    "E517": (
        Wording(
            r"_(?:resource_)?apply_(?:dense|sparse)\b.{0,300}?NotImplementedError|optimizer\.py.{0,160}?in_?(?:resource_)?_?apply_(?:dense|sparse)",
            "The optimizer has no update of its own for these gradients (_apply_dense, _resource_apply_dense, _apply_sparse are abstract in the base class): a wrapper (Horovod's, one of your own) that does not hand apply_gradients on to what it wraps, or an optimizer without an update for embeddings' sparse gradients.",
            "class Wrapped(tf.compat.v1.train.Optimizer):\n    def apply_gradients(self, *args, **kwargs): return self._optimizer.apply_gradients(*args, **kwargs)      # handed on; or pip install -U horovod\ngrads = [tf.convert_to_tensor(g) for g in grads]      # sparse gradients made dense",
            "optimizer.py, line 590, in _apply_dense raise NotImplementedError() NotImplementedError",
        ),
    ),
    "E496": (
        Wording(
            r"compile_utils\.py.{0,500}?KeyError: ?(?P<key>\d{1,3}|'[\w.-]{1,40}')",
            "Keras 3 takes losses, labels and sample weights apart by the model's outputs and finds no <<key>>: one of them is a dict, the other a list, or their names are not those of the outputs (sample_weight as a dict beside a dict of losses is looked up by position in some releases).",
            "print(model.output_names)                                   # the names that y, loss, loss_weights and sample_weight must have\nmodel.fit(x, y=[a, b], sample_weight=[wa, wb])              # lists in the order of the outputs, for all of them alike; pip install -U keras",
            "keras/src/trainers/compile_utils.py, line 660, in resolve_path object = object[_path] KeyError: 0",
        ),
    ),
    "E499": (
        Wording(
            r"generator_data_adapter|py_dataset_adapter|first_batches",
            "The generator gave no batch at all: Keras looks at its first one before it begins. It was read to its end before, its folder or list is empty, or it yields only under a condition that never holds.",
            "print(next(iter(generator())))      # a generator is used up once: a new one for each fit\nassert len(files) >= batch_size, len(files)",
            "keras/src/trainers/data_adapters/generator_data_adapter.py, line 20, in __init__ first_batches[0] IndexError: list index out of range",
        ),
        Wording(
            r"_pop_per_thread_mode|_distribution_strategy_stack",
            "The graph that remembers the strategy's scope was thrown away within it: tf.keras.backend.clear_session() (or reset_default_graph) was called inside `with strategy.scope()`. Tuners (KerasTuner, AutoKeras) do that before each model.",
            "tf.keras.backend.clear_session()      # before `with strategy.scope():`, never inside\ntuner = kt.Hyperband(build_model, distribution_strategy=strategy, ...)      # the tuner gets the strategy; do not wrap search() in its scope\npip install -U keras-tuner autokeras",
            "File distribute_lib.py, line 332, in __exit__ _pop_per_thread_mode() ops.get_default_graph()._distribution_strategy_stack.pop(-1) IndexError: pop from empty list",
        ),
        Wording(
            r"list_(?:logical|physical)_devices.{0,200}?(?:IndexError|list index)|gpus\[0\]",
            "No such device is here: list_physical_devices (or list_logical_devices) gave an empty list, and its first element is taken.",
            'devices = tf.config.list_logical_devices("TPU"); assert devices, "no TPU: is it connected to, and initialised?"',
            "gpus = tf.config.list_physical_devices('GPU') set_memory_growth(gpus[0]) IndexError: list index out of range",
        ),
    ),
    "E119": (
        Wording(
            r"matching files for (?P<prefix>\S{1,160}?)\.(?:data-\d{5}-of-\d{5}|index|meta)",
            "One file of a checkpoint is named (`.data-00000-of-00001`, `.index`, `.meta`) where its prefix is wanted: what stands before these endings.",
            'path = "<<prefix>>"      # the prefix alone; a relative one with ./ before it in TensorFlow 1\npath = tf.train.latest_checkpoint(folder)',
            "Not found: Unsuccessful TensorSliceReader constructor: Failed to find any matching files for model.tfl.data-00000-of-00001",
        ),
        Wording(
            r"keras_?tuner/.{0,600}?(?P<path>trial_\w{1,60}/checkpoint[\w./]{0,40})",
            "KerasTuner looks for the checkpoint of a trial that none wrote (<<path>>): a fit of your own (HyperModel.fit, run_trial) does not call the callbacks that it is given, or the trial failed before its first epoch ended.",
            'for callback in callbacks: callback.set_model(model)              # in a fit of your own: the tuner\'s callbacks save the checkpoint\nfor callback in callbacks: callback.on_epoch_end(epoch, logs={"val_loss": value})      # after every epoch\nreturn {"val_loss": value}                                        # the objective',
            "File keras_tuner/src/engine/tuner.py, line 264, in run_trial FileNotFoundError: [Errno 2] No such file or directory: './untitled_project/trial_0000/checkpoint.weights.h5'",
        ),
    ),
    "E495 P69 P07": (
        Wording(
            r"'(?P<type>TPUFunction|KerasTPUModel)' object has no attribute '(?P<name>\w{1,40})'",
            "A callback or function of Keras reads `<<name>>`, which the model that keras_to_tpu_model makes (TensorFlow 1.11 to 1.13) does not have: TensorBoard with histograms, ModelCheckpoint and others of a later time.",
            "tf.keras.callbacks.TensorBoard(log_dir, histogram_freq=0)      # no histograms on such a model\nwith tf.distribute.TPUStrategy(resolver).scope(): model = make_model()      # TensorFlow 2, in place of keras_to_tpu_model",
            "AttributeError: 'TPUFunction' object has no attribute 'fetches'",
        ),
    ),
    "E493 E210": (
        Wording(
            r"could not convert string to float: ?'?(?P<text>[^'\n]{0,40})",
            "A text (`<<text>>`) stands where numbers are wanted: a column of texts or of names, a header row read as data, a list of file names given as images.",
            'frame = frame.apply(pd.to_numeric, errors="coerce").fillna(0)      # columns of numbers\nids = tf.keras.layers.StringLookup(vocabulary=words)(column)        # texts that are categories: numbers for them; then float32',
            "ValueError: could not convert string to float: 'male'",
        ),
        Wording(
            r"setting an array element with a sequence",
            "The rows of the list are of different lengths (or shapes): no array can be made of them.",
            'x = keras.utils.pad_sequences(rows, maxlen=LENGTH, padding="post")      # sequences\nx = np.stack([resize(image, (H, W)) for image in images])             # images of one size',
            "ValueError: setting an array element with a sequence.",
        ),
    ),
    "E282": (
        Wording(
            r"(?:cv2|imread).{0,400}?'NoneType' object (?:has no attribute|is not)",
            "cv2.imread found no image at the path and gave None.",
            "image = cv2.imread(path); assert image is not None, path      # the path, relative to where the program was started; Colab: is Drive mounted?",
            "img = cv2.imread(p) img.shape AttributeError: 'NoneType' object has no attribute 'shape'",
        ),
        Wording(
            r"operand type\(s\) for .{1,12}?: .{0,14}?'NoneType'.{0,10}?(?:and '(?:int|float)')?",
            "A size that is not known when the model is built (x.shape[0], x.shape[1] is None) or an argument that was never given is used as a number.",
            "n = tf.shape(x)[0]                       # in place of x.shape[0]: the size when it runs\nsteps = len(files) // batch_size         # len() of the data, where a dataset's cardinality is not known; an argument: is it set?",
            "TypeError: unsupported operand type(s) for /: 'NoneType' and 'int'",
        ),
    ),
    "E498 E480": (
        Wording(
            r"not supported between instances of '(?P<a>list|dict|tuple|str|NoneType|ndarray)' and '(?P<b>int|float)'",
            "A <<a>> is compared with a number: an argument stands in another one's place (a list as the first argument of a layer whose first argument is a size: StringLookup(vocabulary) sets max_tokens), a number is still text, or a value was never set.",
            "layer = keras.layers.StringLookup(vocabulary=words)      # by keyword: the first argument may be another\nprint(type(value), value)                                 # text: int(value); None: where it should have been set",
            "TypeError: '<=' not supported between instances of 'list' and 'int'",
        ),
        Wording(
            r"<lambda>\(\) (?:takes \d|missing)|(?:map_fn|parse_fn|preprocess|augment|decode|load)\w{0,20}\(\) (?:takes|missing)",
            "dataset.map gives the function one argument for each part of an element: two for (x, y), one for a dict or a single tensor; the function takes another number.",
            "print(dataset.element_spec)                                     # (x, y): two arguments; {...}: one\ndataset = dataset.map(lambda x, y: (augment(x), y))",
            "TypeError: tf__preprocess() takes 1 positional argument but 2 were given",
        ),
        Wording(
            r"not enough values to unpack \(expected (?P<wanted>\d), got (?P<got>\d)\)",
            "<<wanted>> values are taken from something that holds <<got>>: an element of the dataset or what the model (load_data, a batch) returns has another number of parts.",
            "print(len(value), type(value))      # at the line of yours that the traceback names\nx, y = data[:2]; weights = data[2] if len(data) > 2 else None      # in train_step(self, data): keras.utils.unpack_x_y_sample_weight(data)",
            "ValueError: not enough values to unpack (expected 3, got 2)",
        ),
    ),
    "E401": (
        Wording(
            r"'?(?P<name>[\w.]{1,60})'? (?:must also be initialized in the|is None at the end of the) (?P<branch>\w{1,6}) ?branch|'(?P<other>[\w.]{1,60})' is used before assignment",
            "AutoGraph compiles both branches of an `if` on a tensor, and `<<name>>` gets a value in one of them only.",
            "<<name>> = tf.zeros(SHAPE)      # before the if, of the shape and type that the branch gives; or set in else: too\n<<name>> = tf.where(condition, a, b)      # or no branch at all",
            "ValueError: 'loss' must also be initialized in the main branch",
        ),
    ),
    "E155": (
        Wording(
            r"(?:inner function|while_body|while_cond|loop).{0,600}?(?:TensorArray|while_body|accessed from|TensorList)",
            "A tensor that is made in the turns of a loop is used after it: a Python list that is appended to in a `for` or `while` over tensors. Such a loop is compiled once, and only its loop variables live on.",
            "rows = tf.TensorArray(tf.float32, size=N)\nfor i in tf.range(N): rows = rows.write(i, f(i))      # write gives the array back: assign it\nresult = rows.stack()                                 # tensors of one shape\nfor i in range(N): results.append(f(i))               # or a Python range of a known number: the loop is unrolled, the list works, sizes may differ",
            "ValueError: Trying to capture a tensor from an inner function. Consider using TensorFlow mechanisms such as TensorArrays to return tensors from inner functions or loop / conditional bodies.",
        ),
    ),
    "E400": (
        Wording(
            r"'?(?P<name>[\w:/.-]{1,80}?)'? (?:enters the loop with|has) shape (?P<before>[(\[][\d, None?]{0,30}[)\]]).{0,40}?(?:after|but) .{0,20}?shape (?P<after>[(\[][\d, None?]{0,30}[)\]]|<unknown>)",
            "`<<name>>` grows in the loop, from <<before>> to <<after>>: a tf.concat or append in each turn. A compiled loop keeps one shape.",
            "rows = tf.TensorArray(tf.float32, size=STEPS, element_shape=SHAPE_OF_ONE)      # written in the loop, stack() after it\nx = tf.zeros([STEPS, WIDTH])                                                   # or the full size at once, filled by tf.tensor_scatter_nd_update",
            "ValueError: 'x' has shape (0, 8) before the loop, but shape (1, 8) after one iteration. Use tf.autograph.experimental.set_loop_options to set shape invariants.",
        ),
    ),
    "E156": (
        Wording(
            r"No gradients provided for any variable.{0,120}?(?:tf_\w{2,40}|bert|classifier|lm_head)",
            "Nothing of the loss reaches the model: Transformers' TF models compute their own loss only from `labels` within the inputs (compile without a loss), and compile(loss=...) wants elements (inputs, labels); a dict that holds the labels among the inputs gives neither.",
            "dataset = tf.data.Dataset.from_tensor_slices((inputs, labels)).batch(B)      # (inputs, labels) with compile(loss=SparseCategoricalCrossentropy(from_logits=True))\nmodel.compile(optimizer)                                                      # or no loss at all, and the labels in the inputs under the name `labels`",
            "ValueError: No gradients provided for any variable: ['tf_bert_for_token_classification_8/classifier/kernel:0']",
        ),
        Wording(
            r"No gradients provided for any variable",
            "The loss does not come from the model's variables within the tape: fit has no labels (the dataset yields x alone, so that Keras has no loss), or a loop of your own leaves the tape, uses .numpy(), argmax or a cast to whole numbers before the loss.",
            "dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(global_batch)      # fit: elements (x, y)\nwith tf.GradientTape() as tape:\n    loss = loss_fn(y, model(x, training=True))                                # the model is called inside the tape, in tf operations",
            "ValueError: No gradients provided for any variable: ['dense/kernel:0', 'dense/bias:0'].",
        ),
    ),
    "E186": (
        Wording(
            r"Attempting to capture an EagerTensor without building a function",
            "A tensor that was made eagerly is used in a graph of TensorFlow 1 style: eager execution was switched off after it was made, Keras's session is used beside eager code, or hub/optimizer variables come from another mode.",
            "# one mode for the whole program: delete tf.compat.v1.disable_eager_execution() (or put it right after the import, before any tensor)\nfrom tensorflow import keras      # one Keras, not the keras package beside tf.keras",
            "RuntimeError: Attempting to capture an EagerTensor without building a function.",
        ),
    ),
}
