# ruff: noqa: E501  (texts of other programs stay as they are)
"""What mostly fails in fit and in Estimators, for tracebacks without their last line."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E867",
        family="somewhere-in-an-estimator",
        phase=Phase.BUILDING,
        kind=Kind.CONSEQUENCE,
        patterns=(),
        places=(
            r"(?:estimator|tpu_estimator|tpu_context|tpu_config|error_handling)[\w/]{0,40}\.py ",
            r"estimator/[\w/]{0,40}\.py ",
            r"estimator\.(?:train_and_evaluate|train|evaluate|predict)\(",
        ),
        cause="An Estimator ran your input_fn or model_fn, built the graph or restored its checkpoint when it failed.",
        fix="""\
print(input_fn({"batch_size": 8}).element_spec)      # shapes and types: no <unknown>, a fixed batch (drop_remainder=True)
tf.keras.backend.clear_session(); model_fn(features, labels, tf.estimator.ModeKeys.TRAIN, params)      # alone: which line of your own?
ls MODEL_DIR                                         # a checkpoint of another model there? a new folder
# TensorFlow 2.16 has no Estimator: a Keras model and fit under tf.distribute.TPUStrategy""",
        rivals=(
            Rival(
                cause="the dataset of input_fn has unknown shapes or another structure than model_fn takes",
                look_for="`_get_features_and_labels`, `shape=<unknown>`, `IteratorGetNext`",
                decide="print(input_fn().element_spec)",
                cues=(r"shape=<unknown>", r"IteratorGetNext", r"_get_features_and_labels"),
                families=("unknown-shape", "input-structure", "estimator-inputs"),
            ),
            Rival(
                cause="model_fn itself fails, or returns what this mode does not take",
                look_for="`_call_model_fn`, a frame of your own below it",
                decide="the innermost line of your own",
                cues=(r"_call_model_fn", r"_model_fn\("),
                families=("estimator-spec", "estimator-arguments"),
            ),
            Rival(
                cause="model_dir holds a checkpoint of another model or release",
                look_for="`restore`, `Saver`, `NotFoundError`",
                decide="a new model_dir: does it run?",
                cues=(r"in restore", r"init_from_checkpoint"),
                families=("checkpoint-mismatch",),
            ),
            Rival(
                cause="settings: steps, batch sizes that the replicas do not divide, a RunConfig of another kind",
                look_for="`tpu_context`, `_verify`, `RunConfig`",
                decide="print(run_config)",
                cues=(r"tpu_context\.py", r"_verify_", r"validate_"),
                families=(
                    "estimator-settings",
                    "estimator-batch-sizes",
                    "run-config-of-another-release",
                ),
            ),
        ),
        citations=("tensorflow/ranking#167", "wisdal/diagnose-and-explain#1"),
        example="/usr/lib/python3.6/site-packages/tensorflow_estimator/python/estimator/training.py in train_and_evaluate(estimator, train_spec, eval_spec)\n    471 \n--> 473   return executor.run()",
    ),
    KnownError(
        id="E869",
        family="somewhere-in-fit",
        phase=Phase.EXECUTING,
        kind=Kind.CONSEQUENCE,
        patterns=(),
        places=(
            r"(?:engine/training\w{0,4}|trainers/[\w/]{0,30}trainer)\.py ",
            r"\.(?:fit|evaluate|predict|fit_generator|train_on_batch)\($",
            r"\.(?:fit|evaluate|predict|fit_generator|train_on_batch)\([^\n]{0,200}\n",
        ),
        cause="fit, evaluate or predict failed; the text ends before it says at what.",
        fix="""\
keras.config.disable_traceback_filtering()             # or tf.debugging.disable_traceback_filtering(): the whole traceback; its last lines tell
print(dataset.element_spec, model.input_shape, model.output_shape)
model.train_on_batch(*next(iter(dataset)))             # on a CPU, without strategy: model, labels and data fail there too
tpudiag check train.py --for v5e-8                     # rehearses the script and its step without a TPU""",
        rivals=(
            Rival(
                cause="data that do not fit the model: shapes, types, labels, the last batch",
                look_for="InvalidArgumentError, ValueError in the first step",
                decide="print(dataset.element_spec, model.input_shape, model.output_shape)",
                cues=(r"InvalidArgumentError",),
                families=("shape-conflict", "layer-input", "input-structure"),
            ),
            Rival(
                cause="the TPU's worker is gone, or the step does not compile for it",
                look_for="UnavailableError, UnimplementedError, InternalError",
                decide="tpudiag check train.py --for v5e-8",
                cues=(r"UnavailableError", r"UnimplementedError", r"InternalError"),
                families=("worker-lost", "dynamic-dimension", "unsupported-op"),
            ),
            Rival(
                cause="a callback, or a metric name that the logs do not hold, at the end of the first epoch",
                look_for="a progress bar that ended before the error; KeyError",
                decide="callbacks=[]",
                cues=(r"KeyError {0,80}Traceback", r"ETA: 0s"),
                families=("metric-name",),
            ),
        ),
        citations=("google/automl#566", "keras-team/keras-io#1234"),
        example='  File "tensorflow/python/keras/engine/training.py", line 848, in fit\n    tmp_logs = train_function(iterator)\n2020-0',
    ),
)
