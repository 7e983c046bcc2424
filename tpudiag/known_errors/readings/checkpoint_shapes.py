# ruff: noqa: E501  (what is pasted stays in one piece)
"""A variable of another shape than the checkpoint's: which part of the configuration differs."""

from __future__ import annotations

import re

from .meaning import Reading

Sizes = tuple[int, ...]

_SHAPE = r"\(?[\[(](\d[\d,]{0,40})[\])]\)?"
_FORMS = tuple(
    re.compile(form.replace("SHAPE", _SHAPE))
    for form in (
        r"Shapeofvariable(?P<name>[\w./:-]{1,160}?):?\d?\(SHAPE\)doesn'tmatchwithshapeoftensor[\w./:-]{1,160}\(SHAPE\)",
        r"Shapeofvariable(?P<name>[\w./:-]{1,160}?)SHAPE.{0,40}?SHAPE",
        r"lhsshape=SHAPErhsshape=SHAPE",
        r"(?P<saved_first>Tensor'?sshape)SHAPEisnotcompatiblewith(?:the)?suppliedshapeSHAPE",
        r"(?P<saved_first>Receivedincompatibletensor)withshapeSHAPEwhenattemptingtorestorevariablewithshapeSHAPE(?:andname(?P<name>[\w./:-]{1,160}))?",
        r"Layer#?\d{0,4}\(?named['\"`]?(?P<name>[\w./-]{1,80})['\"`]?.{0,120}?(?:weightshaving|hasshape)SHAPE.{0,80}?shapeSHAPE",
        r"(?P<saved_first>sizemismatch)for(?P<name>[\w.]{1,160}?):copyingaparamwithshape(?:torch\.Size)?\(?SHAPE\)?fromcheckpoint,theshapeincurrentmodelis(?:torch\.Size)?\(?SHAPE",
        r"\(?(?:variable|parameter)['\"`]?(?P<name>[\w./:-]{1,160}?)['\"`]?.{0,60}?shapeSHAPE.{0,60}?(?:checkpoint|saved|loaded).{0,40}?SHAPE",
    )
)
_HEAD = re.compile(
    r"logits|output_bias|classifier|predictions?|head|top|softmax|class|box_?predictor|final|score|label|aux",
    re.IGNORECASE,
)
_POSITIONS = re.compile(r"position|pos_?emb|wpe", re.IGNORECASE)
_EMBEDDING = re.compile(r"embed|vocab|wte|shared|lookup|softmax_w", re.IGNORECASE)
KERNEL = 4
"""How many sizes the kernel of a convolution of pictures has."""

_WIDTHS = {
    128,
    192,
    256,
    312,
    320,
    384,
    512,
    640,
    768,
    896,
    1024,
    1280,
    1536,
    1600,
    2048,
    2560,
    4096,
    5120,
    8192,
}
_VOCABULARIES = {
    30522: "BERT uncased",
    28996: "BERT cased",
    21128: "BERT Chinese",
    119547: "BERT multilingual cased",
    105879: "BERT multilingual uncased",
    32128: "T5 (padded)",
    32100: "T5",
    250112: "mT5",
    50257: "GPT-2",
    50265: "RoBERTa",
    32000: "LLaMA, XLNet",
    30000: "ALBERT",
    128256: "Llama 3",
    256000: "Gemma",
}


def read(values: dict[str, str], text: str) -> Reading | None:
    """Which part of the configuration differs, by the variable and its two shapes."""
    told = next((hit for form in _FORMS if (hit := form.search(text))), None)
    if told is None:
        return None
    named = told.groupdict()
    shapes = [group for group in told.groups() if group and re.fullmatch(r"\d[\d,]{0,40}", group)]
    if len(shapes) < 2:
        return None
    model, saved = (_sizes(shape) for shape in shapes[:2])
    if named.get("saved_first"):
        model, saved = saved, model
    if model == saved:
        return None
    name = named.get("name") or values.get("variable") or ""
    about = f"`{name}`" if name else "The variable"
    said = f"{about} is {list(model)} in the model and {list(saved)} in the checkpoint"
    return _meant(name, model, saved, said)


def _meant(name: str, model: Sizes, saved: Sizes, said: str) -> Reading:
    """What such a difference mostly is."""
    differing = [at for at, (a, b) in enumerate(zip(model, saved, strict=False)) if a != b]
    if len(model) != len(saved):
        return Reading(
            f"{said}: another kind of layer, or weights of another framework or Keras, under that name.",
            "# the model's code in the release that wrote the checkpoint; or layers renamed, so that other weights are not taken for theirs",
        )
    axis = differing[0]
    here, there = model[axis], saved[axis]
    if len(model) == KERNEL and axis < KERNEL - 2 < differing[-1]:
        return Reading(
            f"{said}: two different layers go by that name, layers being numbered as they are made; mostly the model has more or fewer of them (blocks, depth) than the checkpoint's, or is another one.",
            "# the depth of the checkpoint's own model (number of blocks, layers), in the release that wrote it\n"
            "for name, shape in tf.train.list_variables(path): print(name, shape)      # counts its layers",
        )
    if differing == [0] and 1 in (here, there) and 1 < len(model) < KERNEL:
        return Reading(
            f"{said}: the first size is {here} against {there}, the rest agrees: mostly a state that is kept for each example of a batch, or each of several environments that run at once.",
            f"# as many at once as the run that wrote it ({there}): its batch size, number of environments or replicas\n"
            "for name, shape in tf.train.list_variables(path): print(name, shape)      # which variable it is",
        )
    if _POSITIONS.search(name):
        return Reading(
            f"{said}: the longest sequence differs ({here} against {there}).",
            f"max_position_embeddings = {there}      # as in the checkpoint's configuration; shorter inputs are fine: max_seq_length up to {there}",
        )
    if axis == 0 and (_EMBEDDING.search(name) or here in _VOCABULARIES or there in _VOCABULARIES):
        return Reading(
            f"{said}: the vocabulary differs ({_vocabulary(here)} against {_vocabulary(there)}).",
            f"vocab_size = {there}      # configuration, vocabulary file and checkpoint of one and the same model; added tokens: load first, then model.resize_token_embeddings(len(tokenizer))",
        )
    if _HEAD.search(name) or (axis == len(model) - 1 and min(here, there) < min(_WIDTHS)):
        return Reading(
            f"{said}: the number of classes (or outputs) differs, so its last layer cannot be taken over.",
            "model.load_weights(path, skip_mismatch=True)      # Keras (older: by_name=True too): all but the last layer; transformers: ignore_mismatched_sizes=True\n"
            f'variables = [v for v in tf.compat.v1.global_variables() if "{name or "logits"}" not in v.name]; tf.compat.v1.train.Saver(variables).restore(session, path)      # TensorFlow 1\n'
            f"num_classes = {there}                                                 # or as many as the checkpoint has",
        )
    if {here, there} <= _WIDTHS or (here in _WIDTHS and there in _WIDTHS):
        return Reading(
            f"{said}: the model is built in another size ({here} wide) than the checkpoint's ({there}).",
            f"# the configuration of the checkpoint's own size (hidden size {there}), e.g. MODEL_SIZE, --bert_config_file, hparams beside it\n"
            "rm -r OLD_MODEL_DIR; --model_dir=NEW      # an own checkpoint of an earlier run with other settings: a new, empty folder",
        )
    return Reading(
        f"{said}: a setting that decides this size ({here} against {there}) differs between the two runs; mostly the folder holds a checkpoint of an earlier run with other settings.",
        "rm -r OLD_MODEL_DIR; --model_dir=NEW      # start in a new, empty folder; or the settings of the run that wrote it\n"
        "for name, shape in tf.train.list_variables(path): print(name, shape)      # what it holds",
    )


def _vocabulary(size: int) -> str:
    """A number of tokens, and whose it is where that is known."""
    return f"{size}: {_VOCABULARIES[size]}" if size in _VOCABULARIES else str(size)


def _sizes(shape: str) -> Sizes:
    """The sizes of a shape."""
    return tuple(int(part) for part in shape.split(",") if part)
