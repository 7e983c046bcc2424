# ruff: noqa: E501  (reasons stay in one piece)
"""The known errors, one file for each topic.

To add one: append an entry to its file (fields: KnownError in ..model) and run
tests/known_errors: they try its example and its near miss.
"""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Silent

from . import (
    account,
    checkpoints,
    clusters,
    compiler,
    compiler_limits,
    compiling,
    control_flow,
    crashes,
    creating,
    data,
    dataset_graph,
    devices,
    estimators,
    files,
    fit_data,
    gpu_only,
    host_limits,
    hugging_face,
    installing,
    keras_building,
    keras_data,
    keras_files,
    keras_models,
    labels,
    libraries,
    loops,
    memory,
    monitoring,
    noise,
    old_tensorflow,
    other_frameworks,
    packages,
    pipelines,
    porting,
    porting_models,
    python_errors,
    python_mistakes,
    reaching,
    records,
    rehearsal,
    replicas,
    scope,
    shape_conflicts,
    shapes,
    strategy_calls,
    tensor_types,
    tensorboards,
    tpu_system,
    undecided,
    workers,
)

_FILES = (
    reaching,
    creating,
    devices,
    installing,
    packages,
    crashes,
    shapes,
    shape_conflicts,
    compiling,
    compiler,
    memory,
    workers,
    files,
    checkpoints,
    data,
    records,
    pipelines,
    scope,
    replicas,
    loops,
    old_tensorflow,
    porting,
    porting_models,
    monitoring,
    labels,
    keras_models,
    fit_data,
    gpu_only,
    account,
    libraries,
    tensorboards,
    other_frameworks,
    python_errors,
    control_flow,
    strategy_calls,
    clusters,
    compiler_limits,
    tpu_system,
    dataset_graph,
    keras_data,
    keras_building,
    keras_files,
    hugging_face,
    estimators,
    tensor_types,
    host_limits,
    python_mistakes,
    undecided,
    noise,
    rehearsal,
)

ERRORS: tuple[KnownError, ...] = tuple(error for file in _FILES for error in file.ERRORS)

# Known, but without a text to recognise: they do not belong into a matcher.
SILENT = (
    Silent(
        "E09",
        "a hang in experimental_connect_to_cluster without any message (TPU003 sees it as an attempt that does not end)",
    ),
    Silent("E34", "a wrong loss scale raises nothing (TPU502 looks at what runs)"),
    Silent(
        "E40",
        "no text is recorded in its citation: validation fails when the evaluation set is smaller than the global batch",
    ),
    Silent(
        "E42", "mixed_bfloat16 that is slower than float32 raises nothing; it has to be measured"
    ),
    Silent("E51", "a change of the service (Colab has v5e-1 only), not an error"),
    Silent(
        "E52",
        "a change of the service (TensorFlow is not pre-installed on Colab's TPU); what it leads to is E02",
    ),
)
