# ruff: noqa: E501  (texts of other programs stay as they are)
"""Lists of tensors in loops, sparse gradients, and tensors that left their graph."""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E698",
        family="list-element-shape",
        phase=Phase.EXECUTING,
        patterns=(
            r"Specified a list with shape \[(?P<listed>[\d,?]{1,60})\] from a tensor with shape \[(?P<given>[\d,?]{1,60})\]",
            r"incompatible shape at a list index\. Item element shape: \[(?P<given>[\d,?]{1,60})\] list shape: \[(?P<listed>[\d,?]{1,60})\]",
            r"value shape is \[(?P<given>[\d,?]{1,60})\] which is incompatible with the TensorArray's inferred element shape: \[(?P<listed>[\d,?]{1,60})\]",
            r"TensorArray has inconsistent shapes\. Index \d{1,6} has shape: \[(?P<listed>[\d,?]{1,60})\] but index \d{1,6} has shape: \[(?P<given>[\d,?]{1,60})\]",
            r"Incompatible (?:ranks|shapes) during merge: \[[\d,?]{1,60}\] vs\. \[[\d,?]{1,60}\].{0,200}?TensorList",
            r"Tensor(?:List|Array).{0,120}?(?:element|elements|value) (?:has|have|of) (?:a )?(?:different|incompatible|inconsistent) shapes?",
            r"push to list with wrong element (?:dtype|shape)",
        ),
        cause=(
            "The elements of a list of tensors (tf.map_fn, tf.scan, a loop of an RNN or an attention block, tf.TensorArray) must have one shape,"
            " and one of them differs from the shape the loop was built with: mostly the last, smaller batch of the data,"
            " a batch size that is written into the model, or images of another size than the model was built for."
        ),
        details=("The list was made for elements [{listed}], and [{given}] came.",),
        fix="""\
dataset = dataset.batch(global_batch, drop_remainder=True)            # also of the validation and test data: no smaller last batch
model.evaluate(dataset, steps=len(x_test) // batch_size)              # arrays: a number of examples that the batch divides
batch = tf.shape(x)[0]                                                # in your layer: not a number that is written in
model = make_model(input_shape=x_train.shape[1:])                     # another size inside: the model was built for other images
array = tf.TensorArray(tf.float32, size=STEPS, infer_shape=False)     # only if they do differ on purpose (not on a TPU)""",
        citations=("XifengGuo/CapsNet-Keras#113",),
        example="InvalidArgumentError:  Specified a list with shape [2,1152,8,1] from a tensor with shape [2,1008,8,1]\n\t [[node model_9/digitcaps/map/TensorArrayUnstack/TensorListFromTensor]]",
    ),
    KnownError(
        id="E699",
        family="hooks-of-replicas",
        phase=Phase.TRACING,
        patterns=(
            r"'(?:PerReplica|Mirrored|DistributedValues|PerDevice)' object has no attribute '(?P<name>begin|before_run|after_run|after_create_session|end)'",
        ),
        cause=(
            "A SessionRunHook is asked for, and a value of all replicas stands there: hooks that model_fn puts into its"
            " EstimatorSpec (training_hooks, evaluation_hooks) are gathered per replica under a strategy, and are no hooks any more."
        ),
        details=("It is asked for {name}.",),
        fix="""\
estimator.train(input_fn, hooks=[hook], max_steps=STEPS)              # hooks from outside, not in EstimatorSpec(training_hooks=...)
tf.estimator.TrainSpec(input_fn, hooks=[hook]); tf.estimator.EvalSpec(input_fn, hooks=[hook])
# or make them once in model_fn for all replicas: tf.distribute.get_replica_context().merge_call(lambda strategy: hook)
# honest way: Keras with callbacks, or a loop of your own""",
        citations=("tensorflow/tensorflow#28018",),
        example="AttributeError: 'PerReplica' object has no attribute 'begin'",
    ),
    KnownError(
        id="E700",
        family="sparse-gradient",
        phase=Phase.TRACING,
        patterns=(
            r"'IndexedSlices(?:Value)?' object (?:has no attribute '(?P<name>\w{1,40})'|is not (?:subscriptable|iterable|callable))",
            r"unsupported operand type\(s\) for [^:]{1,6}: '(?:IndexedSlices' and '\w{1,30}|\w{1,30}' and 'IndexedSlices)'",
            r"IndexedSlices.{0,120}?(?:not supported|cannot be|unsupported type)",
            r"Cannot use a constraint function on a sparse variable",
            r"[Gg]radients? (?:is|are|of type) (?:tf\.)?IndexedSlices.{0,80}?(?:not|dense)",
        ),
        cause=(
            "The gradient of an Embedding or of tf.gather is sparse: tf.IndexedSlices (values and indices of the rows that were"
            " looked up), no tensor. Code that computes with gradients (clips, sums, averages, stores, calls .numpy()) meets it,"
            " or a constraint on the embedding's weights does."
        ),
        details=("It is asked for {name}.",),
        fix="""\
gradients = [tf.convert_to_tensor(g) if isinstance(g, tf.IndexedSlices) else g for g in tape.gradient(loss, variables)]     # dense
gradients, _ = tf.clip_by_global_norm(gradients, 1.0)                    # takes both kinds as they are
rows, numbers = g.values, g.indices                                      # or compute with the rows alone
keras.layers.Embedding(VOCABULARY, UNITS)                                # no embeddings_constraint: normalise in the forward pass""",
        citations=("SeldonIO/alibi#828",),
        example="AttributeError: 'IndexedSlices' object has no attribute 'numpy'",
        yields_to=("E143",),
    ),
    KnownError(
        id="E701",
        family="operation-between-layers",
        phase=Phase.BUILDING,
        patterns=(
            r"Output tensors (?:to|of) a (?:Functional|Model|Sequential) must be the output of a (?:TensorFlow |Keras |)`?Layer",
            r"missing previous layer metadata",
            r"'(?:Tensor|EagerTensor|Variable|ResourceVariable)' object has no attribute '_(?:keras_history|keras_shape|uses_learning_phase)'",
            r"'NoneType' object has no attribute '_inbound_nodes'",
            r"inputs to (?:your |a )?layer should be (?:Keras )?tensors",
            r"Output tensors of a Functional model must be the output of a TensorFlow",
        ),
        cause=(
            "A functional model is made of layers, and what stands in the chain is not the output of one: a raw operation (tf.*, +, *, [:, 0],"
            " K.*) between the layers in a Keras that does not wrap it, a tensor or variable that does not come from keras.Input,"
            " or a layer of another Keras (keras beside tensorflow.keras)."
        ),
        fix="""\
x = keras.layers.Lambda(lambda t: t[:, 0, :])(x)                          # a raw operation as a layer (Keras 2); keras.ops.* in Keras 3
class Lookup(keras.layers.Layer):                                         # with variables of its own: a layer, not tf.get_variable in the chain
    def build(self, shape): self.table = self.add_weight(shape=(ROWS, UNITS), name="table")
    def call(self, ids): return tf.gather(self.table, ids)
model = keras.Model(inputs=base.input, outputs=x)                         # inputs: from keras.Input or a layer, not tf.constant or a placeholder
grep -rnE "import.*keras|from.*keras" *.py                               # one Keras only""",
        rivals=(
            Rival(
                cause="a raw operation between two layers",
                look_for="the tensor that the message names: an operation (Add, strided_slice, Reshape, BiasAdd) and no layer",
                decide="print(x, type(x))  # before the model: a KerasTensor comes from a layer",
                fix="x = keras.layers.Lambda(lambda t: tf.reshape(t, [-1, 10]))(x)      # or keras.ops.reshape in Keras 3",
                cues=(
                    r"Layer`? ?\(thus holding past layer metadata\).{0,20}?Found: ?(?:KerasTensor|Tensor)\(",
                    r"object has no attribute '_(?:keras_history|inbound_nodes)'",
                ),
            ),
            Rival(
                cause="a layer that was made and not called: the object itself stands where its output belongs",
                look_for="`Found: <... object at 0x...>`, the class of a layer",
                decide="print(type(x))  # a layer, not a tensor",
                fix="x = keras.layers.Dense(1)(x)      # the second pair of brackets calls it on what comes before",
                cues=(r"Found: ?<[\w.]{1,120} object at",),
            ),
            Rival(
                cause="an input that does not come from keras.Input",
                look_for="keras.Model(inputs=...) with a placeholder, a constant, a NumPy array or a tensor of a dataset",
                decide='grep -nE "keras.Model\\(|Input\\(" train.py',
                cues=(r"Input tensors (?:to|of) a (?:Functional|Model) must come from",),
            ),
            Rival(
                cause="layers of two Keras in one model",
                look_for="import keras beside from tensorflow import keras or tf_keras",
                decide='grep -rnE "import.*keras|from.*keras" *.py',
            ),
        ),
        citations=("tensorflow/models#5641",),
        example='ValueError: Output tensors to a Model must be the output of a TensorFlow `Layer` (thus holding past layer metadata). Found: Tensor("rating/BiasAdd:0", shape=(12288, 1), dtype=float32)',
    ),
    KnownError(
        id="E702",
        family="output-not-in-graph",
        phase=Phase.EXECUTING,
        patterns=(
            r"FetchOutputs node (?P<node>[\w./:-]{1,120}?): not found",
            r"specified in either feed_devices or fetch_devices was not found in the Graph",
            r"Tensor (?P<node>[\w./:-]{1,120}?), specified in either feed_outputs or fetch_outputs was not found",
        ),
        cause=(
            "What is to be fetched is not in the graph that the worker holds: the graph was changed or rewritten after the session or"
            " function was made. In Keras under a TPU strategy of TensorFlow 2.0 a slice or another raw operation between layers does it;"
            " in a session: operations added after it started, or two sessions (an old and a new one) on one worker."
        ),
        details=("The node is {node}.",),
        fix="""\
pip install -U tensorflow                                  # TensorFlow 2.1 or newer, the same version on the TPU
x = keras.layers.Lambda(lambda t: t[:, 0, :])(x)            # a slice in a layer, or in the loss
tf.compat.v1.reset_default_graph()                          # TensorFlow 1: the whole graph first, then one session
tf.tpu.experimental.initialize_tpu_system(resolver)         # after a crashed session; or restart the runtime""",
        citations=("tensorflow/tensorflow#24412",),
        example="tensorflow.python.framework.errors_impl.InvalidArgumentError: FetchOutputs node strided_slice/stack:0: not found",
    ),
    KnownError(
        id="E703",
        family="animated-images",
        phase=Phase.READING,
        patterns=(
            r"animated gifs can only be decoded by",
            r"Got (?P<frames>\d{1,6}) frames, but animated",
        ),
        cause="An animated GIF is among the images, and decode_jpeg or decode_png takes one frame only (whatever the file's name says).",
        details=("It has {frames} frames.",),
        fix="""\
image = tf.io.decode_image(data, channels=3, expand_animations=False)     # the first frame only, of any format
file *.jpg | grep GIF                                                      # which files are GIFs under another name""",
        evidence="recalled",
        example="InvalidArgumentError: Got 4 frames, but animated gifs can only be decoded by tf.io.decode_gif or tf.io.decode_image",
    ),
)
