# ruff: noqa: E501  (texts of other programs stay as they are)
"""Saving and loading: what a SavedModel takes, its tags, checkpoints of older optimizers."""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Phase

ERRORS = (
    KnownError(
        id="P76",
        family="export-object",
        phase=Phase.SAVING,
        patterns=(
            r"Expected a Trackable object for export",
            r"Expected an object of type `?Trackable`?, such as",
            r"Got non-flat outputs '",
            r"Trackable referencing this tensor",
            r"Unable to save function .{1,120}? (?:because it captures graph tensor|for the following reason)",
            r"Attempted to save ops from non-whitelisted namespaces",
            r"dependency cycle in the saved Trackable",
            r"Found an untracked dependency",
            r"Error when tracing gradients for SavedModel",
            r"Cannot save custom gradient .{1,80}? called in",
            r"Can't save object because it has multiple children",
            r"Unable to serialize concrete_function",
            r"Got a dictionary with a non-string key .{0,120}?SavedModel",
            r"Unable to save because the namedtuple",
        ),
        cause="What is exported is not of the form that a SavedModel takes: a plain Python object or a bare tf.function instead of a tf.Module or a model, or a signature that returns nested tensors (a tuple of dicts, a list of lists).",
        fix="""\
class Serving(tf.Module):                                            # tf.Module or keras.Model, not a plain class
    def __init__(self, model, table):
        super().__init__(); self.model, self.table = model, table    # everything that the function uses is an attribute
    @tf.function(input_signature=[tf.TensorSpec([None, 128], tf.int32, name="ids")])
    def __call__(self, ids):
        return {"scores": self.model(ids, training=False)}           # a tensor or a flat dict of tensors
module = Serving(model, table); tf.saved_model.save(module, path, signatures=module.__call__)
# trained under TPUStrategy: save the weights, rebuild the model outside strategy.scope(), load them, export that one""",
        citations=("tensorflow/tensorflow#40501", "tensorforce/tensorforce#704"),
        example="ValueError: Expected a Trackable object for export, got <__main__.Exporter object at 0x7fa30ce3d6a0>.",
    ),
    KnownError(
        id="P77",
        family="saved-model-tags",
        phase=Phase.SAVING,
        patterns=(
            r"MetaGraphDef associated with tags? .{1,80}? could not be found",
            r"with available tags",
            r"Importing a SavedModel with .{0,40}?requires a ['`]?tags",
            r"Got an incompatible argument to `tags",
            r"Could not find meta graph def matching supplied tags",
        ),
        cause="The SavedModel was exported with other tags than those it is asked for: serve is the usual one, a TPU export has serve and tpu, a module of TF1 Hub has none or train.",
        fix="""\
saved_model_cli show --dir PATH                                     # which tags there are
loaded = tf.saved_model.load(PATH, tags=["serve"])                   # ["serve", "tpu"], ["train"], or tags=[] for a TF1 Hub module
layer = hub.KerasLayer(URL, signature="default", tags=[], signature_outputs_as_dict=True)      # a TF1 Hub module in TF2""",
        citations=(
            "tensorflow/tensorflow#38080",
            "maru-labo/doodle#24",
            "onnx/tensorflow-onnx#1995",
        ),
        example="RuntimeError: MetaGraphDef associated with tags {'serve', 'tpu'} could not be found in SavedModel, with available tags '[{'serve'}]'.",
    ),
    KnownError(
        id="P78",
        family="legacy-optimizer-checkpoint",
        phase=Phase.SAVING,
        patterns=(
            r"from a legacy (?:TF-)?Keras optimizer into a v2\.11",
            r"restore a checkpoint from a legacy .{0,20}?optimizer",
        ),
        cause="The checkpoint holds the state of an optimizer of Keras 2.10 or before, and the model is compiled with one of 2.11 or later: their variables are not the same.",
        fix="""\
model = build_model(); model.load_weights(path).expect_partial()        # the weights alone: load before compile(),
model.compile(optimizer="adam", loss=loss)                               # then compile with the optimizer of this release
# going on with its state (TensorFlow 2.11 to 2.15, or tf-keras): the old optimizer on both sides
model.compile(optimizer=tf.keras.optimizers.legacy.Adam(1e-4), loss=loss)""",
        useless="Renaming the checkpoint's variables by hand: the moments are laid out otherwise.",
        citations=(
            "AlexanderKroll/KM_prediction_function#4",
            "nicknochnack/LipNet#14",
            "zsylvester/segmenteverygrain#5",
        ),
        example="ValueError: You are trying to restore a checkpoint from a legacy Keras optimizer into a v2.11+ Optimizer, which can cause errors. Please update the optimizer referenced in your code to be an instance of `tf.keras.optimizers.legacy.Optimizer`, e.g.: `tf.keras.optimizers.legacy.Adam`.",
    ),
)
