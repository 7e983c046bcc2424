# ruff: noqa: E501  (texts of other programs stay as they are)
"""What only a rehearsal on CPU replicas says."""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Phase

ERRORS = (
    KnownError(
        id="R01",
        family="rehearsal",
        phase=Phase.EXECUTING,
        level="info",
        patterns=(
            r"You must feed a value for placeholder tensor 'cond/(?:then|else)/.{0,1200}?\[Op:__inference_fn_with_cond",
        ),
        cause="An artefact of the rehearsal, not a fault of the script: CPU replicas cannot create the variables of a Keras 3 optimizer inside the tf.function.",
        fix="""\
# rehearse with the optimizer built beforehand; it does no harm on a TPU
with strategy.scope():
    optimizer.build(model.trainable_variables)""",
        evidence="reproduced",
        example="""\
InvalidArgumentError: Graph execution error:
2 root error(s) found.
  (0) INVALID_ARGUMENT:  You must feed a value for placeholder tensor 'cond/else/_1/cond/Placeholder' with dtype int32
      [[{{node cond/Placeholder}}]]
      [[cond/else/_1/cond/Placeholder_1/_32]]
  (1) INVALID_ARGUMENT:  You must feed a value for placeholder tensor 'cond/else/_1/cond/Placeholder' with dtype int32
      [[{{node cond/Placeholder}}]]
0 successful operations.
0 derived errors ignored. [Op:__inference_fn_with_cond_1095]""",
        near_miss="InvalidArgumentError: You must feed a value for placeholder tensor 'input_1' with dtype float and shape [?,1,512,20]",
        rehearsal_only=True,
    ),
    KnownError(
        id="R02",
        family="rehearsal",
        phase=Phase.EXECUTING,
        level="info",
        patterns=(
            r"You must feed a value for placeholder tensor 'while/body/_\d{1,6}/while/cond/(?:then|else)/",
        ),
        cause="An artefact of the rehearsal, not a fault of the script: steps_per_execution above 1 fails under MirroredStrategy, which stands in for the TPU, with Keras 3.8 and later.",
        fix="""\
# rehearse with one step per execution, and set it back for the TPU
model.compile(optimizer, loss, steps_per_execution=1)
# or rehearse with Keras 3.6.0, or with tf-keras: TF_USE_LEGACY_KERAS=1 (both work)""",
        citations=("keras-team/keras#19246",),
        evidence="reproduced",
        example="""\
2 root error(s) found.
  (0) INVALID_ARGUMENT:  You must feed a value for placeholder tensor 'while/body/_10/while/cond/then/_184/while/cond/Placeholder_1' with dtype int32
      [[{{node while/cond/Placeholder_1}}]]
0 derived errors ignored. [Op:__inference_multi_step_on_iterator_1286]""",
        near_miss="InvalidArgumentError: You must feed a value for placeholder tensor 'while/body/x' with dtype float",
        rehearsal_only=True,
    ),
    KnownError(
        id="R03",
        family="rehearsal",
        phase=Phase.EXECUTING,
        level="info",
        patterns=(
            r"Trying to access resource .{1,900}? located in device /job:[\w:/]{1,60}?CPU:\d{1,4} from device /job:[\w:/]{1,60}?CPU:\d{1,4}",
        ),
        cause="An artefact of the rehearsal, not a fault of the script: jit_compile=True cannot compile a step over several CPU replicas.",
        fix="""\
# rehearse without it; XLA compiles the step on a TPU anyway
model.compile(optimizer, loss, jit_compile=False)""",
        citations=("keras-team/keras#19005",),
        evidence="reproduced",
        example="""\
InvalidArgumentError: Graph execution error:
Trying to access resource sequential/dense/kernel/replica_1/3 (defined @ site-packages/keras/src/backend/tensorflow/core.py:43) located in device /job:localhost/replica:0/task:0/device:CPU:1 from device /job:localhost/replica:0/task:0/device:CPU:0
      [[{{node StatefulPartitionedCall}}]] [Op:__inference_multi_step_on_iterator_890]""",
        near_miss="Trying to access resource table located in device /job:localhost/replica:0/task:0/device:CPU:0 from device /job:localhost/replica:0/task:0/device:GPU:0",
        rehearsal_only=True,
    ),
)
