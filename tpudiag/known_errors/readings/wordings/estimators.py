# ruff: noqa: E501  (sentences and what is pasted stay in one piece)
"""Wordings of Estimators and of TensorFlow 1's graphs and sessions."""

from __future__ import annotations

from .wording import Wording, Wordings

ESTIMATORS: Wordings = {
    "P65": (
        Wording(
            r"model_fn \(.{1,120}?\) has following not expected args: \[(?P<names>.{1,80}?)\]",
            "model_fn may take features, labels, mode, params and config, and nothing else: <<names>> is none of them. `self` is listed where model_fn is a method and TensorFlow is before 1.4, which counts it.",
            "def model_fn(features, labels, mode, params): return model.make_graph(features, labels, mode, params)      # a function around the method\nestimator = tf.estimator.Estimator(model_fn=model_fn, params={...})",
            "ValueError: model_fn (<bound method Seq2seq.make_graph of <Seq2seq>>) has following not expected args: ['self']",
        ),
        Wording(
            r"are reserved keys but existed in params",
            "TPUEstimator puts `batch_size` and `context` into params itself, and the params that it was given hold such a key already.",
            'params.pop("batch_size", None); params.pop("context", None)      # before TPUEstimator(params=params)\nestimator = TPUEstimator(..., train_batch_size=B, eval_batch_size=B, predict_batch_size=B, params=params)      # the sizes go here; input_fn reads params["batch_size"]',
            "ValueError: ['batch_size', 'context'] are reserved keys but existed in params {'batch_size': 8}",
        ),
        Wording(
            r"Must specify (?P<name>max_steps|steps) > 0, given: ?(?P<given>-?\d{1,9})",
            "`<<name>>` was computed as <<given>>: examples // batch x epochs of a data set that is empty or smaller than one batch (a wrong data folder or pattern, files that were not found), or num_epochs is 0.",
            "print(len(examples), train_batch_size, num_train_epochs)      # examples: 0 means the folder, the task's file names or the limit on examples\nsteps = max(1, len(examples) * num_train_epochs // train_batch_size)      # a batch no larger than the data",
            "ValueError: Must specify max_steps > 0, given: 0",
        ),
        Wording(
            r"KeyError: ?[\"']batch_size[\"']",
            "input_fn reads params['batch_size'], which only TPUEstimator fills in, from train_batch_size, eval_batch_size or predict_batch_size: one of these was not given, or a plain Estimator calls the input_fn.",
            'estimator = tf.compat.v1.estimator.tpu.TPUEstimator(model_fn, config=config, use_tpu=False, train_batch_size=B, eval_batch_size=B, predict_batch_size=B)\nbatch_size = params.get("batch_size", 32)      # in input_fn, for a plain Estimator',
            "KeyError: 'batch_size'",
        ),
        Wording(
            r"`?steps`? must be set on TPU",
            "evaluate on a TPU does not stop at the end of the data by itself: it wants the number of steps.",
            "estimator.evaluate(input_fn, steps=EVAL_EXAMPLES // eval_batch_size)      # with drop_remainder=True",
            "ValueError: Evaluate `steps` must be set on TPU. Cannot be `None`.",
        ),
        Wording(
            r"For TPU training, one of `?steps`? or `?max_steps",
            "Training on a TPU wants the number of steps; it does not stop at the end of the data by itself.",
            "estimator.train(input_fn, max_steps=EXAMPLES * EPOCHS // train_batch_size)      # the dataset with repeat()",
            "ValueError: For TPU training, one of `steps` or `max_steps` must be set. Cannot be both `None`.",
        ),
        Wording(
            r"`?input_fn`? must return a `?Dataset`? for the PER_HOST_V2",
            "The input pipeline is set to PER_HOST_V2, which takes a tf.data.Dataset, and input_fn returns tensors (features, labels).",
            "def input_fn(params): return dataset      # the dataset itself, no iterator.get_next()\nTPUConfig(per_host_input_for_training=InputPipelineConfig.PER_HOST_V1)      # or this, where tensors must be returned",
            "TypeError: `input_fn` must return a `Dataset` for the PER_HOST_V2 input pipeline configuration.",
        ),
        Wording(
            r"`?config`? must be provided with type `?tpu_config\.RunConfig",
            "TPUEstimator was given the RunConfig of plain Estimators.",
            "config = tf.compat.v1.estimator.tpu.RunConfig(cluster=resolver, model_dir=DIR, tpu_config=tf.compat.v1.estimator.tpu.TPUConfig(iterations_per_loop=100))",
            "ValueError: `config` must be provided with type `tpu_config.RunConfig`",
        ),
        Wording(
            r"does not include params argument",
            "The function has no argument named `params`, in which TPUEstimator passes the batch size.",
            "def input_fn(params): ...\ndef model_fn(features, labels, mode, params): ...",
            "ValueError: model_fn (<function f at 0x7f>) does not include params argument, required by TPUEstimator to pass batch size as params['batch_size']",
        ),
    ),
    "P66": (
        Wording(
            r"predictions must be dict of Tensors",
            "TPUEstimatorSpec wants predictions as a dict, and got a tensor.",
            'TPUEstimatorSpec(mode=mode, predictions={"predictions": predictions}, ...)',
            "TypeError: TPUEstimatorSpec.predictions must be dict of Tensors.",
        ),
        Wording(
            r"CrossShardOptimizer must be used",
            "On a TPU the optimizer must add up the gradients of all cores: it is not wrapped.",
            "if FLAGS.use_tpu: optimizer = tf.compat.v1.tpu.CrossShardOptimizer(optimizer)      # before minimize",
            "ValueError: CrossShardOptimizer must be used for model training on TPUs.",
        ),
        Wording(
            r"Batch length of predictions should be same",
            "predict splits every tensor of `predictions` by examples, and one of them has another first dimension (a scalar, a weight, one value for the batch).",
            'predictions = {"probabilities": probabilities, "ids": ids}      # each [batch, ...]; leave the others out\nfor batch in estimator.predict(input_fn, yield_single_examples=False): ...      # or whole batches',
            "ValueError: Batch length of predictions should be same. a has batch length 8",
        ),
        Wording(
            r"model_fn should return an? (?P<what>\w{0,3}EstimatorSpec)",
            "model_fn returns something else than <<what>>: nothing in one of its branches (train, eval, predict), or the plain EstimatorSpec under TPUEstimator.",
            "return tf.compat.v1.estimator.tpu.TPUEstimatorSpec(mode=mode, loss=loss, train_op=train_op)      # one return for each mode",
            "ValueError: model_fn should return an EstimatorSpec.",
        ),
        Wording(
            r"Missing (?P<what>train_op|loss|predictions)\.",
            "model_fn returns a spec without `<<what>>` in the mode that is run.",
            "if mode == ModeKeys.PREDICT: return TPUEstimatorSpec(mode, predictions=predictions)\nif mode == ModeKeys.EVAL: return TPUEstimatorSpec(mode, loss=loss, eval_metrics=(metric_fn, [labels, logits]))\nreturn TPUEstimatorSpec(mode, loss=loss, train_op=train_op)",
            "ValueError: Missing train_op.",
        ),
        Wording(
            r"Loss must be scalar",
            "The loss has one value for each example; one number is wanted.",
            "loss = tf.reduce_mean(per_example_loss)",
            "ValueError: Loss must be scalar, given: Tensor(shape=(8,))",
        ),
    ),
    "P06 E186": (
        Wording(
            r"num_replicas should be \((?P<should>\d{1,6})\), got \((?P<got>\d{1,6})\)",
            "The TPU that was reached has <<should>> cores, and num_shards says <<got>>: the setting is of another TPU, or of a slice only one host was reached (an address in place of the slice's name).",
            'TPUConfig(num_shards=<<should>>)      # or None: all cores; flags: --num_tpu_cores=<<should>>\nresolver = TPUClusterResolver(tpu="NAME_OF_THE_SLICE", zone=ZONE, project=PROJECT)      # a pod slice by its name, not grpc://ADDRESS',
            "ValueError: TPUConfig.num_shards is not set correctly. According to TPU system metadata for Tensorflow master (grpc://10.1.2.3:8470): num_replicas should be (8), got (256).",
        ),
        Wording(
            r"Estimators are not supported when eager execution is enabled",
            "Eager execution was switched on in a script of Estimators.",
            "# delete tf.enable_eager_execution() / tf.compat.v1.enable_eager_execution() from the script (and restart the notebook)",
            "RuntimeError: Estimators are not supported when eager execution is enabled.",
        ),
    ),
    "E264 E150": (
        Wording(
            r"Variable (?P<name>\S{1,200}?/ExponentialMovingAverage)/? does not exist, or was not created with tf\.get_variable",
            "The moving average of `<<name>>` is to be made under a strategy or in a scope with reuse: a batch norm's statistics of one replica (`replica_1`) have no average of their own, which TensorFlow 1's ExponentialMovingAverage does not know.",
            "--hparams=moving_average_decay=0      # EfficientDet, Model Garden: train on several devices without the average\naverage.apply([v for v in tf.compat.v1.trainable_variables()])      # average trained variables only, not moving_mean and moving_variance; outside a scope with reuse=True",
            "ValueError: Variable bn/moving_mean/replica_1/ExponentialMovingAverage/ does not exist, or was not created with tf.get_variable(). Did you mean to set reuse=tf.AUTO_REUSE in VarScope?",
        ),
        Wording(
            r"Variable (?P<name>\S{1,200}?) does not exist, or was not created with tf\.get_variable",
            "`<<name>>` is asked for with reuse=True before anything made it: the part that makes it was not built first, has another name or scope, or the optimizer (Adam's m and v) is made inside a scope with reuse.",
            "with tf.compat.v1.variable_scope(name, reuse=tf.compat.v1.AUTO_REUSE): ...      # made the first time, reused later\ntrain_op = optimizer.minimize(loss)      # outside the scope with reuse=True",
            "ValueError: Variable d_h0_conv/w/Adam/ does not exist, or was not created with tf.get_variable(). Did you mean reuse=None in VarScope?",
        ),
        Wording(
            r"Variable (?P<name>\S{1,200}?) already exists, disallowed",
            "`<<name>>` is made for the second time: the model is built twice in one graph, mostly a notebook's cell that was run again, or train and test built without reuse.",
            "tf.compat.v1.reset_default_graph()      # before the model is built again (a cell that is run twice)\nwith tf.compat.v1.variable_scope(name, reuse=tf.compat.v1.AUTO_REUSE): ...      # the second tower or model shares the weights",
            "ValueError: Variable conv1/weights already exists, disallowed. Did you mean to set reuse=True or reuse=tf.AUTO_REUSE in VarScope?",
        ),
        Wording(
            r"is not an element of this graph",
            "The model was built in another graph or thread than the one that uses it: a server's thread, a callback, a model loaded in another session, keras mixed with tf.keras.",
            "graph = tf.compat.v1.get_default_graph(); session = tf.compat.v1.keras.backend.get_session()      # where the model is loaded\nwith graph.as_default(), session.as_default(): model.predict(x)      # in the other thread; TensorFlow 2 needs none of it: model(x)",
            'ValueError: Tensor Tensor("dense/Softmax:0", shape=(?, 10), dtype=float32) is not an element of this graph.',
        ),
        Wording(
            r"You must feed a value for placeholder tensor '(?P<name>[\w/:.-]{1,80})'",
            "The placeholder `<<name>>` was given no value: it is not in feed_dict, belongs to another model of the graph, is Keras's learning phase or an input that a summary or metric reads, or was made twice in one graph, so that the exported signature names the second (`<<name>>_1`).",
            "session.run(fetches, feed_dict={<<name>>: value})      # every placeholder that the fetched tensors need\ntf.keras.backend.clear_session()      # where an older model of the same notebook is still in the graph\ntf.compat.v1.reset_default_graph()         # before an export: the serving inputs made once, in a graph of their own",
            "InvalidArgumentError: You must feed a value for placeholder tensor 'input_1' with dtype float",
        ),
        Wording(
            r"Attempting to use uninitialized value (?P<name>\S{1,120})",
            "`<<name>>` was made after the initialiser was built or run (an optimizer, a metric, a new layer), or in another session.",
            "session.run([tf.compat.v1.global_variables_initializer(), tf.compat.v1.local_variables_initializer()])      # after the whole graph is built, optimizer included; before restore",
            "FailedPreconditionError: Attempting to use uninitialized value beta1_power",
        ),
        Wording(
            r"Graph is finalized and cannot be modified",
            "An operation is added after the graph was closed (by an Estimator, a MonitoredSession or a Supervisor): a tensor is made in a loop, a hook or a callback.",
            "# make every operation (summaries, tf.constant, optimizer, saver) before the session; in a hook: in begin(), not in before_run()",
            "RuntimeError: Graph is finalized and cannot be modified.",
        ),
    ),
    "P67": (
        Wording(
            r"Can't load save_path when it is None",
            "tf.train.latest_checkpoint found no checkpoint in its folder and gave None, which was handed to restore.",
            'path = tf.train.latest_checkpoint("gs://BUCKET/model_dir"); assert path, tf.io.gfile.glob("gs://BUCKET/model_dir/*")      # a folder with the file `checkpoint` in it; or the prefix itself, model.ckpt-1000',
            "ValueError: Can't load save_path when it is None.",
        ),
        Wording(
            r"passed save_path is not a valid checkpoint: ?(?P<path>[\w./:=-]{1,160})",
            "At `<<path>>` there is no checkpoint: the prefix is wanted (model.ckpt-1000), without .index, .data or .meta, and all its files beside each other.",
            'tf.io.gfile.glob("<<path>>*")      # .index and .data-00000-of-00001 must be there; the prefix alone is passed',
            "ValueError: The passed save_path is not a valid checkpoint: /tmp/model.ckpt",
        ),
    ),
    "P72 E436 E39": (
        Wording(
            r"created without `?input_shape`?/`?input_dim`? set in its first layer or a subclassed model",
            "Keras 2.1 and older take under a strategy only models that know their input's shape: the Sequential model begins without input_shape, or the model is a subclass of keras.Model.",
            "model = keras.Sequential([keras.layers.Dense(8, input_shape=(FEATURES,)), ...])      # input_shape in the first layer\nmodel = keras.Model(inputs, outputs)                                                    # a functional model in place of a subclass\npip install -U tensorflow                                                              # 2.2 and later take both",
            "ValueError: We currently do not support distribution strategy with a `Sequential` model that is created without `input_shape`/`input_dim` set in its first layer or a subclassed model.",
        ),
        Wording(
            r"`?(?P<name>validation_split)`? (?:argument )?is (?:currently )?not supported",
            "validation_split cuts arrays, and under a strategy (or of a dataset) fit cannot.",
            "model.fit(x[:-N], y[:-N], validation_data=(x[-N:], y[-N:]))      # arrays cut by hand; dataset.take(N), dataset.skip(N)",
            "`validation_split` argument is not supported when using `tf.distribute`",
        ),
        Wording(
            r"`?(?P<name>fit_generator|evaluate_generator|predict_generator|train_on_batch|test_on_batch|predict_on_batch)`? is not supported",
            "`<<name>>` does not work under a strategy.",
            "model.fit(dataset)      # a tf.data.Dataset (or a keras Sequence on a TPU VM) in place of <<name>>; evaluate and predict likewise",
            "NotImplementedError: `fit_generator` is not supported for models compiled with tf.distribute.Strategy.",
        ),
        Wording(
            r"`?(?P<name>sample_weight|class_weight|sample_weight_mode|weighted_metrics)`? (?:argument )?is (?:currently )?not supported",
            "`<<name>>` is not taken under a strategy by this release.",
            "dataset = dataset.map(lambda x, y: (x, y, tf.gather(CLASS_WEIGHTS, y)))      # weights as the third part of each element, in place of <<name>>=\npip install -U tensorflow",
            "NotImplementedError: `sample_weight` is currently not supported when using TPUStrategy",
        ),
    ),
}
