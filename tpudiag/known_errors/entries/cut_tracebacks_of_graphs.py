# ruff: noqa: E501  (texts of other programs stay as they are)
"""Tracebacks of sessions, estimators and infeeds that were cut before their last line."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase, Rival

from .cut_tracebacks import CUT, WHOLE

ERRORS = (
    KnownError(
        id="E837",
        family="cut-in-estimator",
        phase=Phase.EXECUTING,
        kind=Kind.FORM,
        patterns=(
            r"tpu_estimator\.py.{0,40}? in (?:train|evaluate|predict|_call_input_fn|_call_model_fn)",
            r"rendezvous\.raise_errors\(\)",
            r"monitored_session\.py.{0,40}? in (?:run|_create_session|create_session|MonitoredTrainingSession)",
        ),
        cause=CUT
        + "in TPUEstimator's train (evaluate), which raises last what its threads met first: `Error recorded from training_loop`, `infeed` or `outfeed` above it is the error itself.",
        fix=WHOLE
        + """\
grep -nE "Error recorded from|Compilation failure|Ran out of memory|not implemented" train.log | head -3      # the first is the cause
# the frames after rendezvous.raise_errors() only pass it on""",
        rivals=(
            Rival(
                cause="the program needs more memory than a core has",
                look_for="`Ran out of memory in memory space hbm`, `Exceeded hbm capacity`",
                decide='grep -n "hbm" train.log',
                cues=(r"memory space hbm", r"hbm capacity"),
                families=("hbm-at-compile-time", "hbm-at-run-time"),
            ),
            Rival(
                cause="the TPU Node is to read or write a path of this machine",
                look_for="`File system scheme '[local]' not implemented`",
                decide="grep -nE 'model_dir|data_dir|init_checkpoint' train.sh   # all gs://",
                families=("local-files",),
            ),
            Rival(
                cause="the step or the input cannot be compiled: sizes that change, operations that a TPU has not",
                look_for="`Compilation failure`",
                decide='grep -n "Compilation failure" train.log',
                families=("dynamic-dimension", "unsupported-op", "compilation-refused"),
            ),
            Rival(
                cause="the worker is not up, died or was taken back",
                look_for="`Socket closed`, `UNHEALTHY`, `PREEMPTED`, `master may not be ready`",
                decide="gcloud compute tpus describe NAME --zone=ZONE --format='value(state,health)'",
                families=("worker-lost", "worker-not-up", "tpu-not-ready", "preempted"),
            ),
        ),
        citations=("tensorflow/tpu#131", "tensorflow/tensor2tensor#1382"),
        example='  File "/usr/local/lib/python2.7/dist-packages/tensorflow/contrib/tpu/python/tpu/tpu_estimator.py", line 2409, in train\n    rendezvous.raise_errors()',
    ),
    KnownError(
        id="E903",
        family="cut-in-session",
        phase=Phase.EXECUTING,
        kind=Kind.FORM,
        patterns=(
            r"self\._extend_graph\(\)",
            r"tensorflow\w{0,5}/python/client/session\.py.{0,40}? in _(?:do_call|run_fn|extend_graph|do_run|call_tf_sessionrun)",
        ),
        cause=CUT
        + "in a session of TensorFlow 1. In _extend_graph it is the graph itself that was refused: an operation that is to run on a device which this session does not have (mostly a TPU that was not connected), or that the TPU Node's release does not know. In _call_tf_sessionrun it is a step that failed.",
        fix=WHOLE
        + """\
print(session.list_devices())                             # TPU devices among them? else the session is not the TPU's
session = tf.Session(resolver.master()); session.run(tf.contrib.tpu.initialize_system())      # TensorFlow 1: the session of the TPU's address
tf.config.list_logical_devices("TPU")                      # TensorFlow 2: no session; TPUStrategy""",
        rivals=(
            Rival(
                cause="an operation is placed on a TPU that this session does not have",
                look_for="`Cannot assign a device for operation`, `ConfigureDistributedTPU`",
                decide="print(session.list_devices())",
                cues=(r"_extend_graph\(\)",),
                families=("device-placement", "no-tpu-build", "no-device", "no-kernel"),
            ),
            Rival(
                cause="the TPU Node's TensorFlow is of another version",
                look_for="`not registered`, `NodeDef mentions attr`",
                decide="gcloud compute tpus describe NAME --zone=ZONE --format='value(tensorflowVersion)'",
                families=("version-skew", "op-not-registered"),
            ),
            Rival(
                cause="the step failed: its compilation, memory, its data",
                look_for="`Compilation failure`, `hbm`, `'[local]'`",
                decide='grep -nE "Compilation failure|hbm|local" train.log',
                families=("compilation-refused", "hbm-at-compile-time", "local-files"),
            ),
        ),
        citations=("Separius/BERT-keras#21",),
        example="/usr/local/lib/python3.6/dist-packages/tensorflow/python/client/session.py in _run_fn(feed_dict, fetch_list, target_list, options, run_metadata)\n-> 1318       self._extend_graph()",
    ),
    KnownError(
        id="E904",
        family="cut-in-infeed",
        phase=Phase.TRACING,
        kind=Kind.FORM,
        patterns=(
            r"generate_dequeue_op\(",
            r"infeed_dequeue_tuple\(",
            r"tpu_feed\.py.{0,40}? in (?:generate_(?:de|en)queue_ops?|set_tuple_(?:types|shapes)|freeze)",
        ),
        cause=CUT
        + "where the input of TPUEstimator is typed and shaped for the infeed. It refuses features of a type that a TPU has not (strings above all, then uint8 and other small integers), and shapes that are not known or do not divide by the cores.",
        fix=WHOLE
        + """\
dataset = dataset.map(lambda f: {k: v for k, v in f.items() if v.dtype != tf.string})       # no strings among features and labels (plain text, ids, names)
dataset = dataset.map(lambda f: {k: tf.cast(v, tf.int32) if v.dtype.is_integer else v for k, v in f.items()})
dataset = dataset.batch(params["batch_size"], drop_remainder=True)                           # every shape known""",
        rivals=(
            Rival(
                cause="a feature of a type that the TPU does not have",
                look_for="`not a supported TPU infeed type`, dtype: 'string'",
                decide="print(dataset.element_spec)",
                families=("type-not-on-tpu",),
            ),
            Rival(
                cause="a shape that is not known, or does not divide by the cores",
                look_for="`shape`, `not fully defined`, `divisible`",
                decide="print(dataset.element_spec)",
                families=("infeed-shape", "indivisible-batch", "static-shapes-wanted"),
            ),
        ),
        citations=("google-research/text-to-text-transfer-transformer#108",),
        example="/usr/local/lib/python3.5/dist-packages/tensorflow_core/python/tpu/tpu_feed.py in generate_dequeue_op(self, tpu_device)\n--> 494             dtypes=self._tuple_types, shapes=sharded_shapes, name=full_name)",
    ),
    KnownError(
        id="E909",
        family="where-an-operation-was-made",
        phase=Phase.TRACING,
        level="info",
        kind=Kind.FORM,
        patterns=(
            r"originally created as op u?'(?P<op>[\w/.:\-]{1,200})', defined at",
            r"Caused by op u?'(?P<op>[\w/.:\-]{1,200})', defined at",
            r"Original stack trace for u?'(?P<op>[\w/.:\-]{1,200})'",
        ),
        cause="This part of the text does not say what failed: it lists the lines of the script that made the operation into the graph. The sentence that says it stands above, before `Caused by op`, `Original stack trace for` or `which was originally created as op`.",
        details=("The operation is {op}.",),
        fix="""\
grep -nE "Error: |root error|Compilation failure|Cannot assign a device" train.log | head      # the sentence; then: tpudiag explain --log train.log
# the lowest line of this list that is of your own script made the operation: what it gets there (shape, type, device) is what the sentence speaks of""",
        rivals=(
            Rival(
                cause="a checkpoint does not fit the model, or is not there",
                look_for="an operation of save/ (RestoreV2, Assign)",
                decide='grep -nE "not found in checkpoint|shape" train.log',
                cues=(
                    r"created as op u?'save",
                    r"Caused by op u?'save",
                    r"stack trace for u?'save",
                ),
                families=("checkpoint-mismatch", "checkpoint-damaged"),
            ),
            Rival(
                cause="the data: a record that cannot be read, another shape, their end",
                look_for="IteratorGetNext, a batch, Decode or Parse operation",
                decide='grep -nE "End of sequence|Input to reshape|Key: " train.log',
                cues=(
                    r"created as op u?'[\w/]{0,80}?(?:IteratorGetNext|ParseSingle|ParseExample|Decode)",
                    r"Caused by op u?'[\w/]{0,80}?(?:IteratorGetNext|ParseSingle|ParseExample|Decode)",
                    r"stack trace for u?'[\w/]{0,80}?(?:IteratorGetNext|ParseSingle|ParseExample|Decode)",
                ),
                families=("end-of-data", "shape-conflict"),
            ),
            Rival(
                cause="the device: memory, an operation that it does not have, a GPU that is not there",
                look_for="`OOM`, `Ran out of memory`, `Cannot assign a device`, `No OpKernel`",
                decide='grep -nE "OOM|Ran out of memory|Cannot assign|No OpKernel" train.log',
                families=(
                    "memory-exhausted",
                    "hbm-at-compile-time",
                    "device-placement",
                    "unsupported-op",
                ),
            ),
            Rival(
                cause="shapes or types in the step",
                look_for="`Incompatible shapes`, `must be`, `Expected`",
                decide='grep -nE "Incompatible|must be|Expected" train.log',
                families=("operation-refuses", "types-do-not-match"),
            ),
        ),
        citations=("tensorflow/models#1823",),
        example="...which was originally created as op u'InceptionV3/Conv2d_1a_3x3/BatchNorm/moments/Sub', defined at:\n  File \"train_image_classifier.py\", line 573, in <module>\n    tf.app.run()",
    ),
    KnownError(
        id="P175",
        family="cut-in-kernel-lowering",
        phase=Phase.COMPILING,
        kind=Kind.FORM,
        patterns=(
            r"pallas_call_tpu_lowering_rule\(",
            r"lower_jaxpr_to_module\(",
            r"mosaic/lowering\.py.{0,40}? in ",
        ),
        cause=CUT
        + "where a Pallas kernel is translated for the TPU (Mosaic). It refuses an operation that it does not have, blocks whose last two sizes are not multiples of (8, 128), indices or shapes that it cannot lay out.",
        fix=WHOLE
        + """\
pallas_call(..., interpret=pltpu.InterpretParams())     # on a CPU: does the kernel itself work?
# blocks of multiples of (8, 128), (16, 128) for bfloat16, or the whole array; scalars in SMEM (scalar prefetch)
pip install -U "jax[tpu]"                               # many operations came with later releases""",
        rivals=(
            Rival(
                cause="an operation, type or layout that Mosaic does not have",
                look_for="`Unimplemented primitive`, `not implemented`, `unsupported`",
                decide='grep -nE "Unimplemented|unsupported|NotImplementedError" train.log',
                families=("kernel-refused", "unsupported-op"),
            ),
            Rival(
                cause="blocks or grid that do not fit the array or the tiles",
                look_for="`divisible by 8 and 128`, `BlockSpec`, `block shape`",
                decide='grep -nE "divisible|block" train.log',
                families=("kernel-refused",),
            ),
            Rival(
                cause="the kernel runs over several devices without shard_map",
                look_for="`automatically partitioned`",
                decide="a mesh of one device: does it pass?",
                families=("kernel-over-devices",),
            ),
        ),
        citations=("jax-ml/jax#22817",),
        example="/usr/lib/python3/dist-packages/jax/_src/pallas/pallas_call.py in tpu_lowering(ctx, *in_nodes, **params)\n--> 913     return mosaic_tpu_backend.pallas_call_tpu_lowering_rule(\n    914         ctx, *in_nodes, **params",
    ),
)
