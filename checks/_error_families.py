"""The catalogue's errors that TPU605 leaves to other checks, or reports at a lower severity."""

OF_FUNCTIONS = ("E35",)
OF_PIPELINES = ("E36", "E43")
"""Warnings in a log about what other checks judge from better evidence, where available."""
OF_SCOPE = "outside-scope"
"""The family of errors that TPU501 reports with the variable's line, where it saw one."""
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
"""Python's own errors, whose text does not show the cause: `explain --error` answers them on
request, a report shows the job's traceback."""
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
    # No other host takes part: CPU devices waited too long for each other on a busy machine.
    "coordination-lost",
)
"""Errors of a rehearsal's own machine and environment."""
OF_PACKAGES = "package-missing"
"""A missing module, which Python's message and the job's line explain better."""
OF_TENSORFLOW = ("tensorflow", "keras", "tf_keras")
"""Packages whose missing modules were removed, here and everywhere."""
OF_DATA = ("E131",)
"""The amount of data, which synthetic data says nothing about; TPU212 reports it with the line of
the fit where the loop was observed."""
OF_LOWERING = "XLA_CPU_JIT"
"""Messages of a lowering on this machine are ours: TPU102, TPU103 and TPU105 report the result,
with the line."""
OF_AUTOGRAPH = ("autograph-source", "return-in-loop")
"""AutoGraph's warnings in the log, mostly about a library's functions, which run unconverted: a
failure would raise an exception."""
OF_NO_TPU = ("E03", "E578")
"""Messages of a rehearsal without a TPU: that none is found, and what TensorFlow's graph optimiser
skipped for a CPU, without consequences."""
