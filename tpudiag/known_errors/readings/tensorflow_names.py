# ruff: noqa: E501  (what is written in place of a name stays in one piece)
"""Names of TensorFlow 1 and their places in TensorFlow 2; names that came with a release of 2."""

from __future__ import annotations

MOVED_BY_MODULE: dict[str, dict[str, str]] = {
    "tf": {
        "tf.math": "floor_mod=floormod div=divide cumulative_logsumexp xdivy softplus",
        "tf.random": "set_random_seed=set_seed log_uniform_candidate_sampler",
        "tf.linalg": "expm",
        "tf.io": "gfile decode_image",
        "tf.strings": "unicode_decode string_split=split",
        "tf.signal": "rfft irfft",
        "tf.debugging": "assert_positive assert_type assert_rank_in assert_non_negative assert_less_equal"
        " assert_greater_equal assert_non_positive assert_integer assert_scalar",
        "tf.lookup": "KeyValueTensorInitializer TextFileInitializer",
        "tf.compat.v1": "layers flags app logging user_ops",
    },
    "tf.image": {
        "tf.image": "resize_image_with_pad=resize_with_pad"
        " sample_distorted_bounding_box_v2=sample_distorted_bounding_box",
    },
    "tf.nn": {
        "tf.nn": "depthwise_conv2d_native=depthwise_conv2d ctc_loss_v2=ctc_loss moments_v2=moments",
        "tf.compat.v1.nn": "rnn_cell conv2d_backprop_input",
    },
    "tf.train": {
        "tf.keras.optimizers": "AdamOptimizer=Adam GradientDescentOptimizer=SGD MomentumOptimizer=SGD"
        " RMSPropOptimizer=RMSprop AdagradOptimizer=Adagrad AdadeltaOptimizer=Adadelta"
        " FtrlOptimizer=Ftrl",
        "tf.keras.optimizers.schedules": "exponential_decay=ExponentialDecay cosine_decay=CosineDecay"
        " polynomial_decay=PolynomialDecay piecewise_constant=PiecewiseConstantDecay"
        " inverse_time_decay=InverseTimeDecay cosine_decay_restarts=CosineDecayRestarts",
        "tf.train": "NewCheckpointReader=load_checkpoint",
    },
    "tf.metrics": {
        "tf.keras.metrics": "accuracy=Accuracy mean=Mean precision=Precision recall=Recall auc=AUC"
        " mean_iou=MeanIoU root_mean_squared_error=RootMeanSquaredError",
    },
    "tf.summary": {
        "tf.summary": "FileWriter=create_file_writer SummaryWriter=create_file_writer",
    },
    "tf.saved_model": {
        "tf.compat.v1.saved_model": "tag_constants signature_constants loader utils builder signature_def_utils"
        " main_op",
    },
    "tf.estimator": {
        "tf.compat.v1.estimator": "inputs tpu classifier_parse_example_spec regressor_parse_example_spec",
    },
    "tf.estimator.tpu": {
        "tf.compat.v1.tpu": "CrossShardOptimizer rewrite replicate shard batch_parallel initialize_system"
        " shutdown_system cross_replica_sum core bfloat16_scope outside_compilation",
    },
}
"""By the module that lost them: where its names are now (`old=new` where they were renamed), where
that is another place than TensorFlow's own table (renames.txt) tells, or it tells none."""

REPLACED = {
    "tf.distributions": "import tensorflow_probability as tfp; tfp.distributions      # pip install tensorflow-probability tf-keras",
    "tf.to_float": "tf.cast(x, tf.float32)",
    "tf.to_double": "tf.cast(x, tf.float64)",
    "tf.to_int32": "tf.cast(x, tf.int32)",
    "tf.to_int64": "tf.cast(x, tf.int64)",
    "tf.to_bfloat16": "tf.cast(x, tf.bfloat16)",
    "tf.py_func": "tf.numpy_function(fn, inputs, Tout)      # in the dataset on the host, never in the step",
    "tf.Print": "tf.print(...)      # not in the step of a TPU",
    "tf.random_crop": "tf.image.random_crop(image, size)",
    "tf.python_io": "tf.io.TFRecordWriter(path); tf.data.TFRecordDataset(path)",
    "tf.sparse_to_dense": "tf.sparse.to_dense(tf.sparse.SparseTensor(indices, values, shape))",
    "tf.create_partitioned_variables": "tf.Variable(...)",
    "tf.mul": "tf.multiply(a, b)",
    "tf.sub": "tf.subtract(a, b)",
    "tf.neg": "tf.negative(a)",
    "tf.pack": "tf.stack(tensors)",
    "tf.unpack": "tf.unstack(tensor)",
    "tf.batch_matmul": "tf.matmul(a, b)",
    "tf.initialize_variables": "tf.compat.v1.variables_initializer(variables)",
    "tf.merge_all_summaries": "tf.summary.scalar(name, value, step=step)",
    "tf.scalar_summary": "tf.summary.scalar(name, value, step=step)",
    "tf.VERSION": "tf.__version__",
    "tf.GIT_VERSION": "tf.version.GIT_VERSION",
    "tf.COMPILER_VERSION": "tf.version.COMPILER_VERSION",
    "tf.truncated_normal_initializer": "tf.keras.initializers.TruncatedNormal()",
    "tf.glorot_uniform_initializer": "tf.keras.initializers.GlorotUniform()",
    "tf.glorot_normal_initializer": "tf.keras.initializers.GlorotNormal()",
    "tf.variance_scaling_initializer": "tf.keras.initializers.VarianceScaling()",
    "tf.orthogonal_initializer": "tf.keras.initializers.Orthogonal()",
    "tf.uniform_unit_scaling_initializer": "tf.keras.initializers.VarianceScaling(distribution='uniform')",
    "tf.contrib": "import tf_slim; contrib_layers = tf_slim.layers      # pip install tf-slim: of contrib.layers and slim; tf.distribute.TPUStrategy of contrib.tpu and distribute\n"
    'uv venv --python 3.7 && uv pip install "tensorflow==1.15.*" "protobuf<3.21"      # as it is: Python 3.6 or 3.7, a v2 or v3 TPU Node; somebody else\'s package: its release for TensorFlow 2 (tf-models-official for BERT)',
    "tf.estimator": "tf.keras.Model.fit, or TensorFlow 2.15 with tensorflow-estimator 2.15",
    "tf.nn.seq2seq": "tfa.seq2seq of tensorflow-addons, or keras.layers.LSTM with keras.layers.Attention",
    "tf.nn.rnn": "tf.keras.layers.RNN(cell)",
    "tf.train.exponential_decay": "tf.keras.optimizers.schedules.ExponentialDecay(rate, decay_steps, decay_rate)",
    "tf.contrib.tpu.TPUDistributionStrategy": "tf.distribute.TPUStrategy(resolver)",
    "tf.keras.experimental.export_saved_model": "model.export(path)",
    "tf.tpu.experimental.AdamParameters": "tf.tpu.experimental.embedding.Adam(...)",
}
"""What is written in place of a name that has no successor of one name."""

SINCE = {
    "tf.data.AUTOTUNE": "2.4",
    "tf.distribute.TPUStrategy": "2.3",
    "tf.keras.mixed_precision.set_global_policy": "2.4",
    "tf.keras.mixed_precision.LossScaleOptimizer": "2.4",
    "tf.keras.mixed_precision.Policy": "2.4",
    "tf.keras.mixed_precision": "2.1",
    "tf.keras.layers.MultiHeadAttention": "2.4",
    "tf.keras.layers.RandomFlip": "2.6",
    "tf.keras.layers.RandomRotation": "2.6",
    "tf.keras.layers.RandomZoom": "2.6",
    "tf.keras.layers.RandomCrop": "2.6",
    "tf.keras.layers.RandomContrast": "2.6",
    "tf.keras.layers.RandomTranslation": "2.6",
    "tf.keras.layers.RandomBrightness": "2.9",
    "tf.keras.layers.Rescaling": "2.6",
    "tf.keras.layers.Resizing": "2.6",
    "tf.keras.layers.Normalization": "2.6",
    "tf.keras.layers.CenterCrop": "2.6",
    "tf.keras.layers.StringLookup": "2.6",
    "tf.keras.layers.IntegerLookup": "2.6",
    "tf.keras.layers.TextVectorization": "2.6",
    "tf.keras.layers.CategoryEncoding": "2.6",
    "tf.keras.layers.GroupNormalization": "2.11",
    "tf.keras.layers.EinsumDense": "2.6",
    "tf.keras.optimizers.AdamW": "2.12",
    "tf.keras.optimizers.Lion": "2.12",
    "tf.keras.optimizers.legacy": "2.9",
    "tf.keras.optimizers.schedules.CosineDecay": "2.4",
    "tf.keras.utils.set_random_seed": "2.7",
    "tf.keras.utils.split_dataset": "2.10",
    "tf.keras.utils.image_dataset_from_directory": "2.4",
    "tf.keras.preprocessing.image_dataset_from_directory": "2.3",
    "tf.keras.utils.load_img": "2.6",
    "tf.keras.utils.register_keras_serializable": "2.1",
    "tf.keras.callbacks.BackupAndRestore": "2.8",
    "tf.keras.metrics.F1Score": "2.13",
    "tf.keras.metrics.BinaryIoU": "2.7",
    "tf.keras.losses.BinaryFocalCrossentropy": "2.9",
    "tf.keras.activations.gelu": "2.4",
    "tf.keras.ops": "2.16",
    "tf.nn.gelu": "2.4",
    "tf.nn.silu": "2.4",
    "tf.experimental.numpy": "2.4",
    "tf.experimental.dtensor": "2.9",
    "tf.config.list_physical_devices": "2.1",
    "tf.config.list_logical_devices": "2.1",
    "tf.config.set_visible_devices": "2.1",
    "tf.config.set_logical_device_configuration": "2.4",
    "tf.config.get_visible_devices": "2.1",
    "tf.profiler.experimental.Trace": "2.2",
    "tf.profiler.experimental": "2.2",
    "tf.tpu.experimental.embedding.TPUEmbedding": "2.4",
    "tf.tpu.experimental.embedding": "2.4",
    "tf.tpu.experimental.initialize_tpu_system": "1.15",
    "tf.config.experimental_connect_to_cluster": "2.0",
    "tf.distribute.experimental.PreemptionCheckpointHandler": "2.11",
    "tf.distribute.ParameterServerStrategy": "2.12",
    "tf.distribute.MultiWorkerMirroredStrategy": "2.4",
    "tf.data.experimental.DistributeOptions": "2.0",
    "tf.types": "2.4",
    "tf.types.experimental": "2.4",
    "tf.__internal__": "2.5",
    "tf.random.Generator": "2.2",
    "tf.image.stateless_random_crop": "2.4",
    "tf.image.stateless_random_flip_left_right": "2.4",
    "tf.saved_model.LoadOptions": "2.3",
    "tf.train.CheckpointOptions": "2.3",
}
"""The release of TensorFlow from which on a name is there."""
