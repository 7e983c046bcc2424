# ruff: noqa: E501  (what is pasted stays in one piece)
"""What the variable that a checkpoint lacks says of the checkpoint."""

from __future__ import annotations

import re

from .meaning import Reading

_KEY = re.compile(r"Key([\w/.:-]{2,160}?)notfoundincheckpoint")
_MEANINGS: tuple[tuple[str, str, str], ...] = (
    (
        r"(?:adam_[mv]|/Adam(?:_1)?$|Momentum|RMSProp|_slot_|optimizer|beta[12]_power|/[mv]hat|accumulator)",
        "belongs to the optimizer: the checkpoint was written without one, or by another (a converted or published model, inference only)",
        'init_checkpoint="gs://BUCKET/model.ckpt"      # as the start of a new run in an empty output folder: weights only, no optimizer\n'
        "tf.train.Checkpoint(model=model).restore(path).expect_partial()",
    ),
    (
        r"(?:ExponentialMovingAverage|/ema\b|_ema)",
        "is a moving average: the checkpoint was written without averages, and they are to be read",
        "--moving_average_decay=0      # or variables_to_restore() of the tf.train.ExponentialMovingAverage that trained it",
    ),
    (
        r"(?:(?:^|/)(?:output_bias|output_weights|logits|classifier|cls/|predictions|class_net|box_net|head|top|dense_?\d*)\b|class-predict|global_step)",
        "belongs to the head of this task or to the run: the output folder holds a checkpoint of another run (of pre-training, of another number of classes), which the estimator takes up by itself",
        'output_dir="gs://BUCKET/new_run"; init_checkpoint="gs://BUCKET/pretrained/model.ckpt"      # a new, empty output folder; the old checkpoint as the start',
    ),
    (
        r"(?:^|/)(?:bert|albert|electra|transformer|encoder|decoder|block_|layer_|model)\w*/",
        "belongs to the body of the model: the checkpoint is of another size or kind of it, or of another way of naming (TensorFlow 1 against 2, one library against another)",
        "for name, shape in tf.train.list_variables(path): print(name, shape)      # its names; then the configuration that lies beside it",
    ),
)


def read(text: str, begin: int, _end: int) -> Reading | None:
    """What the first variable that was not found belongs to."""
    told = _KEY.search(text, begin) or _KEY.search(text)
    if told is None:
        return None
    for pattern, meaning, fix in _MEANINGS:
        if re.search(pattern, told[1], re.IGNORECASE):
            return Reading(f"`{told[1]}` {meaning}.", fix)
    return None
