# ruff: noqa: E501  (texts of other programs stay as they are)
"""What graphs do not allow: values of one loop used in another, and resizes that XLA has not."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase

ERRORS = (
    KnownError(
        id="E906",
        family="unsupported-op",
        phase=Phase.COMPILING,
        patterns=(
            r"(?:align_corners|half_pixel_centers) ?= ?(?:True|False).{0,60}? (?:is |are )?not (?:yet )?implemented",
            r"If half_pixel_centers is True, align_corners must be False",
        ),
        cause="XLA has this kind of resize, or its gradient, for some settings only: bilinear and nearest resizing of TensorFlow 2 (tf.image.resize, UpSampling2D) sets half_pixel_centers=True, which the XLA of this release does not compile.",
        fix="""\
dataset = dataset.map(lambda x, y: (tf.image.resize(x, [H, W]), y))                    # images: in the input, on the host
x = tf.compat.v1.image.resize_bilinear(x, [H, W], align_corners=True)                  # within the model: the kind that XLA compiles
x = keras.layers.Conv2DTranspose(filters, 2, strides=2)(x)                             # or learned; doubling: tf.repeat(tf.repeat(x, 2, axis=1), 2, axis=2)
pip install -U tensorflow                                                               # later releases compile it""",
        citations=("tensorflow/tensorflow#57575", "tensorflow/tensorflow#46447"),
        example="ResizeBilinearGrad with align_corners=False or half_pixel_centers=True is not yet implemented",
    ),
    KnownError(
        id="E907",
        family="loop-value-outside",
        phase=Phase.TRACING,
        patterns=(r"has inputs from different frames",),
        cause="A tensor that was made within a loop (tf.while_loop, a dynamic RNN) is used outside it, or in another loop, without being one of the loop's results: mostly a summary, a loss or an assertion that was written inside the loop and collected outside.",
        fix="""\
# no tf.summary within the loop's body (or cell): return the value as a result of the loop, and summarise it after the loop
_, values = tf.while_loop(cond, body, [i, value])                       # what is used later is carried by the loop
summaries = [s for s in tf.compat.v1.get_collection("summaries") if "/while/" not in s.name]; merged = tf.compat.v1.summary.merge(summaries)
# a graph that was rewritten (fusion, pruning, a converter): switch that rewriting off; TPUEstimator: summaries in host_call""",
        citations=(
            "tensorflow/tensorflow#8660",
            "tensorflow/tensor2tensor#491",
            "DeepRec-AI/DeepRec#144",
        ),
        example="InvalidArgumentError: The node 'Merge/MergeSummary' has inputs from different frames. The input 'tower_2/rnn/while/pop_var_0' is in frame 'tower_2/rnn/while/tower_2/rnn/while/'.",
    ),
    KnownError(
        id="E908",
        family="array-sharding",
        phase=Phase.COMPILING,
        kind=Kind.BROAD,
        patterns=(r"unknown mesh: @(?P<mesh>\w{1,40})",),
        cause="The program that came to the compiler names a mesh (Shardy's sdy.mesh) that its module does not define: a part of a sharded program was cut out, or converted, and sent without its mesh. A fault of the layer between (the plugin, the export, a conversion of releases that differ), not of the sharding that was asked for.",
        details=("The mesh is {mesh}.",),
        fix="""\
xs.clear_sharding(x); x = x.cpu()                                       # PyTorch: unshard what is copied to the host
jax.config.update("jax_use_shardy_partitioner", False)                  # JAX: the older partitioner, where the release still has it
pip list | grep -iE "jax|torch|libtpu|pjrt"                             # frontend and plugin of one release; else report it""",
        citations=("tenstorrent/tt-xla#2590",),
        example="error: 'func.func' op arg 0 - unknown mesh: @mesh",
    ),
)
