# ruff: noqa: E501  (texts of other programs stay as they are)
"""Estimator and TPUEstimator: what they ask of model_fn, input_fn and their arguments."""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Phase

ERRORS = (
    KnownError(
        id="P65",
        family="estimator-arguments",
        phase=Phase.BUILDING,
        patterns=(
            r"(?:model_fn|input_fn) \(.{1,120}?\) does not include params argument",
            r"model_fn \(.{1,120}?\) (?:must include|has following not expected)",
            r"required by TPUEstimator to pass batch size",
            r"(?:train|eval|predict)_batch_size in TPUEstimator constructor cannot be `?None",
            r"params\[[\"']batch_size[\"']\].{0,300}?KeyError",
            r"KeyError: ?[\"']batch_size[\"']",
            r"(?:Evaluate )?`?steps`? must be set on TPU",
            r"For TPU training, one of `?steps`? or `?max_steps",
            r"(?:Must specify|Can not provide both) (?:max_)?steps",
            r"are reserved keys but existed in params",
            r"`?config`? must be provided with type `?tpu_config\.RunConfig",
            r"num_cores_per_replica must be",
            r"TPUEstimator\.(?:predict|evaluate) is only supported under",
            r"`?input_fn`? must return a `?Dataset`? for the PER_HOST_V2",
            r"per_host_input_for_training",
            r"Train has been called wrong configuration",
            r"iterations_per_loop.{0,60}?(?:must be|should be|greater)",
            r"Global step should be created to use",
            r"Saver defined but no global step",
            r"mode is supported when you call `?[Ee]stimator\.",
            r"[Cc]oordinator mode is not specified in `?RunConfig",
            r"(?:train|eval)_distribute`? can be set",
            r"input_partition_dims\[?\d?\]? (?:mismatched|requires)",
            r"Both master and cluster are set",
            r"There should be a CheckpointSaverHook to use saving_listeners",
            r"ensure ClusterResolver is passed to tpu\.RunConfig",
        ),
        cause="TPUEstimator passes the batch size through params, and wants what it cannot find: an input_fn(params) that reads params['batch_size'], a plain model_fn(features, labels, mode, params) (not one under tf.function, whose arguments are hidden), a train, eval and predict batch size each divisible by the replicas, and a number of steps.",
        fix="""\
def input_fn(params):
    return make_dataset().repeat().batch(params["batch_size"], drop_remainder=True)
estimator = tf.estimator.tpu.TPUEstimator(model_fn=model_fn, config=run_config, use_tpu=True,
    train_batch_size=1024, eval_batch_size=1024, predict_batch_size=1024)       # all three, multiples of the replicas
estimator.evaluate(input_fn, steps=EVAL_EXAMPLES // 1024)
# TensorFlow 2: strategy = tf.distribute.TPUStrategy(resolver), a Keras model and fit; Estimator is gone since 2.16""",
        citations=("google-research/bert#108",),
        example="ValueError: predict_batch_size in TPUEstimator constructor cannot be `None` if .predict is running on TPU.",
    ),
    KnownError(
        id="P66",
        family="estimator-spec",
        phase=Phase.BUILDING,
        patterns=(
            r"Batch length of predictions should be same",
            r"export_outputs`? must be (?:a )?dict",
            r"Values in `?export_outputs`? must be",
            r"Multiple `?export_outputs`? were provided",
            r"model_fn should return an? (?:TPU)?EstimatorSpec",
            r"estimator_spec.{0,60}?must (?:have type|be)",
            r"Missing (?:train_op|loss|predictions)\.",
            r"Loss must be scalar, given",
            r"(?:train_op|loss|predictions) must be (?:Operation or )?Tensor",
            r"eval_metric(?:_op)?s must be a",
            r"eval_metrics\[\d\]",
            r"Values of eval_metric_ops must be",
            r"Please call update_state\(\.\.\.\) on the",
            r"CrossShardOptimizer must be used",
            r"use tf\.contrib\.summary instead of tf\.summary inside of host_calls",
            r"host_call.{0,60}?(?:must be|should|tuple|tensors)",
            r"model_fn does not take labels, but input_fn returns labels",
            r"All hooks must be `?SessionRunHook",
            r"TPUEstimatorSpec\.\w{1,20} .{0,40}?must",
            r"of tensors .{1,12}? does not match method args of the function",
            r"please pass via training_hooks",
            r"input_fn should return \(features, labels\) as a len 2 tuple",
        ),
        cause="What model_fn returns is not what the Estimator takes: predictions whose first dimensions differ, metrics that are no (function, tensors) pair, no CrossShardOptimizer, hooks or summaries in a form that a TPU does not run.",
        fix="""\
optimizer = tf.tpu.CrossShardOptimizer(optimizer)
spec = tf.estimator.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op,
    predictions={"probabilities": probabilities},                # every tensor with the batch as first dimension
    eval_metrics=(metric_fn, [labels, logits]),                   # a function of tensors with a batch dimension, not eval_metric_ops
    host_call=(host_fn, [tf.reshape(loss, [1])]))                 # summaries by tf.contrib.summary inside host_fn; tensors of rank 1 or more
# export: export_outputs={"serving_default": tf.estimator.export.PredictOutput(predictions)}""",
        citations=("tensorflow/tensorflow#15715", "aws/amazon-sagemaker-examples#273"),
        example="ValueError: Batch length of predictions should be same. Outputs has batch length 131072 and others 8.",
    ),
    KnownError(
        id="P67",
        family="estimator-no-model",
        phase=Phase.SAVING,
        patterns=(
            r"Could(?:n't| not) find trained model (?:in model_dir|at)",
            r"Can't load save_path when it is None",
            r"Couldn't find 'checkpoint' file or checkpoints in given directory",
            r"No (?:valid )?checkpoints? found in",
            r"passed save_path is not a valid checkpoint",
            r"There was no new checkpoint after the training",
            r"`?ckpt_to_initialize_from`? MUST be set",
            r"`?model_dir`? are set both in constructor",
            r"No checkpoint specified",
        ),
        cause="No checkpoint is found where the model is to be evaluated, exported or restored from: model_dir is another (a local path on another machine, a typing error), holds no file named checkpoint, or training wrote none yet.",
        fix="""\
gcloud storage ls "gs://BUCKET/model_dir/"                           # checkpoint, model.ckpt-1000.index, .data-..., .meta
print(tf.train.latest_checkpoint("gs://BUCKET/model_dir"))            # None: the folder is wrong, or its file `checkpoint` is missing
estimator.export_saved_model(path, serving_input_fn, checkpoint_path="gs://BUCKET/model_dir/model.ckpt-1000")""",
        citations=("awasthiabhijeet/PIE#12",),
        example="ValueError: Couldn't find trained model at PIE_ckpt.",
    ),
    KnownError(
        id="P69",
        family="keras-to-tpu-model",
        phase=Phase.BUILDING,
        patterns=(
            r"'(?:Sequential|Model|Functional|KerasTPUModel)' object has no attribute '(?P<name>target_tensors|_ckpt_saved_epoch|_compile_time_distribution_strategy|_get_distribution_strategy|_in_multi_worker_mode|_is_graph_network|_standardize_user_data|_make_train_function|_feed_\w{1,20}|_collected_trainable_weights|_distribution_strategy|run_eagerly)'",
            r"keras_to_tpu_model",
            r"TPUDistributionStrategy\b.{0,60}?(?:has no|not|deprecated)",
            r"'(?:Function|EagerExecutionFunction)' object has no attribute 'fetch_callbacks'",
            r"contrib/tpu/python/tpu/keras_support\.py.{0,600}?Error",
        ),
        cause="A model of one Keras is used by another: keras_to_tpu_model of TensorFlow 1 (gone since 1.14), or a model of keras with callbacks and optimizers of tensorflow.keras (or the reverse), whose inner attributes differ.",
        details=("The attribute is {name}.",),
        fix="""\
from tensorflow import keras                            # one Keras everywhere: layers, models, callbacks, optimizers
resolver = tf.distribute.cluster_resolver.TPUClusterResolver()
tf.config.experimental_connect_to_cluster(resolver); tf.tpu.experimental.initialize_tpu_system(resolver)
with tf.distribute.TPUStrategy(resolver).scope():
    model = build_model(); model.compile(...)            # in place of keras_to_tpu_model; then fit""",
        citations=(
            "tensorflow/tensorflow#29798",
            "tensorflow/tensorboard#3125",
            "tensorflow/tensorflow#33210",
        ),
        example="AttributeError: 'Sequential' object has no attribute 'target_tensors'",
        yields_to=("P01", "P07"),
    ),
    KnownError(
        id="P70",
        family="python-2-script",
        phase=Phase.INSTALLING,
        patterns=(
            r"Missing parentheses in call to '(?P<name>print|exec)'",
            r"has no attribute '(?P<name>has_key|iteritems|itervalues|iterkeys)'",
            r"name '(?P<name>xrange|raw_input|unicode|basestring|reduce|unichr|long)' is not defined",
            r"No module named '(?P<name>cPickle|urllib2|StringIO|ConfigParser|Queue|urlparse|commands|httplib)'",
            r"inconsistent use of tabs and spaces",
            r"'dict_(?:keys|values|items)' object (?:is not subscriptable|does not support indexing|has no attribute '(?P<name>sort|index)')",
            r"except \w{1,40}, \w{1,12}: ?\^",
        ),
        cause="The script is written for Python 2.",
        details=("The name is {name}.",),
        fix="""\
pip install modernize && python-modernize -w train.py
# by hand: print(...), d.items(), range, input, str, pickle, list(d.keys())""",
        evidence="recalled",
        example="SyntaxError: Missing parentheses in call to 'print'. Did you mean print(...)?",
    ),
    KnownError(
        id="P71",
        family="old-tensorflow",
        phase=Phase.TRACING,
        patterns=(
            r"unexpected keyword argument \W?drop_remainder",
            r"To be compatible with tf\.(?:contrib\.)?eager\.defun",
            r"Python functions must return zero or more Tensors; in compilation of",
            r"Python functions must return zero or more Tensors or ExtensionTypes",
            r"(?:enable_eager_execution|enable_v2_behavior|disable_eager_execution).{0,60}?must be called at program startup",
            r"tf\.gradients is not supported when eager execution is enabled",
            r"`?loss`? passed to Optimizer\.(?:compute_gradients|minimize) should be a function when eager",
            r"tf\.placeholder\(\) is not compatible with eager execution",
            r"(?:Queue|QueueRunner|Coordinator|input pipeline).{0,60}?not (?:compatible|supported) .{0,20}?(?:with|when) eager",
            r"(?:get_variable|variable_scope|collections?).{0,80}?not supported when eager execution is enabled",
            r"`?tf\.(?:function|Module|distribute)[\w.]{0,60}`? .{0,30}?requires? TensorFlow 2",
            r"minimize\(\) (?:missing|got).{0,40}?(?:tape|var_list)",
            r"`?tape`? is required when a `?Tensor`? loss is passed",
            r"GradientTape\.gradient .{0,60}?(?:persistent|non-persistent)",
            r"A non-persistent GradientTape can only be used to compute one set of gradients",
            r"Use save/restore instead of build in eager mode",
        ),
        cause="The code is for the other age of TensorFlow: graph and session of TensorFlow 1 where eager execution is on, functions that return operations, a tape that is missing or used twice; or this TensorFlow is older than the call.",
        fix="""\
python -c "import tensorflow as tf; print(tf.__version__)"
with tf.GradientTape() as tape:                              # TensorFlow 2: loss inside, gradients after; persistent=True for two of them
    loss = loss_fn(y, model(x, training=True))
optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
import tensorflow.compat.v1 as tf; tf.disable_v2_behavior()  # or a script of TensorFlow 1 as it is: at its top, before anything else
# a metric's update_state returns nothing; drop_remainder of batch came in 1.10""",
        citations=("tensorflow/tensorflow#30711", "google-research/bert#435"),
        example="ValueError: `tape` is required when a `Tensor` loss is passed. Received: loss=Tensor, tape=None.",
        yields_to=("P02", "E405", "E406"),
    ),
)
