# ruff: noqa: E501  (texts of other programs stay as they are)
"""What TensorFlow refuses while it builds the graph of a step: nesting, branches, types, schedules."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E803",
        family="nested-compilation",
        phase=Phase.TRACING,
        patterns=(
            r"XLA compiled computations cannot be nested",
            r"TPU computations? cannot be nested",
            r"(?:tpu\.rewrite|tpu\.replicate|TPU replicate) .{0,40}?cannot be nested",
        ),
        cause="A computation that is compiled already holds another compile: xla.compile, tpu.rewrite or tpu.replicate is called in the function that the strategy runs on each replica, or the second replica is traced within the first one's compile.",
        fix="""\
strategy.run(step, args=(batch,))                  # TPUStrategy compiles the whole step: no xla.compile, tpu.rewrite, jit_scope within
@tf.function(jit_compile=True)                     # GPU and CPU: on the function, in place of xla.compile(fn, inputs)
def step(batch): ...""",
        citations=("tensorflow/tensorflow#32187",),
        example="ValueError: XLA compiled computations cannot be nested, (operator name: replica_1/input_0)",
    ),
    KnownError(
        id="E804",
        family="type-not-on-tpu",
        phase=Phase.EXECUTING,
        patterns=(
            r"Unsupported (?:data ?)?type:? ?(?:DataType )?(?P<number>\d{1,2})(?!\d)",
            r"Unsupported (?:data ?)?type:? ?(?P<type>DT_(?:VARIANT|RESOURCE|STRING|HALF|UINT8|QINT8))",
        ),
        cause="A tensor of a type that cannot be sent there is fed or fetched; the number is TensorFlow's of the type: 7 string, 4 uint8, 19 float16, 20 a resource (a variable, a table), 21 a variant (a ragged tensor, a dataset, a TensorList).",
        details=("The type is {number}.", "The type is {type}."),
        fix="""\
python -c "import tensorflow as tf; print(tf.dtypes.as_dtype(<<number>>))"      # which type the number is
print(dataset.element_spec)               # none of it may be string, RaggedTensorSpec or a dataset: those stay on the host
x = ragged.to_tensor(shape=[None, MAX_LENGTH]); x = tf.cast(x, tf.float32)      # dense, float32 or int32, before the step""",
        evidence="recalled",
        example="InvalidArgumentError: Unsupported type: 21 [Op:Identity]",
    ),
    KnownError(
        id="E805",
        family="branches-differ",
        phase=Phase.TRACING,
        patterns=(
            r"Lengths of branch outputs of cond must match",
            r"branch outputs of cond must (?:match|have)",
            r"true_fn and false_fn (?:must|arguments).{0,60}?(?:same|structure|number)",
            r"Outputs of true_fn and false_fn must have the same",
        ),
        cause="The two branches of a tf.cond (or of an `if` on a tensor, which AutoGraph turns into one) return different numbers of tensors: one returns nothing or a variable more, creates a layer or a loss that the other does not, or TensorFlow's own gradient of a condition keeps other intermediate values in one branch (mixed precision, a layer with a condition under XLA).",
        fix="""\
y = tf.cond(condition, lambda: (a, b), lambda: (a, tf.zeros_like(b)))      # as many tensors, of the same types, in both
y = tf.where(condition, a, b)                                                # or both computed, and one chosen
if training: ...                                                             # a Python bool where it is one: no condition in the graph""",
        evidence="recalled",
        example="ValueError: Lengths of branch outputs of cond must match. Got 2 and 3",
    ),
    KnownError(
        id="E806",
        family="schedule-steps",
        phase=Phase.BUILDING,
        patterns=(
            r"First step cannot be zero",
            r"learning_rate_base must be larger or equal to warmup_learning_rate",
            r"total_steps must be larger or equal to warmup_steps",
            r"Warmup learning rate should be (?:smaller|less)",
        ),
        cause="The learning rate's schedule in the configuration does not hold together: steps must rise and begin behind 0, the warm-up must be shorter than the training and start below the rate that it leads to.",
        fix="""\
manual_step_learning_rate { initial_learning_rate: 0.004 schedule { step: 10000 learning_rate: 0.0004 } }      # steps from 1 on, rising
cosine_decay_learning_rate { learning_rate_base: 0.04 total_steps: 25000 warmup_learning_rate: 0.0133 warmup_steps: 2000 }      # total >= warm-up, base >= warm-up's rate""",
        evidence="recalled",
        example="ValueError: First step cannot be zero.",
    ),
    KnownError(
        id="E807",
        family="import-of-a-part",
        phase=Phase.INSTALLING,
        kind=Kind.BROAD,
        patterns=(r"Failed to import (?P<module>[\w.]{1,120}?) because of the following error",),
        cause="The package imports its parts when they are asked for, and one failed: the reason is the error behind `because of the following error`, mostly of another package that this part imports, not of the package itself.",
        details=("The part is {module}.",),
        fix="""\
python -c "import <<module>>"                     # the whole traceback: its last lines name the package that fails
pip check; pip install -U THE_PACKAGE_NAMED_THERE      # or remove it where it is optional (wandb, tensorflow beside torch): pip uninstall -y ...
export USE_TF=0 WANDB_DISABLED=true               # Transformers: without its TensorFlow side, without wandb""",
        rivals=(
            Rival(
                cause="a package beside it that is broken or of another release (wandb, protobuf, numpy, accelerate)",
                look_for="the file named in brackets behind the error; `cannot import name`",
                decide="python -c 'import THAT_PACKAGE'",
                cues=(
                    r"cannot import name '\w{1,60}' from '(?!transformers|diffusers|keras|tensorflow)",
                    r"numpy\.dtype size changed",
                    r"Descriptors cannot",
                ),
            ),
            Rival(
                cause="Keras 3, which this release of the package does not know",
                look_for="`Keras 3`, `tf-keras` behind the error",
                decide="python -c 'import keras; print(keras.__version__)'",
                fix="pip install <<keras2>>",
                cues=(r"Keras 3 (?:is|which)", r"tf-keras package"),
                families=("transformers-tensorflow",),
            ),
            Rival(
                cause="TensorFlow or PyTorch itself, which does not import",
                look_for="`tensorflow`, `torch`, a .so file behind the error",
                decide="python -c 'import tensorflow'; python -c 'import torch'",
                cues=(r"cannot open shared object", r"undefined symbol", r"DLL load failed"),
            ),
        ),
        citations=("huggingface/transformers#23352",),
        example="RuntimeError: Failed to import transformers.trainer because of the following error (look up to see its traceback): something new",
        yields_to=("P33", "P29", "E73", "E71", "E80", "E487"),
    ),
    KnownError(
        id="E808",
        family="cast-without-kernel",
        phase=Phase.EXECUTING,
        patterns=(
            r"Cast (?P<from>(?:u?int\d{1,2}|bool|half|float|double|bfloat16|complex\d{2,3})) to (?P<to>(?:u?int\d{1,2}|bool|half|float|double|bfloat16|complex\d{2,3})) is not supported",
        ),
        cause="This device, or the plugin that drives it, has no conversion between the two types: mostly masks or ids of int64 under a bfloat16 or float16 policy.",
        details=("It is from {from} to {to}.",),
        fix="""\
x = tf.cast(tf.cast(x, tf.float32), tf.bfloat16)      # by way of float32
dataset = dataset.map(lambda x, y: ({k: tf.cast(v, tf.int32) for k, v in x.items()}, y))      # int32 in place of int64: masks, ids
with tf.device("/CPU:0"): x = tf.cast(x, tf.bfloat16)      # on the host, where every conversion exists""",
        citations=("intel/intel-extension-for-tensorflow#14",),
        example="UnimplementedError: Cast int64 to bfloat16 is not supported",
    ),
    KnownError(
        id="E809",
        family="loop-of-an-old-graph",
        phase=Phase.COMPILING,
        patterns=(
            r"\d{1,7} nodes in a cycle",
            r"was passed \w{1,12} from .{1,160}? incompatible with expected INVALID",
        ),
        cause="The loops of this graph are TensorFlow 1's (Enter, Switch, Merge, NextIteration: tf.nn.dynamic_rnn, tf.while_loop without control flow 2), and the compiler's pass that turns them into functions fails on one: what is handed from step to step (a state that depends on more than itself) closes a cycle, or has no type there.",
        fix="""\
tf.compat.v1.enable_control_flow_v2()                 # first of all: loops as functions; or TensorFlow 2, where they always are
outputs = tf.keras.layers.RNN(cell)(x)                # in place of tf.nn.dynamic_rnn: its loop has a known number of steps
outputs = tf.keras.layers.RNN(cell, unroll=True)(x)   # short sequences: no loop at all""",
        citations=("tensorflow/tpu#576", "tensorflow/tensorflow#11275"),
        example="InvalidArgumentError: 2112 nodes in a cycle",
    ),
    KnownError(
        id="E810",
        family="unbuilt-layer",
        phase=Phase.BUILDING,
        level="warning",
        patterns=(
            r"looks like it has unbuilt state, but Keras is not able to trace",
            r"(?:does not have|has no) a `?build\(\)`? method implemented and it looks like it has unbuilt state",
        ),
        cause="Keras 3 cannot build a layer or subclassed model of your own by tracing its call(): call fails with symbolic tensors (NumPy, Python control flow, arguments that are missing), or its sub-layers are made where it cannot follow, and build() is missing.",
        fix="""\
def build(self, input_shape):                     # builds what is inside, in your own layer
    self.dense.build(input_shape); self.built = True
model(tf.zeros([1, *SHAPE]))                      # a model: called once with real tensors, before fit, summary, save or load_weights
export TF_USE_LEGACY_KERAS=1                      # code written for Keras 2 (pip install tf-keras)""",
        citations=("google-deepmind/open_spiel#1208",),
        example="UserWarning: Layer 'mlp' looks like it has unbuilt state, but Keras is not able to trace the layer `call()` in order to build it automatically.",
    ),
    KnownError(
        id="E811",
        family="not-registered",
        phase=Phase.BUILDING,
        patterns=(
            r"its library is imported and linked to the trainer binary",
            r"collection path \S{1,80} at position \d{1,3} is never registered",
            r"has not been registered with the (?:experiment|model|task) (?:factory|registry)",
        ),
        cause="Model Garden finds an experiment, backbone or model by the name under which its module registers it when it is imported, and that module was not imported: those under official/projects never are by `import tensorflow_models`.",
        fix="""\
from official.projects.yolo.configs import yolov7          # the module of the configuration, and that of its model (modeling/...), before the factory is asked
from official.common import registry_imports               # for what belongs to official/vision and official/nlp
pip install tf-models-official                              # of the release that has it; projects mostly only in the repository's source""",
        citations=("tensorflow/models#11021",),
        example="LookupError: Please make sure the yolov7 and its library is imported and linked to the trainer binary.",
    ),
    KnownError(
        id="E812",
        family="two-copies",
        phase=Phase.BUILDING,
        patterns=(
            r"not of type \w{1,60}_pb2\.\w{1,60}",
            r"(?:must be|expected) (?:an )?instance of .{0,80}?_pb2\.\w{1,60}.{0,20}?(?:got|not)",
        ),
        cause="The same package is imported from two places (the Object Detection API installed by setup.py, and its folder on PYTHONPATH or the working directory), so that a message of the one is none of the other's class, though both have the same name. Else protos were compiled for another release than the code.",
        fix="""\
python -c "import object_detection, object_detection.protos.model_pb2 as m; print(object_detection.__path__, m.__file__)"      # one folder?
pip uninstall -y object_detection; export PYTHONPATH=$PWD:$PWD/slim      # either the folder (from models/research) or the installed one, not both
protoc object_detection/protos/*.proto --python_out=.                     # the protos of this very source, anew""",
        citations=("EdjeElectronics#180",),
        example="ValueError: model_config not of type model_pb2.DetectionModel.",
    ),
)
