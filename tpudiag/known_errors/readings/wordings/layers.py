# ruff: noqa: E501  (sentences and what is pasted stay in one piece)
"""Wordings of layers and models that do not fit what they are given."""

from __future__ import annotations

from .wording import Wording, Wordings

LAYERS: Wordings = {
    "E573": (
        Wording(
            r"`?weights`? argument should be either",
            "What is given as `weights` is neither None, the name of pretrained weights nor a file that exists: a path that is wrong here (another working directory, a Drive that is not mounted, a gs:// path, which the check does not find) or a name that this model does not have.",
            'path = "/content/drive/MyDrive/weights.h5"; assert tf.io.gfile.exists(path), path\ntf.io.gfile.copy("gs://BUCKET/weights.h5", "/tmp/weights.h5", overwrite=True)      # a bucket: fetched first\nmodel = keras.applications.ResNet50(weights=None, classes=NUM_CLASSES); model.load_weights("/tmp/weights.h5")      # or "imagenet", "noisy-student" where there are such',
            "ValueError: The `weights` argument should be either `None` (random initialization), `imagenet` (pre-training on ImageNet), or the path to the weights file to be loaded.",
        ),
        Wording(
            r"as true, `?classes`? should be 1000",
            "The weights of ImageNet with their top have 1000 classes, and another number is asked for.",
            'base = keras.applications.ResNet50(include_top=False, weights="imagenet", pooling="avg", input_shape=(224, 224, 3))\noutputs = keras.layers.Dense(NUM_CLASSES, activation="softmax", dtype="float32")(base(inputs))      # a top of your own\nmodel = keras.applications.ResNet50(weights=None, classes=NUM_CLASSES)                           # or without pretrained weights',
            'ValueError: If using `weights="imagenet"` with `include_top=True`, as true, `classes` should be 1000. Received: classes=10',
        ),
        Wording(
            r"The input must have 3 channels",
            "The pretrained weights are for three channels, and input_shape has another number (grey images, or the axes in another order).",
            'image = tf.image.grayscale_to_rgb(image)                     # in dataset.map: one channel to three\nbase = keras.applications.ResNet50(include_top=False, weights="imagenet", input_shape=(224, 224, 3))\nbase = keras.applications.ResNet50(include_top=False, weights=None, input_shape=(224, 224, 1))      # or one channel, without pretrained weights',
            "ValueError: The input must have 3 channels; got `input_shape=(224, 224, 1)`",
        ),
    ),
    "E202": (
        Wording(
            r"Negative dimension size caused by subtracting (?P<k>\d{1,4}) from (?P<n>\d{1,4})",
            "A window of <<k>> is laid over <<n>> values: the image or sequence is smaller than the model expects, was halved too often, or its axes are in the other order (channels first).",
            'keras.layers.Conv2D(F, 3, padding="same")      # keeps the size; fewer pooling layers\nx = tf.transpose(x, [0, 2, 3, 1])              # channels last: (batch, height, width, channels)\nimage = tf.image.resize(image, [224, 224])     # or larger images',
            "ValueError: Negative dimension size caused by subtracting 3 from 2 for 'conv2d_1/convolution' (op: 'Conv2D')",
        ),
        Wording(
            r"depth of (?:the )?input must|number of input channels does not match|input depth must be evenly divisible",
            "The images have another number of channels than the filter was built for (grey against colour, RGBA, or channels on another axis).",
            "image = tf.io.decode_image(data, channels=3, expand_animations=False)      # always three\nimage = tf.image.grayscale_to_rgb(image); x = x[..., :3]                    # grey -> 3; RGBA -> 3",
            "InvalidArgumentError: input depth must be evenly divisible by filter depth: 1 vs 3",
        ),
        Wording(
            r"is incompatible with the layer: its rank is undefined",
            "The input's rank is not known: it comes out of tf.py_function, numpy_function, decode_image, a ragged or a sparse tensor without a shape.",
            "x = tf.ensure_shape(x, [None, HEIGHT, WIDTH, 3])      # in dataset.map, before batch without the None",
            "ValueError: Input 0 of layer conv2d is incompatible with the layer: its rank is undefined, but the layer requires a defined rank.",
        ),
    ),
    "E203": (
        Wording(
            r"name \"(?P<name>[\w.-]{1,60})\" is used \d{1,3} times in the model",
            "Two layers are named `<<name>>`: a model was loaded or built twice and joined, a base model is used twice, or names were given by hand.",
            'for layer in second.layers: layer._name = "b_" + layer.name      # Keras 2; Keras 3: layer.name = ..., or build the second with names of its own\nbase = build_base(name="left"); other = build_base(name="right")',
            'ValueError: The name "conv2d" is used 2 times in the model. All layer names should be unique.',
        ),
        Wording(
            r"Graph disconnected: cannot obtain value for tensor|not connected to `?outputs`?|is not connected to `inputs`",
            "An output was computed from another Input than the ones given to Model(inputs=...): a second keras.Input, or a base model's own input, stands between.",
            "base = keras.applications.ResNet50(include_top=False, input_tensor=inputs)      # made on your Input\nx = base(inputs); model = keras.Model(inputs, head(x))                          # or called on it; the same `inputs` in Model(...)",
            "ValueError: Graph disconnected: cannot obtain value for tensor KerasTensor(type_spec=TensorSpec(shape=(None, 8)))",
        ),
        Wording(
            r"Only instances of `?keras\.Layer`? can be added|Added layer must be an instance of class",
            "A layer of another Keras is added: keras beside tensorflow.keras (or tf_keras), or a hub.KerasLayer of Keras 2 in a model of Keras 3.",
            "from tensorflow import keras      # one Keras in the whole program, in every import\nexport TF_USE_LEGACY_KERAS=1      # with a library that is written for Keras 2 (pip install tf-keras)",
            "TypeError: The added layer must be an instance of class Layer. Found: <keras.layers.core.Dense>. Added layer must be an instance of class",
        ),
    ),
    "E201 E122": (
        Wording(
            r"Unable to (?:load|save) (?:weights|a subclassed Model)|(?:has|have) not (?:yet )?(?:been )?created|not been built",
            "The model has no variables yet: a subclassed model, or a Sequential without an Input, makes them at its first call.",
            "model(tf.zeros([1, *SHAPE]))      # one call, in strategy.scope(), before load_weights, summary or save\nmodel.build((None, *SHAPE))",
            "ValueError: Unable to load weights saved in HDF5 format into a subclassed Model which has not created its variables yet. Call the Model first, then load the weights.",
        ),
    ),
    "E472": (
        Wording(
            r"Cannot unroll a RNN if the time dimension is undefined|Unrolling requires a fixed number of timesteps",
            "A recurrent layer with unroll=True is given sequences whose length is not known while it is traced: Input((None, ...)), or a slice by a tensor (x[:, :length]) before it. Unrolled, each step is a part of the graph, so their number must be a Python number.",
            "x = tf.ensure_shape(x, [None, LENGTH, WIDTH])      # padded to one length; what is beyond is masked (Masking, mask=)\nlayer = keras.layers.LSTM(64, unroll=False)        # or a loop, whose length may change (CPU, GPU)",
            "ValueError: Cannot unroll a RNN if the time dimension is undefined.",
        ),
        Wording(
            r"(?:channel|last) dimension of the inputs.{0,30}? should be defined",
            "The last dimension of what reaches the layer is None: the dataset's map lost the shape (decode, py_function, parsing), or the Input was declared with None there.",
            "inputs = keras.Input((224, 224, 3))                          # the number of channels or features is always given\nx = tf.ensure_shape(x, [None, FEATURES]); image.set_shape([H, W, 3])      # in dataset.map",
            "ValueError: The channel dimension of the inputs should be defined. The input_shape received is (None, 224, 224, None)",
        ),
        Wording(
            r"'images' must (?:have either 3 or 4 dimensions|be at least three-dimensional)",
            "tf.image is given something that is no image: a flat vector, a grey image without its channel axis, or a batch of batches.",
            "image = image[..., tf.newaxis]                               # (height, width) -> (height, width, 1)\nimage = tf.reshape(image, [HEIGHT, WIDTH, 3])                # a flat vector",
            "ValueError: 'images' must have either 3 or 4 dimensions.",
        ),
    ),
    "E89": (
        Wording(
            r"must be rank 0 but is rank 1 for .{0,20}?(?P<op>Decode\w{2,20}|ReadFile|ParseTensor|DecodeRaw)",
            "<<op>> takes one string and gets a vector of them: the dataset was batched before the map, or the feature was parsed as a list (FixedLenFeature([1]), VarLenFeature).",
            'features = {"image": tf.io.FixedLenFeature([], tf.string)}      # [] in place of [1]: one string\ndataset = dataset.map(decode).batch(global_batch)              # map first, then batch\nimages = tf.map_fn(decode, strings, fn_output_signature=tf.float32)      # or over the batch',
            "ValueError: Shape must be rank 0 but is rank 1 for '{{node DecodeJpeg}} = DecodeJpeg[channels=3](ParseExampleV2)' with input shapes: [?].",
        ),
        Wording(
            r"must be rank (?P<wanted>\d) but is rank (?P<got>\d) for .{0,80}?ReverseSequence",
            "The mask given to an RNN has <<got>> dimensions here and must have (batch, time): its last axis is too many.",
            "outputs = layer(x, mask=mask[..., 0])      # (batch, time) of booleans: tf.squeeze(mask, -1)",
            "ValueError: Shape must be rank 1 but is rank 2 for '{{node cond/ReverseSequence}} = ReverseSequence[T=DT_FLOAT]' with input shapes: [?,?,1], [?,1].",
        ),
    ),
    "E13": (
        Wording(
            r"random_(?P<kind>crop|flip|rotation|zoom|translation|contrast|brightness|height|width)\w{0,20}/",
            "A preprocessing layer (Random<<kind>>) is a part of the model, so that its random numbers are drawn in the compiled step; the TPU's compiler wants fixed sizes there.",
            "augment = keras.Sequential([keras.layers.RandomFlip(), keras.layers.RandomRotation(0.1)])      # out of the model\ndataset = dataset.map(lambda x, y: (augment(x, training=True), y), num_parallel_calls=tf.data.AUTOTUNE)      # on the host, before or after batch",
            "Input 0 to node `sequential/random_crop/cond/stateless_random_uniform/StatelessRandomUniformIntV2` with op StatelessRandomUniformIntV2 must be a compile-time constant.",
        ),
        Wording(
            r"with op (?P<op>BroadcastArgs|BroadcastTo|BroadcastGradientArgs) must be",
            "<<op>> needs the batch's size when the step is compiled, and it is not known: mostly the last, smaller batch (predict and evaluate too), or shapes taken with tf.shape. In Keras 3 the compilation itself is what jit_compile='auto' switched on.",
            "dataset = dataset.batch(global_batch, drop_remainder=True)      # predict: pad the data to a multiple of the batch, cut the result\nmodel.compile(..., jit_compile=False)                           # CPU or GPU: no XLA\nx = tf.broadcast_to(x, [BATCH, WIDTH])                          # Python numbers (x.shape), not tf.shape(x)",
            "INVALID_ARGUMENT: Input 0 to node `non_max_suppression_1_1/BroadcastArgs` with op BroadcastArgs must be a compile-time constant.",
        ),
    ),
    "E191": (
        Wording(
            r"random_ops\.py|shape_tensor|random\.(?:normal|uniform)\(|(?:tf|K)\.(?:zeros|ones|fill|reshape)\(",
            "The shape holds None: x.shape gives None for a size that is not known when the function is traced (the batch), and a random tensor, zeros or a reshape is made of it.",
            "noise = tf.random.normal(tf.shape(x))      # tf.shape(x) in place of x.shape: the sizes when it runs\ndataset = dataset.batch(global_batch, drop_remainder=True)      # on a TPU better: then x.shape is known",
            "epsilon = tf.random.normal(x.shape) random_ops.py:74 random_normal shape_tensor ValueError: None values not supported.",
        ),
    ),
    "E154": (
        Wording(
            r"Gradient for (?P<name>[\w./:-]{1,200}?) is NaN",
            "The gradient of `<<name>>` became NaN: the steps grew until numbers overflowed, mostly by a learning rate that is too high for this batch, a start without warm-up, or a checkpoint that does not belong to the model; else labels outside the classes (255 for void).",
            "--learning_rate=RATE_OVER_10; clip: optimizer = keras.optimizers.Adam(1e-4, clipnorm=1.0)      # and some hundred steps of warm-up\nassert int(labels.max()) < NUM_CLASSES      # void labels out: weight 0",
            "Gradient for block3/gamma:0 is NaN : Tensor had NaN values [[{{node CheckNumerics_12}}]]",
        ),
    ),
}
