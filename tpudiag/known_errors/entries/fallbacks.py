# ruff: noqa: E501  (texts of other programs stay as they are)
"""Pairs of versions, what a strategy does not do, and the last resorts of a kind of exception."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase

ERRORS = (
    KnownError(
        id="E514",
        family="version-requirement",
        phase=Phase.INSTALLING,
        kind=Kind.BROAD,
        patterns=(
            r"requires (?:a )?(?:version of )?(?:TensorFlow|Keras|numpy|protobuf|jax|jaxlib|Python|h5py|tf-keras|transformers|torch)(?: version)? ?(?:>=|==|<=|<|>|~=|at least|newer|to be)",
            r"Detected an installation of version (?P<version>[\w.]{1,20})",
            r"Please upgrade (?:TensorFlow|Keras|numpy|transformers) to",
            r"(?:only|not) compatible with (?:TensorFlow|Keras|numpy|Python) ?(?P<version>[\d.x]{0,10})",
            r"You need (?:to (?:have|install|upgrade) )?tensorflow ?(?:>=|==|version)",
            r"ImportError: cannot import name '(?P<name>\w{1,60})'(?! ?from)",
            r"incompatible versions? of (?:TensorFlow|Keras|numpy|protobuf)",
            r"was compiled (?:with|against|for) (?:TensorFlow|a different version)",
            r"this version of (?:TensorFlow|Keras|tensorflow_probability|numpy) (?:does not|is not|requires)",
        ),
        cause="Two packages are of releases that do not belong together: one asks for another version of the other than is installed, or for a name that its version does not have.",
        details=("The version is {version}.", "The name is {name}."),
        fix="""\
pip list | grep -iE "^(tensorflow|keras|tf.keras|tensorflow-\\w+|numpy|protobuf|h5py|transformers) "     # what is here
pip install "tensorflow==2.15.*" "tensorflow-probability==0.23.*" "tensorflow-text==2.15.*"              # pairs have one minor version (probability: 0.23 with 2.15, 0.24 with 2.16)
python -m venv fresh && fresh/bin/pip install -r requirements.txt                                          # a fresh environment, all at once: pip then solves the pairs""",
        citations=("modelscope/facechain#133",),
        example="ImportError: This version of TensorFlow Probability requires TensorFlow version >= 2.12; Detected an installation of version 2.8.0. Please upgrade TensorFlow to proceed.",
        yields_to=(
            "P29",
            "P33",
            "P36",
            "E208",
            "E73",
            "E71",
            "E04",
            "E172",
            "E281",
            "E487",
            "E244",
            "P21",
        ),
    ),
    KnownError(
        id="E515",
        family="tensor-array",
        phase=Phase.EXECUTING,
        patterns=(
            r"Tried to (?:read|write|gather|split|stack|append) (?:from|to|on) index -?\d{1,9} but (?:array|list) size is",
            r"Tried to (?:read|gather) from index",
            r"Tried to write to index",
            r"TensorArray.{0,80}?(?:Could not (?:read|write)|already been (?:read|written)|out of bounds|inconsistent dtype)",
            r"Tried to (?:pop|read|stack|concat) .{0,30}?(?:empty|uninitialized|unknown)",
            r"Trying to (?:stack|concat|access element|read) .{0,60}?list",
            r"Tried to (?:concat|append|set) .{0,40}?list",
            r"(?:Reading from|Writing to) negative indices",
            r"Expected sum of lengths to be equal to values",
            r"Concat saw a scalar shape at index",
            r"Size must be declared for TensorArrays",
            r"Cannot unstack \d{1,6} tensors into a TensorArray of static size",
        ),
        cause="A loop over time reads or writes past the end of its list of tensors: a mask or a length that is longer than the sequence, a decoder that runs more steps than there are, or inputs and mask of different lengths.",
        fix="""\
mask = mask[:, :tf.shape(x)[1]]                                      # mask and sequence of one length: tf.sequence_mask(lengths, maxlen=tf.shape(x)[1])
tf.debugging.assert_equal(tf.shape(x)[:2], tf.shape(mask))
array = tf.TensorArray(tf.float32, size=STEPS, element_shape=[BATCH, UNITS])     # a fixed size: a TPU wants it too""",
        citations=("tensorflow/tensorflow#45035",),
        example="tensorflow.python.framework.errors_impl.OutOfRangeError: Tried to read from index 5 but array size is: 5",
        yields_to=("E698",),
    ),
    KnownError(
        id="E516",
        family="probability-layers",
        phase=Phase.BUILDING,
        patterns=(
            r"'(?:Normal|Bernoulli|Categorical|Independent|MultivariateNormal\w{0,12}|OneHotCategorical|_TensorCoercible|UserRegisteredTypeKerasTensor|Distribution\w{0,20}|IndependentNormal|DenseVariational|DenseReparameterization|DenseFlipout)' object has no attribute '(?P<name>\w{1,40})'",
            r"tensorflow_probability/[\w/]{1,80}\.py.{0,900}?Error: ",
            r"module 'tensorflow_probability[\w.]{0,60}' has no attribute",
            r"Failed to convert .{0,60}?(?:TransformedDistribution|tfp\.distributions)",
        ),
        cause="TensorFlow Probability's layers and distributions are of Keras 2 and of one TensorFlow release: with Keras 3, or another pair of versions, a layer that returns a distribution is taken for a tensor that it is not.",
        details=("It was asked for {name}.",),
        fix="""\
pip install "tensorflow-probability[tf]" tf-keras                 # 0.24 with TensorFlow 2.16, 0.23 with 2.15; tf-keras of your TensorFlow's version
export TF_USE_LEGACY_KERAS=1                                        # before TensorFlow is imported: tfp.layers are layers of Keras 2
x = tfp.layers.DistributionLambda(make, convert_to_tensor_fn=lambda d: d.mean())(x)     # a tensor where Keras wants one; d.log_prob in the loss""",
        citations=("tensorflow/probability#538", "tensorflow/probability#744"),
        example="AttributeError: 'Normal' object has no attribute 'type'",
    ),
    KnownError(
        id="P72",
        family="not-under-strategy",
        phase=Phase.BUILDING,
        patterns=(
            r"`(?P<name>\w{1,30})` (?:argument )?is (?:currently )?not supported (?:when using|with|for models distributed with|in|under) (?:`?tf\.distribute|TPUStrategy|distribution strateg|multi-worker)",
            r"is (?:currently )?not supported (?:when using|with|for models distributed with|in|under) (?:`?tf\.distribute|TPUStrategy|distribution strateg|multi-worker)",
            r"We currently do not support (?:distribution strategy|enabling)",
            r"not supported (?:when using|with|by) (?:the )?(?:TPU ?Strategy|distribution strategies|`?tf\.distribute\.Strategy)",
            r"`?distribute`? argument in compile is not available",
            r"Mixed precision is not supported with the tf\.distribute\.Strategy",
            r"does not (?:currently )?support (?:TPU ?Strategy|distribution strateg|multi-?worker)",
        ),
        cause="This Keras does not do that under a strategy: weights and modes for samples, validation_split, *_on_batch, eager execution and others were not supported in its time, and some still are not.",
        details=("It is {name}.",),
        fix="""\
dataset = dataset.map(lambda x, y: (x, y, weights_of(y)))           # sample or class weights as the third part of each element
valid, train = dataset.take(N), dataset.skip(N)                      # in place of validation_split
model.fit(dataset)                                                    # in place of train_on_batch; or strategy.run in a tf.function of your own
pip install -U tensorflow                                             # most of these limits went in 2.2 to 2.4""",
        evidence="recalled",
        example="ValueError: Mixed precision is not supported with the tf.distribute.Strategy: Default.",
        yields_to=("E197", "E211", "P03", "E138", "E436"),
    ),
    KnownError(
        id="E517",
        family="not-implemented",
        phase=Phase.ANY,
        kind=Kind.CONSEQUENCE,
        patterns=(r"NotImplementedError:? ?(?P<what>[^\n]{3,80})", r"NotImplementedError"),
        cause="What was called does not exist for this object, backend or mode: an abstract method that your own class has to write, a feature of another release, or something that works in eager execution or on another backend only.",
        fix="""\
# your own class? write the method that the last line of the traceback names (call, get_config, compute_output_shape, __getitem__)
python -c "import keras; print(keras.backend.backend(), keras.__version__)"      # KERAS_BACKEND=tensorflow for TPUStrategy
pip install -U PACKAGE                                                              # the library whose file raised it""",
        evidence="recalled",
        example="NotImplementedError: something that no entry knows",
        yields_to=("E623",),
    ),
    KnownError(
        id="E518",
        family="import-failed",
        phase=Phase.INSTALLING,
        kind=Kind.CONSEQUENCE,
        patterns=(
            r"(?:Module ?NotFound|Import)Error: ",
            r"No module named '?(?P<name>[\w.]{2,80})",
        ),
        cause="An import failed: the package is not installed in this Python, is damaged, or is of a release that does not go with the others (its own error stands in the lines above, where it has one).",
        details=("The module is {name}.",),
        fix="""\
python -m pip show PACKAGE; python -c "import sys; print(sys.executable, sys.path)"
python -m pip install --force-reinstall PACKAGE                   # what is missing or damaged
python -X importtime -c "import PACKAGE" 2>&1 | tail -5             # the last file before it fails""",
        evidence="recalled",
        example="ImportError: something that no entry knows",
        yields_to=("E750",),
    ),
)
