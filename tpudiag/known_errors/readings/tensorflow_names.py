# ruff: noqa: E501  (what is written in place of a name stays in one piece)
"""Names of TensorFlow 1 and their places in TensorFlow 2; names that came with a release of 2."""

from __future__ import annotations

MOVED_BY_MODULE: dict[str, dict[str, str]] = {
    "tf": {
        "tf.math": "log log1p ceil lgamma digamma erf erfc rint rsqrt is_finite is_inf is_nan angle"
        " conj imag real polygamma zeta betainc igamma igammac lbeta floordiv logical_xor"
        " confusion_matrix count_nonzero cumprod segment_sum segment_mean segment_max segment_min"
        " segment_prod unsorted_segment_sum unsorted_segment_mean unsorted_segment_max"
        " mod=floormod floor_mod=floormod div=divide floor_div=floordiv div_no_nan=divide_no_nan"
        " reciprocal cumulative_logsumexp expm1 accumulate_n bincount invert_permutation"
        " squared_difference xdivy softplus",
        "tf.random": "truncated_normal random_normal=normal random_uniform=uniform"
        " random_shuffle=shuffle random_gamma=gamma random_poisson=poisson multinomial=categorical"
        " set_random_seed=set_seed log_uniform_candidate_sampler",
        "tf.linalg": "cholesky cholesky_solve qr svd trace cross expm matrix_band_part=band_part"
        " matrix_diag=diag matrix_diag_part=diag_part matrix_set_diag=set_diag diag=tensor_diag"
        " diag_part=tensor_diag_part matrix_inverse=inv matrix_determinant=det matrix_solve=solve"
        " matrix_transpose self_adjoint_eig=eigh matrix_triangular_solve=triangular_solve"
        "",
        "tf.io": "FixedLenFeature VarLenFeature FixedLenSequenceFeature SparseFeature parse_tensor"
        " parse_single_example parse_example parse_single_sequence_example decode_raw decode_csv"
        " decode_base64 encode_base64 read_file write_file matching_files serialize_tensor gfile"
        " decode_json_example decode_compressed decode_image",
        "tf.strings": "substr regex_replace reduce_join unicode_decode string_split=split"
        " string_join=join string_strip=strip string_to_number=to_number"
        " string_to_hash_bucket_fast=to_hash_bucket_fast string_to_hash_bucket=to_hash_bucket"
        " string_to_hash_bucket_strong=to_hash_bucket_strong",
        "tf.sparse": "sparse_tensor_to_dense=to_dense sparse_reshape=reshape sparse_concat=concat"
        " sparse_tensor_dense_matmul=sparse_dense_matmul sparse_slice=slice sparse_add=add"
        " sparse_retain=retain sparse_reorder=reorder sparse_softmax=softmax sparse_mask=mask"
        " sparse_transpose=transpose sparse_fill_empty_rows=fill_empty_rows"
        " sparse_reduce_sum=reduce_sum sparse_split=split",
        "tf.signal": "fft fft2d fft3d ifft ifft2d ifft3d rfft irfft",
        "tf.quantization": "quantize dequantize fake_quant_with_min_max_args"
        " fake_quant_with_min_max_vars",
        "tf.debugging": "assert_positive assert_type assert_rank_in check_numerics"
        " assert_non_negative assert_less_equal assert_greater_equal assert_non_positive"
        " assert_integer assert_scalar is_numeric_tensor verify_tensor_all_finite=assert_all_finite",
        "tf.lookup": "KeyValueTensorInitializer TextFileInitializer",
        "tf.compat.v1": "placeholder placeholder_with_default Session InteractiveSession ConfigProto"
        " GPUOptions OptimizerOptions RunOptions RunMetadata GraphKeys GraphDef get_variable"
        " variable_scope get_variable_scope get_default_graph reset_default_graph"
        " global_variables_initializer local_variables_initializer initialize_all_variables"
        " variables_initializer tables_initializer global_variables local_variables"
        " trainable_variables model_variables get_collection add_to_collection assign assign_add"
        " assign_sub disable_eager_execution enable_eager_execution disable_v2_behavior"
        " enable_v2_behavior layers flags app logging get_local_variable sparse_placeholder"
        " AUTO_REUSE variable_axis_size_partitioner fixed_size_partitioner get_default_session"
        " scatter_update scatter_add make_template user_ops moving_average_variables op_scope"
        " report_uninitialized_variables is_variable_initialized count_up_to"
        " colocate_with enable_resource_variables disable_resource_variables"
        " get_seed wrap_function VariableScope Event Summary SessionLog",
    },
    "tf.image": {
        "tf.image": "resize_images=resize resize_image_with_crop_or_pad=resize_with_crop_or_pad"
        " resize_image_with_pad=resize_with_pad sample_distorted_bounding_box_v2="
        "sample_distorted_bounding_box",
        "tf.compat.v1.image": "resize_bilinear resize_nearest_neighbor resize_bicubic resize_area",
    },
    "tf.nn": {
        "tf.nn": "softmax_cross_entropy_with_logits_v2=softmax_cross_entropy_with_logits"
        " depthwise_conv2d_native=depthwise_conv2d ctc_loss_v2=ctc_loss"
        " ctc_beam_search_decoder_v2=ctc_beam_search_decoder moments_v2=moments",
        "tf.compat.v1.nn": "xw_plus_b static_rnn dynamic_rnn bidirectional_dynamic_rnn rnn_cell"
        " raw_rnn fused_batch_norm conv2d_backprop_input conv2d_backprop_filter relu_layer"
        " static_bidirectional_rnn",
    },
    "tf.train": {
        "tf.keras.optimizers": "AdamOptimizer=Adam GradientDescentOptimizer=SGD"
        " MomentumOptimizer=SGD RMSPropOptimizer=RMSprop AdagradOptimizer=Adagrad"
        " AdadeltaOptimizer=Adadelta FtrlOptimizer=Ftrl",
        "tf.keras.optimizers.schedules": "exponential_decay=ExponentialDecay"
        " cosine_decay=CosineDecay polynomial_decay=PolynomialDecay"
        " piecewise_constant=PiecewiseConstantDecay inverse_time_decay=InverseTimeDecay"
        " cosine_decay_restarts=CosineDecayRestarts",
        "tf.compat.v1.train": "Saver get_or_create_global_step get_global_step global_step"
        " create_global_step init_from_checkpoint import_meta_graph export_meta_graph"
        " MonitoredTrainingSession MonitoredSession SessionRunHook StopAtStepHook"
        " CheckpointSaverHook LoggingTensorHook NanTensorHook SummarySaverHook StepCounterHook"
        " Supervisor Scaffold start_queue_runners string_input_producer shuffle_batch batch"
        " QueueRunner SessionManager SyncReplicasOptimizer warm_start SessionRunArgs"
        " update_checkpoint_state remove_checkpoint slice_input_producer",
        "tf.train": "NewCheckpointReader=load_checkpoint",
        "tf.io": "write_graph",
    },
    "tf.losses": {
        "tf.compat.v1.losses": "softmax_cross_entropy sparse_softmax_cross_entropy absolute_difference"
        " sigmoid_cross_entropy get_regularization_loss get_regularization_losses get_total_loss"
        " add_loss get_losses huber_loss hinge_loss log_loss cosine_distance compute_weighted_loss",
    },
    "tf.metrics": {
        "tf.keras.metrics": "accuracy=Accuracy mean=Mean precision=Precision recall=Recall auc=AUC"
        " mean_iou=MeanIoU root_mean_squared_error=RootMeanSquaredError",
    },
    "tf.summary": {
        "tf.summary": "FileWriter=create_file_writer SummaryWriter=create_file_writer",
        "tf.compat.v1.summary": "merge merge_all tensor_summary FileWriterCache",
    },
    "tf.distribute": {"tf.compat.v1.distribute": "get_loss_reduction"},
    "tf.data": {"tf.compat.v1.data": "make_one_shot_iterator make_initializable_iterator"},
    "tf.saved_model": {
        "tf.compat.v1.saved_model": "simple_save build_signature_def build_tensor_info tag_constants"
        " signature_constants loader utils builder signature_def_utils main_op Builder",
    },
    "tf.estimator": {
        "tf.compat.v1.estimator": "inputs tpu classifier_parse_example_spec regressor_parse_example_spec",
    },
    "tf.estimator.tpu": {
        "tf.compat.v1.tpu": "CrossShardOptimizer rewrite replicate shard batch_parallel"
        " initialize_system shutdown_system cross_replica_sum core bfloat16_scope"
        " outside_compilation",
    },
    "tf.tpu": {
        "tf.compat.v1.tpu": "CrossShardOptimizer rewrite replicate shard batch_parallel"
        " initialize_system shutdown_system cross_replica_sum core bfloat16_scope"
        " outside_compilation",
    },
    "tf.graph_util": {
        "tf.compat.v1.graph_util": "convert_variables_to_constants extract_sub_graph"
        " remove_training_nodes",
    },
}
"""By the module that lost them: where its names are now, `old=new` where they were renamed."""

REPLACED = {
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
