# ruff: noqa: E501  (what is written in place of a name stays in one piece)
"""Names that only tensorflow.compat.v1 has, by the module that lost them in TensorFlow 2."""

from __future__ import annotations

MOVED_BY_MODULE: dict[str, dict[str, str]] = {
    "tf": {
        "tf.compat.v1": ""
        " AttrValue CXX11_ABI_FLAG CXX_VERSION ConditionalAccumulator"
        " ConditionalAccumulatorBase Dimension FIFOQueue FixedLengthRecordReader"
        " GRAPH_DEF_VERSION GRAPH_DEF_VERSION_MIN_CONSUMER GRAPH_DEF_VERSION_MIN_PRODUCER"
        " GraphOptions HistogramProto IdentityReader LMDBReader LogMessage"
        " MONOLITHIC_BUILD MetaGraphDef NameAttrList NoGradient NodeDef NotDifferentiable"
        " OpError PaddingFIFOQueue PriorityQueue QUANTIZED_DTYPES QueueBase"
        " RandomShuffleQueue ReaderBase SparseConditionalAccumulator SparseTensorValue"
        " SummaryMetadata TFRecordReader TensorInfo TextLineReader WholeFileReader"
        " add_check_numerics_ops add_to_collections all_variables arg_max arg_min"
        " assert_near assert_negative assert_none_equal assert_proper_iterable"
        " assert_rank_at_least assert_same_float_dtype assert_variables_initialized"
        " batch_gather batch_scatter_update batch_to_space_nd clip_by_average_norm"
        " container control_flow_v2_enabled convert_to_tensor_or_indexed_slices"
        " convert_to_tensor_or_sparse_tensor delete_session_tensor depth_to_space"
        " deserialize_many_sparse dimension_at_index dimension_value"
        " disable_control_flow_v2 disable_tensor_equality disable_v2_tensorshape"
        " enable_control_flow_v2 enable_tensor_equality enable_v2_tensorshape"
        " executing_eagerly_outside_functions extract_image_patches"
        " fake_quant_with_min_max_args_gradient fake_quant_with_min_max_vars_gradient"
        " fake_quant_with_min_max_vars_per_channel"
        " fake_quant_with_min_max_vars_per_channel_gradient floormod get_collection_ref"
        " get_session_handle get_session_tensor global_norm initialize_all_tables"
        " initialize_local_variables is_non_decreasing is_strictly_increasing lin_space"
        " load_file_system_library log_sigmoid matrix_solve_ls"
        " min_max_variable_partitioner no_regularizer quantize_v2 quantized_concat"
        " resource_variables_enabled reverse_v2 scatter_div scatter_max scatter_min"
        " scatter_mul scatter_nd_add scatter_nd_sub scatter_nd_update scatter_sub"
        " self_adjoint_eigvals serialize_many_sparse serialize_sparse setdiff1d"
        " space_to_depth sparse_matmul sparse_maximum sparse_merge sparse_minimum"
        " sparse_reduce_max sparse_reduce_max_sparse sparse_reduce_sum_sparse"
        " sparse_reset_shape sparse_segment_mean sparse_segment_sqrt_n sparse_segment_sum"
        " sparse_to_indicator tensor_scatter_add tensor_scatter_sub tensor_scatter_update"
        " to_complex128 to_complex64 unsorted_segment_min unsorted_segment_prod"
        " unsorted_segment_sqrt_n variable_op_scope where_v2",
    },
    "tf.data": {
        "tf.compat.v1.data": " get_output_classes get_output_shapes get_output_types",
    },
    "tf.debugging": {
        "tf.compat.v1.debugging": ""
        " is_finite is_inf is_nan is_non_decreasing is_strictly_increasing",
    },
    "tf.dtypes": {
        "tf.compat.v1.dtypes": " as_string",
    },
    "tf.errors": {
        "tf.compat.v1.errors": ""
        " error_code_from_exception_type exception_type_from_error_code"
        " raise_exception_on_not_ok_status",
    },
    "tf.feature_column": {
        "tf.compat.v1.feature_column": " input_layer linear_model shared_embedding_columns",
    },
    "tf.graph_util": {
        "tf.compat.v1.graph_util": " must_run_on_cpu tensor_shape_from_node_def_name",
    },
    "tf.image": {
        "tf.compat.v1.image": " extract_image_patches transpose_image",
    },
    "tf.initializers": {
        "tf.compat.v1.initializers": ""
        " global_variables local_variables tables_initializer uniform_unit_scaling"
        " variables",
    },
    "tf.io": {
        "tf.compat.v1.io": ""
        " PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue"
        " TFRecordCompressionType tf_record_iterator",
    },
    "tf.linalg": {
        "tf.compat.v1.linalg": " transpose",
    },
    "tf.lite": {
        "tf.compat.v1.lite": " OpHint TocoConverter toco_convert",
    },
    "tf.losses": {
        "tf.compat.v1.losses": " mean_pairwise_squared_error",
    },
    "tf.manip": {
        "tf": " batch_to_space_nd=batch_to_space gather_nd reshape reverse roll scatter_nd space_to_batch_nd=space_to_batch tile",
    },
    "tf.metrics": {
        "tf.compat.v1.metrics": ""
        " average_precision_at_k false_negatives false_negatives_at_thresholds"
        " false_positives false_positives_at_thresholds mean_cosine_distance"
        " mean_per_class_accuracy mean_relative_error mean_tensor percentage_below"
        " precision_at_k precision_at_thresholds precision_at_top_k recall_at_k"
        " recall_at_thresholds recall_at_top_k sensitivity_at_specificity"
        " sparse_average_precision_at_k sparse_precision_at_k specificity_at_sensitivity"
        " true_negatives true_negatives_at_thresholds true_positives"
        " true_positives_at_thresholds",
    },
    "tf.mixed_precision": {
        "tf.compat.v1.mixed_precision": ""
        " DynamicLossScale FixedLossScale LossScale MixedPrecisionLossScaleOptimizer"
        " disable_mixed_precision_graph_rewrite enable_mixed_precision_graph_rewrite",
    },
    "tf.nn": {
        "tf.compat.v1.nn": ""
        " avg_pool_v2 conv3d_backprop_filter conv3d_backprop_filter_v2"
        " depthwise_conv2d_native_backprop_filter depthwise_conv2d_native_backprop_input"
        " log_uniform_candidate_sampler max_pool_v2 quantized_avg_pool quantized_conv2d"
        " quantized_max_pool quantized_relu_x static_state_saving_rnn"
        " uniform_candidate_sampler",
    },
    "tf.ragged": {
        "tf.compat.v1.ragged": " RaggedTensorValue constant_value placeholder",
    },
    "tf.random": {
        "tf.compat.v1.random": " get_seed multinomial set_random_seed stateless_multinomial",
    },
    "tf.saved_model": {
        "tf.compat.v1.saved_model": ""
        " LEGACY_INIT_OP_KEY MAIN_OP_KEY classification_signature_def"
        " get_tensor_from_tensor_info is_valid_signature load_v2 main_op_with_restore"
        " maybe_saved_model_directory predict_signature_def regression_signature_def",
    },
    "tf.sets": {
        "tf.compat.v1.sets": " set_difference set_intersection set_size set_union",
    },
    "tf.sparse": {
        "tf.compat.v1.sparse": ""
        " SparseConditionalAccumulator matmul merge placeholder reduce_max_sparse"
        " reduce_sum_sparse",
    },
    "tf.spectral": {
        "tf.signal": ""
        " dct fft fft2d fft3d idct ifft ifft2d ifft3d irfft irfft2d irfft3d rfft rfft2d"
        " rfft3d",
    },
    "tf.summary": {
        "tf.compat.v1.summary": ""
        " Event SessionLog Summary SummaryDescription TaggedRunMetadata all_v2_summary_ops"
        " get_summary_description initialize",
    },
    "tf.tpu": {
        "tf.compat.v1.tpu": " PaddingSpec",
    },
    "tf.train": {
        "tf.compat.v1.train": ""
        " AdagradDAOptimizer CheckpointSaverListener ChiefSessionCreator FeedFnHook"
        " FinalOpsHook GlobalStepWaiterHook LooperThread NanLossDuringTrainingError"
        " Optimizer ProfilerHook ProximalAdagradOptimizer ProximalGradientDescentOptimizer"
        " SaverDef SecondOrStepTimer Server SessionCreator SessionRunContext"
        " SessionRunValues SingularMonitoredSession VocabInfo WorkerSessionCreator"
        " add_queue_runner assert_global_step basic_train_loop batch_join"
        " checkpoint_exists do_quantize_training_on_graphdef"
        " generate_checkpoint_state_proto get_checkpoint_mtimes input_producer"
        " limit_epochs linear_cosine_decay match_filenames_once maybe_batch"
        " maybe_batch_join maybe_shuffle_batch maybe_shuffle_batch_join natural_exp_decay"
        " noisy_linear_cosine_decay piecewise_constant_decay range_input_producer"
        " replica_device_setter sdca_fprint sdca_optimizer sdca_shrink_l1"
        " shuffle_batch_join summary_iterator",
    },
}

REPLACED = {
    "tf.distributions.Bernoulli": "tfp.distributions.Bernoulli      # pip install tensorflow-probability tf-keras",
    "tf.distributions.Beta": "tfp.distributions.Beta      # pip install tensorflow-probability tf-keras",
    "tf.distributions.Categorical": "tfp.distributions.Categorical      # pip install tensorflow-probability tf-keras",
    "tf.distributions.Dirichlet": "tfp.distributions.Dirichlet      # pip install tensorflow-probability tf-keras",
    "tf.distributions.DirichletMultinomial": "tfp.distributions.DirichletMultinomial      # pip install tensorflow-probability tf-keras",
    "tf.distributions.Distribution": "tfp.distributions.Distribution      # pip install tensorflow-probability tf-keras",
    "tf.distributions.Exponential": "tfp.distributions.Exponential      # pip install tensorflow-probability tf-keras",
    "tf.distributions.Gamma": "tfp.distributions.Gamma      # pip install tensorflow-probability tf-keras",
    "tf.distributions.Laplace": "tfp.distributions.Laplace      # pip install tensorflow-probability tf-keras",
    "tf.distributions.Multinomial": "tfp.distributions.Multinomial      # pip install tensorflow-probability tf-keras",
    "tf.distributions.Normal": "tfp.distributions.Normal      # pip install tensorflow-probability tf-keras",
    "tf.distributions.RegisterKL": "tfp.distributions.RegisterKL      # pip install tensorflow-probability tf-keras",
    "tf.distributions.ReparameterizationType": "tfp.distributions.ReparameterizationType      # pip install tensorflow-probability tf-keras",
    "tf.distributions.StudentT": "tfp.distributions.StudentT      # pip install tensorflow-probability tf-keras",
    "tf.distributions.Uniform": "tfp.distributions.Uniform      # pip install tensorflow-probability tf-keras",
}
