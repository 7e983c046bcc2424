"""Which errors of the catalogue TPU605 leaves to others, or says with less weight."""

OF_FUNCTIONS = ("E35",)
OF_PIPELINES = ("E36", "E37", "E43")
"""Warnings in a log of what other checks judge from better evidence, where it was seen."""
OF_SCOPE = "outside-scope"
"""The family of errors that TPU501 tells with the line of the variable, where it saw one."""
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
    # No other host takes part: CPU devices that a busy machine let wait too long for each other.
    "coordination-lost",
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
