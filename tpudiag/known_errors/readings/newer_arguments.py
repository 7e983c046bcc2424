# ruff: noqa: E501  (what is written in place of a name stays in one piece)
"""Arguments that came with a release, and are refused by older ones."""

from __future__ import annotations

NEWER_ARGUMENTS = {
    "alpha": "keras.layers.LeakyReLU(negative_slope=SLOPE)      # in place of alpha= in Keras 3",
    "antialias": "tf.image.resize(image, size, antialias=True)      # of TensorFlow 2; TensorFlow 1's resize_images has it not",
    "auto_scale_loss": 'pip install "keras>=3.4"',
    "crop_to_aspect_ratio": 'pip install "tensorflow>=2.8"',
    "delete_checkpoint": 'pip install "tensorflow>=2.11"      # BackupAndRestore(delete_checkpoint=False)',
    "element_spec": 'pip install "tensorflow>=2.3"      # tf.data.experimental.load(path, element_spec) before 2.10',
    "embeddings_data": "# delete embeddings_data=: TensorBoard of TensorFlow 1",
    "embeddings_layer_names": "# delete embeddings_layer_names=: TensorBoard of TensorFlow 1",
    "expand_nested": 'pip install "tensorflow>=2.7"      # summary(expand_nested=True)',
    "experimental_spmd_xla_partitioning": "tf.distribute.TPUStrategy(resolver, experimental_spmd_xla_partitioning=True)      # from 2.7 on",
    "from_logits": "x = keras.layers.Activation('sigmoid')(x)      # this metric or loss has no from_logits= in this release",
    "gradient_accumulation_steps": 'pip install "keras>=3.1"',
    "idf_weights": 'pip install "tensorflow>=2.6"',
    "ignore_class": 'pip install "tensorflow>=2.10"      # or a mask of your own in the loss',
    "layer_range": 'pip install "tensorflow>=2.8"',
    "logit_length": "tf.nn.ctc_loss(labels, logits, label_length, logit_length)      # TensorFlow 2; TensorFlow 1 has sequence_length, or tf.compat.v2.nn.ctc_loss",
    "loss_scale": 'keras.mixed_precision.Policy("mixed_bfloat16")      # delete loss_scale=: gone since 2.7; bfloat16 needs none',
    "multi_label": 'pip install "tensorflow>=2.2"      # AUC(multi_label=True)',
    "negative_slope": "keras.layers.LeakyReLU(alpha=SLOPE)      # negative_slope= is its name in Keras 3 alone",
    "num_labels": 'pip install "tensorflow>=2.7"      # AUC(num_labels=N)',
    "rerandomize_each_iteration": 'pip install "tensorflow>=2.12"',
    "save_freq": 'pip install "tensorflow>=2.11"      # BackupAndRestore(save_freq=N); ModelCheckpoint has it since 2.0',
    "show_trainable": 'pip install "tensorflow>=2.8"      # summary(show_trainable=True)',
    "skip_mismatch": 'pip install -U keras      # load_weights(by_name=True, skip_mismatch=True): Keras 2.1.5 and later, tensorflow.keras 2.0 and later',
    "sorted_input": 'pip install "tensorflow>=2.4"      # non_max_suppression_padded for a TPU',
    "stateful": 'pip install "tensorflow>=2.9"      # numpy_function(stateful=False)',
    "stop_on_empty_dataset": 'pip install "tensorflow>=2.7"',
    "tape": "pip install -U tensorflow-addons      # tape= of minimize is there from TensorFlow 2.4 on: an optimizer of that time (addons 0.12 or newer)",
    "tile_size": 'pip install "tensorflow>=2.4"      # non_max_suppression_padded for a TPU',
    "use_spmd_for_xla_partitioning": 'pip install "tensorflow>=2.7"',
}
"""What to write, or the release that brought it."""
NEWER_ONES_OF = {
    "alpha": r".*leakyrelu.*|__init__",
    "antialias": r"resize\w*",
    "element_spec": r"load",
    "logit_length": r"ctc_loss\w*",
    "loss_scale": r".*policy\w*|__init__",
    "save_freq": r".*backupandrestore.*|__init__",
    "stateful": r"numpy_function|py_function",
    "tape": r"minimize",
}
"""The functions that an argument is meant of, where other ones have it too."""
