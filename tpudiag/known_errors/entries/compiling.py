# ruff: noqa: E501  (texts of other programs stay as they are)
"""Operations and programs that the TPU compiler refuses."""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Phase

ERRORS = (
    KnownError(
        id="E92",
        family="host-op-in-condition",
        phase=Phase.COMPILING,
        patterns=(
            r"XLA_(?:TPU|CPU)_JIT:? ?XlaHostCompute",
            r"No registered 'XlaHostCompute'",
            r"XlaHostCompute.{0,200}?(?:attributes didn't match|DT_VARIANT|DT_STRING)",
            r"outside_compilation\w{0,120}host_compute",
        ),
        cause="A part of the step runs on the host (outside compilation: a summary, tf.print, a string, a Python function, a dataset or TensorArray), and it stands inside a condition or loop of the step, or passes a value there that cannot cross (variant, string).",
        fix="""\
dataset = dataset.map(that_part, num_parallel_calls=tf.data.AUTOTUNE)   # before the TPU, on the host
# out of the step: return the value from it, and write or print it after the step
tf.config.set_soft_device_placement(True)      # last resort: the op runs on the host in every step; costs time
# no tf.summary, tf.print, strings or dataset objects inside tf.cond, if, while or for of the step""",
        citations=("keras-team/keras#15317",),
        example="Detected unsupported operations when trying to compile graph cond_1_true_17678_rewritten_oc[] on XLA_TPU_JIT: XlaHostCompute (No registered 'XlaHostCompute' OpKernel for XLA_TPU_JIT devices",
    ),
    KnownError(
        id="E93",
        family="placeholder-in-step",
        phase=Phase.COMPILING,
        patterns=(
            r"No registered 'Placeholder' OpKernel for XLA",
            r"Placeholder.{0,80}?No registered 'Placeholder'",
        ),
        cause="The step uses a symbolic tensor (a Placeholder) of another graph: a Keras Input or a layer's output caught in a loss, metric or Lambda, a learning phase, or a model that was built outside the step's graph.",
        fix="""\
# in losses, metrics and layers use only what they are given, no tensor of the model's construction
def loss(y_true, y_pred): ...            # not a closure over `model.input` or an Input
class MyLayer(keras.layers.Layer):       # instead of a Lambda that catches tensors
    def call(self, inputs, training=None): ...
with strategy.scope(): model = build_model()        # build it there, once""",
        evidence="recalled",
        example="Detected unsupported operations when trying to compile graph cluster on XLA_TPU_JIT: Placeholder (No registered 'Placeholder' OpKernel for XLA_TPU_JIT devices compatible with node {{node Placeholder}}",
    ),
    KnownError(
        id="P150",
        family="placeholder-in-step",
        phase=Phase.COMPILING,
        level="warning",
        patterns=(r"Operation of type Placeholder .{1,200}? is not supported on the TPU",),
        cause="A remark, as long as the job goes on: TPUEstimator says it of each placeholder in the graph, also of those that no step uses (the inputs of a module of TF Hub, of an imported graph). Only where `No registered 'Placeholder' OpKernel` follows is one of them part of the step: a tensor of another graph caught in the model function.",
        fix="""\
# it trains on: nothing to do
# it ends with `No registered 'Placeholder'`: every input of the step from features and labels, none from a placeholder or keras.Input
def model_fn(features, labels, mode, params): logits = network(features["input_ids"])      # hub.Module(...)(dict(input_ids=features["input_ids"], ...), as_dict=True)""",
        citations=("google-research/bert#804",),
        example="E0814 10:54:59.435073 140005554878336 tpu.py:376] Operation of type Placeholder (module_apply_tokens/segment_ids) is not supported on the TPU. Execution will fail if this op is used in the graph.",
    ),
    KnownError(
        id="E94",
        family="summary-in-step",
        phase=Phase.COMPILING,
        patterns=(
            r"No registered 'WriteSummary\w{0,12}'",
            r"XLA_\w{3}_JIT:? ?Write\w{0,12}Summary",
            r"MergeSummary' because '.{1,120}?' is in a while loop",
            r"Cannot use '.{1,120}?' as input to '.{0,40}?MergeSummary",
            r"arg_shape\.handle_type != DT_INVALID",
            r"(?:write|merge)_?summary.{0,160}?(?:not supported by XLA|unsupported op)",
            r"Summary(?:Writer)?.{0,80}?(?:not supported|unsupported) (?:on|by|for) (?:TPU|XLA)",
        ),
        cause="A summary is written inside the step, and the TPU cannot write summaries.",
        fix="""\
loss = train_step(batch)                          # return what is to be logged, and write it outside
with writer.as_default(step=int(step)):
    tf.summary.scalar("loss", loss)
# TPUEstimator: host_call in TPUEstimatorSpec, and no tf.summary in model_fn (or train_summary_steps=0)""",
        citations=(
            "tensorflow/tensorflow#39798",
            "tensorflow/tensorflow#37568",
            "google-research/simclr#53",
            "google-research/bert#484",
            "tensorflow/probability#905",
        ),
        example="InvalidArgumentError: Detected unsupported operations when trying to compile graph __inference_step_18[_XlaMustCompile=true] on XLA_CPU_JIT: WriteSummary (No registered 'WriteSummary' OpKernel for XLA_CPU_JIT devices compatible with node {{node write_summary}}",
    ),
    KnownError(
        id="E95",
        family="augmentation-in-step",
        phase=Phase.COMPILING,
        patterns=(
            r"(?P<op>ImageProjectiveTransformV\d|AdjustContrastv2|AdjustHue|AdjustSaturation|StatelessSampleDistortedBoundingBox|SampleDistortedBoundingBoxV2|DrawBoundingBoxesV2|DecodeJpeg|DecodePng|DecodeImage|RandomCrop|RGBToHSV) \(No registered",
            r"InvalidArgumentError.{0,400}?\{\{node [^}]{0,200}?(?P<op>random_(?:flip|rotation|zoom|crop|translation|contrast))[^}]{0,200}?\}\}",
        ),
        cause="Image augmentation or decoding (a Random* layer such as RandomRotation, tf.image) is part of the compiled step, and the TPU has no such operation.",
        details=("The operation is {op}.",),
        fix="""\
augment = keras.Sequential([keras.layers.RandomFlip(), keras.layers.RandomRotation(0.1)])
dataset = dataset.map(lambda x, y: (augment(x, training=True), y), num_parallel_calls=tf.data.AUTOTUNE)
# and take the Random* layers out of the model""",
        useless="a smaller batch does not help",
        citations=(
            "tensorflow/tensorflow#42454",
            "tensorflow/tpu#943",
        ),
        example="InvalidArgumentError: Detected unsupported operations when trying to compile graph cluster[] on XLA_TPU_JIT: ImageProjectiveTransformV2 (No registered 'ImageProjectiveTransformV2' OpKernel for XLA_TPU_JIT devices",
    ),
    KnownError(
        id="E96",
        family="python-in-step",
        phase=Phase.COMPILING,
        patterns=(
            r"No registered '(?P<op>PyFunc|EagerPyFunc|PyFuncStateless|PrintV2|StringFormat|AsString|StringJoin|HashTableV2|LookupTableFindV2)' OpKernel for XLA",
            r"unsupported operations .{1,500}? on XLA_\w{3}_JIT:? ?(?P<op>PyFunc|EagerPyFunc|PrintV2|StringFormat|AsString|StringJoin|LookupTableFindV2)\W",
        ),
        cause="The step calls Python (py_function, numpy_function), prints (tf.print) or handles strings or look-up tables: none of them runs on a TPU.",
        details=("The operation is {op}.",),
        fix="""\
dataset = dataset.map(that_part, num_parallel_calls=tf.data.AUTOTUNE)   # before the TPU, on the host
# out of the step: return the value from it, and write or print it after the step
tf.config.set_soft_device_placement(True)      # last resort: the op runs on the host in every step; costs time""",
        citations=("tensorflow/tensorflow#66074",),
        example="InvalidArgumentError: Detected unsupported operations when trying to compile graph step on XLA_TPU_JIT: EagerPyFunc (No registered 'EagerPyFunc' OpKernel for XLA_TPU_JIT devices compatible with node",
        near_miss="No registered 'PyFunc' OpKernel for 'CPU' devices compatible with node",
    ),
    KnownError(
        id="E17",
        family="unsupported-op",
        phase=Phase.COMPILING,
        patterns=(
            r"Detected unsupported operations when trying to compile graph .{1,500}? on XLA_(?P<device>TPU|CPU|GPU)_JIT ?: ?(?P<op>\w{1,80}).{0,400}?attributes didn't match\) Requested Attributes: .{0,80}?T\w{0,6}=(?P<type>DT_\w{1,12})",
            r"Detected unsupported operations when trying to compile graph .{1,500}? on XLA_(?P<device>TPU|CPU|GPU)_JIT ?: ?(?P<op>\w{1,80})",
            r"No registered '(?P<op>\w{1,80})' OpKernel for XLA_(?P<device>TPU|CPU|GPU)_JIT",
            r"Operation of type (?P<op>(?!Placeholder)\w{1,60}) \(.{1,160}?\) is not supported on the TPU",
            r"Uncompilable nodes?",
            r"the following node is not compilable",
            r" op.{0,20}?(?:is )?not supported (?:on|by) (?:TPU|XLA)",
            r"unsupported op(?:eration)?: .{0,120}?(?:XLA|TPU)",
            r"failed to legalize operation '(?P<op>[\w.]{1,60})'",
            r"'(?P<op>tf\.\w{1,60})' op is not compilable",
            r"'(?P<op>tf\.\w{1,60})' op .{0,20}?is not supported",
            r"Could not run '(?P<op>[\w:.]{2,60})' with arguments from the 'XLA' backend",
            r"No registered '(?P<op>\w{2,60})' OpKernel for '?XLA_TPU_JIT",
        ),
        cause="The compiled step holds an operation that the device cannot run (strings, tf.print, Python functions and the like).",
        details=(
            "On {device} it is {op}.",
            "It has a kernel there, but not for {type}: cast to int32, float32 or bfloat16.",
        ),
        fix="""\
dataset = dataset.map(the_part_with_that_op, num_parallel_calls=tf.data.AUTOTUNE)   # on the host
tf.config.set_soft_device_placement(True)   # or: leave it in the step and run it on the host; costs time
# a size that depends on data (Where, Unique, RaggedRange, NonMaxSuppression): a fixed maximum, padded
# only under jit_compile=True: model.compile(..., jit_compile=False)""",
        citations=(
            "tensorflow/tensorflow#101181",
            "tensorflow/tensorflow#126007",
            "tensorflow/tensorflow#66074",
            "leondgarse/keras_cv_attention_models#8",
            "tensorflow/tpu#176",
            "horovod/horovod#2590",
            "NVlabs/gnn-decoder#3",
            "tensorflow/tensorflow#52905",
        ),
        evidence="reproduced",
        example="""\
InvalidArgumentError: Detected unsupported operations when trying to compile graph __inference_f_6[_XlaMustCompile=true,config_proto=3047688505363388164,executor_type=11160318154034397263] on XLA_CPU_JIT: UnravelIndex (No registered 'UnravelIndex' OpKernel for XLA_CPU_JIT devices compatible with node {{node UnravelIndex}}){{node UnravelIndex}}
The op is created at:
File "train.py", line 56, in <module>""",
        near_miss="Detected operations when trying to compile the graph: none unsupported",
        yields_to=(
            "E941",
            "E539",
            "E92",
            "E93",
            "E94",
            "E95",
            "E96",
            "E86",
            "E13",
            "E433",
        ),
    ),
    KnownError(
        id="E274",
        family="jit-compile-refused",
        phase=Phase.BUILDING,
        patterns=(
            r"`?jit_compile`? is not (?:yet )?supported",
            r"`?jit_compile=True`? (?:is not|cannot be) (?:supported|used)",
            r"cannot enable `?run_eagerly`? and `?jit_compile",
        ),
        cause="jit_compile=True is not taken in this combination (a distribution strategy, steps_per_execution, an operation without XLA form). TPUStrategy compiles every step anyway.",
        fix="model.compile(..., jit_compile=False)        # under TPUStrategy nothing is lost: the step is compiled all the same",
        evidence="recalled",
        example="ValueError: `jit_compile` is not yet supported with `tf.distribute`.",
    ),
)
