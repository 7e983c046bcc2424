# ruff: noqa: E501  (what is written in place of a name stays in one piece)
"""Names that moved or went with a release of Keras."""

from __future__ import annotations

MOVED_BY_MODULE: dict[str, dict[str, str]] = {
    "keras.layers.experimental.preprocessing": {
        "keras.layers": "RandomFlip RandomRotation RandomZoom RandomCrop RandomContrast"
        " RandomTranslation RandomHeight=RandomZoom RandomWidth=RandomZoom Rescaling Resizing"
        " Normalization CenterCrop StringLookup IntegerLookup TextVectorization CategoryEncoding"
        " Discretization Hashing PreprocessingLayer=Layer",
    },
    "keras.layers.experimental": {
        "keras.layers": "EinsumDense  SyncBatchNormalization=BatchNormalization MultiHeadAttention",
    },
    "keras.engine": {
        "keras": "Layer=layers.Layer InputSpec InputLayer=layers.InputLayer Model Network=Model"
        " Input",
    },
    "keras.layers": {
        "keras.layers": "CuDNNLSTM=LSTM CuDNNGRU=GRU ThresholdedReLU=ReLU Convolution2D=Conv2D"
        " Convolution1D=Conv1D Convolution3D=Conv3D merge=concatenate Merge=Concatenate"
        " AtrousConvolution2D=Conv2D Deconvolution2D=Conv2DTranspose"
        " LocallyConnected1D=Conv1D LocallyConnected2D=Conv2D"
        " RandomHeight=RandomZoom RandomWidth=RandomZoom SeparableConvolution2D=SeparableConv2D"
        " TimeDistributedDense=TimeDistributed BatchNormalizationV1=BatchNormalization"
        " BatchNormalizationV2=BatchNormalization",
    },
    "keras.utils": {
        "keras.utils": "np_utils=to_categorical",
    },
    "keras.preprocessing": {
        "keras.utils": "text_dataset_from_directory image_dataset_from_directory",
    },
    "keras.backend": {
        "keras.ops": "mean sum abs square sqrt exp log max min argmax argmin any all cast concatenate"
        " stack reshape transpose squeeze expand_dims dot clip round sign maximum minimum equal"
        " not_equal greater less zeros ones zeros_like ones_like arange one_hot softmax sigmoid tanh"
        " relu elu softplus var std prod cumsum cumprod tile repeat shape flatten=reshape ndim"
        " gather=take permute_dimensions=transpose int_shape=shape batch_dot=matmul switch=where"
        " l2_normalize=normalize categorical_crossentropy binary_crossentropy"
        " sparse_categorical_crossentropy conv2d=conv eye cos sin slice stop_gradient in_top_k"
        " logsumexp log_softmax map_fn=map foldl=fori_loop rnn=scan top_k resize_images=image.resize",
        "keras.random": "random_normal=normal random_uniform=uniform truncated_normal"
        " random_binomial=binomial dropout",
        "keras.config": "image_dim_ordering=image_data_format",
        "tf_keras.backend": "get_session set_session tensorflow_backend=get_session"
        " learning_phase set_learning_phase placeholder update update_add moving_average_update"
        " get_uid reset_uids ctc_decode ctc_batch_cost ctc_label_dense_to_sparse get_value set_value"
        " batch_get_value batch_set_value function gradients manual_variable_initialization",
    },
    "keras.objectives": {"keras.losses": "mean_squared_error categorical_crossentropy"},
    "keras.optimizers": {
        "keras.optimizers": "adam=Adam sgd=SGD rmsprop=RMSprop adagrad=Adagrad adadelta=Adadelta"
        " adamax=Adamax nadam=Nadam experimental=AdamW optimizer_v2=Optimizer",
        "keras.optimizers.schedules": "LearningRateSchedule",
    },
    "keras.mixed_precision.experimental": {
        "keras.mixed_precision": "set_policy=set_global_policy Policy LossScaleOptimizer"
        " global_policy",
    },
    "keras.mixed_precision": {"keras.mixed_precision": "set_policy=set_global_policy"},
    "keras.initializers": {
        "keras.initializers": "normal=RandomNormal uniform=RandomUniform "
        "VarianceScalingV2=VarianceScaling",
    },
    "keras.regularizers": {"keras.regularizers": "l1l2=L1L2 WeightRegularizer=L2"},
    "keras.models": {"keras.models": "Graph=Model Functional=Model"},
}
"""By the module that lost them: where its names are now, `old=new` where they were renamed."""

REPLACED = {
    "keras.utils.multi_gpu_model": "with strategy.scope(): model = make_model()      # a tf.distribute strategy in place of copies",
    "keras.preprocessing.image.ImageDataGenerator": "keras.utils.image_dataset_from_directory(folder, batch_size=N)",
    "keras.preprocessing.text.Tokenizer": "keras.layers.TextVectorization()      # in dataset.map, on the host",
    "keras.preprocessing.sequence": "keras.utils.pad_sequences(sequences, maxlen=N)",
    "keras.wrappers.scikit_learn": "from scikeras.wrappers import KerasClassifier      # pip install scikeras",
    "keras.wrappers": "from scikeras.wrappers import KerasClassifier      # pip install scikeras",
    "keras.optimizers.legacy": "keras.optimizers.Adam(...)      # Keras 3 has one kind; TF_USE_LEGACY_KERAS=1 brings the old one back",
    "keras.mixed_precision.experimental": 'keras.mixed_precision.set_global_policy("mixed_bfloat16")',
    "keras.layers.experimental.preprocessing": "from keras.layers import RandomFlip, Rescaling      # no longer experimental since 2.6",
    "keras.layers.experimental": "from keras.layers import RandomFlip, Rescaling      # no longer experimental since 2.6",
    "keras.layers.core": "from keras.layers import Dense, Dropout, Lambda",
    "keras.layers.convolutional": "from keras.layers import Conv2D, MaxPooling2D",
    "keras.layers.normalization": "from keras.layers import BatchNormalization, LayerNormalization",
    "keras.layers.normalization.batch_normalization": "from keras.layers import BatchNormalization",
    "keras.layers.normalization.BatchNormalization": "from keras.layers import BatchNormalization",
    "keras.layers.normalization.LayerNormalization": "from keras.layers import LayerNormalization",
    "keras.layers.merge": "from keras.layers import Concatenate, Add",
    "keras.layers.recurrent": "from keras.layers import LSTM, GRU, RNN",
    "keras.layers.embeddings": "from keras.layers import Embedding",
    "keras.layers.pooling": "from keras.layers import MaxPooling2D, GlobalAveragePooling2D",
    "keras.layers.wrappers": "from keras.layers import Bidirectional, TimeDistributed",
    "keras.layers.advanced_activations": "from keras.layers import LeakyReLU, PReLU",
    "keras.layers.noise": "from keras.layers import GaussianNoise",
    "keras.layers.local": "from keras.layers import Conv2D      # LocallyConnected is gone from Keras 3",
    "keras.layers.cudnn_recurrent": "from keras.layers import LSTM, GRU",
    "keras.engine": "from keras import Model; from keras.layers import Layer, InputSpec",
    "keras.src.engine": "from keras import Model; from keras.layers import Layer      # keras.src is private; .engine is of Keras 2",
    "keras.engine.topology": "from keras.layers import Layer, InputSpec",
    "keras.engine.base_layer": "from keras.layers import Layer",
    "keras.engine.training": "from keras import Model",
    "keras.engine.keras_tensor": "keras.KerasTensor; keras.utils.is_keras_tensor(x)",
    "keras.engine.data_adapter": "keras.utils.unpack_x_y_sample_weight(data)",
    "keras.legacy": "from keras import layers      # keras.legacy and its decorators are gone",
    "keras.legacy.interfaces": "# delete the decorator @interfaces....: keyword names are those of today",
    "keras.objectives": "from keras import losses",
    "keras.utils.np_utils": "from keras.utils import to_categorical",
    "keras.utils.vis_utils": "from keras.utils import plot_model",
    "keras.utils.generic_utils": "keras.utils.get_custom_objects(); keras.utils.Progbar",
    "keras.utils.generic_utils.get_custom_objects": "keras.utils.get_custom_objects()",
    "keras.utils.data_utils": "from keras.utils import get_file, Sequence",
    "keras.utils.training_utils": "with strategy.scope(): model = make_model()      # a tf.distribute strategy",
    "keras.utils.tf_utils": "import tensorflow as tf      # private to Keras 2; TF_USE_LEGACY_KERAS=1 with tf-keras has it",
    "keras.utils.layer_utils": "from keras.utils import get_source_inputs",
    "keras.utils.conv_utils": "keras.ops.conv      # the helpers of Keras 2 were private",
    "keras.utils.io_utils": "h5py.File(path)",
    "keras.preprocessing.text": "keras.layers.TextVectorization()      # Tokenizer: tf_keras.preprocessing.text, of Keras 2",
    "keras.preprocessing": "keras.utils.pad_sequences, keras.utils.image_dataset_from_directory",
    "keras.saving.hdf5_format": 'pip install "transformers>=4.25,<5"      # an older Transformers asks Keras 2.11 and later for it (or: pip install "tensorflow<2.11"); model files: keras.models.load_model(path)',
    "keras.saving.legacy": "keras.saving      # keras.saving.legacy is of Keras 2.12 to 2.15",
    "keras.applications.imagenet_utils._obtain_input_shape": "from keras.src.applications.imagenet_utils import obtain_input_shape      # private: pin Keras",
    "keras.applications.resnet50": "from keras.applications import ResNet50",
    "keras.api": "import keras      # keras.api is Keras 3's own folder: an old tensorflow beside a new keras, or the reverse",
    "keras.api._v2": "pip install -U keras      # tensorflow wants another Keras: 2.16 and later Keras 3, before it the Keras of its own minor version",
    "keras.backend.tensorflow_backend": "from keras import backend, ops",
    "keras.backend.tf": "import tensorflow as tf",
    "keras.backend.variable": "tf.Variable(value)",
    "keras.backend.constant": "keras.ops.convert_to_tensor(value)",
    "keras.backend.eval": "keras.ops.convert_to_numpy(x)",
    "keras.backend.is_tensor": "keras.ops.is_tensor(x)",
    "keras.backend.name_scope": "keras.name_scope(name)",
    "keras.backend.in_train_phase": "if training: ...      # the argument `training` of call",
    "keras.backend.count_params": "weight.shape.num_elements()",
    "keras.backend.random_normal_variable": "tf.Variable(tf.random.normal(shape))",
    "keras.backend.control_flow_ops": "tf.cond(...)",
    "keras.optimizers.experimental": "keras.optimizers.AdamW      # no longer experimental: Adam, SGD and others since 2.11, AdamW since 2.12",
    "keras.estimator": "model.fit(dataset)      # the bridge to Estimator went with Estimator",
    "keras.experimental": "keras.optimizers.schedules, keras.layers      # keras.experimental is gone",
    "keras.initializers.normal": "keras.initializers.RandomNormal()",
    "keras.callbacks.experimental.BackupAndRestore": "keras.callbacks.BackupAndRestore(folder)",
    "keras.callbacks.experimental": "keras.callbacks.BackupAndRestore(folder)",
    "keras.utils.experimental.DatasetCreator": "model.fit(dataset)",
    "keras.utils.experimental": "model.fit(dataset)      # DatasetCreator is gone",
    "keras.layers.SyncBatchNormalization": "keras.layers.BatchNormalization(synchronized=True)",
    "keras.__internal__": "import tensorflow as tf      # private to Keras 2: TF_USE_LEGACY_KERAS=1 with tf-keras has it",
    "keras.distribute": "tf.distribute.TPUStrategy      # private to Keras 2",
}
"""What is written in place of a name that has no successor of one name."""
