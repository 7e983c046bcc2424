"""Which errors of the catalogue TPU605 leaves to others, or says with less weight."""

from __future__ import annotations

OF_FUNCTIONS = ("E35",)
OF_PIPELINES = ("E36", "E37", "E43")
"""Warnings in a log of what other checks judge from better evidence, where it was seen."""
OF_SCOPE = "outside-scope"
"""The family of errors that TPU501 tells with the line of the variable, where it saw one."""
OF_STAND_INS = (
    "data-adapter",
    "shape-conflict",
    "numpy-conversion",
    "index-out-of-range",
    "slice-out-of-range",
    "string-for-number",
    "integers-into-layer",
    "vocabulary-layer",
    "vocabulary-layers",
    "lookup-table",
    "transformers-inputs",
    "hub-layer",
    "layer-input",
    "rank-mismatch",
    "metric-shapes",
    "sequence-lengths",
    "empty-reduction",
    "negative-size",
    "top-k",
    "ctc-labels",
    "scikit-learn",
    "none-object",
    "nan",
)
"""Beside what fails while data are read, what those that were stood in for may well be to blame
for: values, sizes and types that real ones have."""
OF_WIRING = (
    "accelerate-batches",
    "captured-dataset",
    "captured-strings",
    "data-service",
    "data-service-arguments",
    "dataset-function",
    "dataset-misused",
    "distributed-dataset",
    "generator-as-tensor",
    "generator-threads",
    "gs-scheme",
    "iterator-on-tpu",
    "local-files",
    "message-too-large",
    "python-in-pipeline",
    "seqio-task",
    "sharded-by-elements",
)
"""What is wrong with how a pipeline is built, whatever data it reads."""
SHORTEST_STEM = 8
"""Letters of a file's name below which it may be any word."""
MARKS_OF_STAND_INS = ("/fake-data/", "tpudiag-fake:")
"""What names a stand-in: its file, or its content."""
OF_PYTHON = (
    "wrong-object",
    "missing-key",
    "undefined-name",
    "wrong-arguments",
    "wrong-type",
    "out-of-bounds",
    "text-encoding",
    "recursion",
    "syntax-error",
)
"""Python's own errors, whose text does not tell the cause: the desk answers them where it is asked,
a report shows the job's traceback."""
OF_MACHINE = (
    "host-memory",
    "memory-exhausted",
    "bucket-transport",
    "metadata-server",
    "dataset-download",
    "local-service",
    "package-missing",
    "import-failed",
    "host-unreached",
    "connection-broken",
    "no-answer-in-time",
    "experiment-tracker",
    "api-refused",
)
"""What a rehearsal meets on the machine that it runs on, and in the environment there."""
OF_PACKAGES = "package-missing"
"""A module that is not there, of which Python's own words and the job's line tell more."""
OF_TENSORFLOW = ("tensorflow", "keras", "tf_keras")
"""A module of theirs that is missing was removed, here and everywhere."""
OF_DATA = ("E131",)
"""Of how much data there is: it says nothing where that was stood in for, and TPU212 says it with
the line of the fit where the loop was seen."""
OF_LOWERING = "XLA_CPU_JIT"
"""What the log says of a lowering on this machine is ours: TPU102, TPU103 and TPU105 tell what came
of it, with the line."""
OF_AUTOGRAPH = ("autograph-source", "return-in-loop")
"""What AutoGraph warns of in the log, mostly of a library's functions, and runs as it stands: where
that fails, the exception says so."""
OF_NO_TPU = ("E03", "E578")
"""What the log of a rehearsal holds since it has no TPU: that none is found, and what TensorFlow's
optimiser of the graph gave up for a CPU, which goes on without."""
