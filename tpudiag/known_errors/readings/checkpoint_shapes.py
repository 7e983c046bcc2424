"""A variable of another shape than the checkpoint's: which part of the configuration differs."""

from __future__ import annotations

import re

from .meaning import Reading
from .narrower import computed

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

_WIDTHS = frozenset(range(128, 8193, 64)) | {312}
"""How wide models are built."""
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
        return computed("saved with another rank", said=said)
    axis = differing[0]
    here, there = model[axis], saved[axis]
    if len(model) == KERNEL and axis < KERNEL - 2 < differing[-1]:
        return computed("another layer of that name", said=said)
    if differing == [0] and 1 in (here, there) and 1 < len(model) < KERNEL:
        return computed("kept for each example", said=said, here=here, there=there)
    if _POSITIONS.search(name):
        return computed("positions", said=said, here=here, there=there)
    if axis == 0 and (_EMBEDDING.search(name) or here in _VOCABULARIES or there in _VOCABULARIES):
        return computed(
            "vocabulary", said=said, here=_vocabulary(here), there=_vocabulary(there), there2=there
        )
    if _HEAD.search(name) or (axis == len(model) - 1 and min(here, there) < min(_WIDTHS)):
        return computed("outputs", said=said, name_logits=name or "logits", there=there)
    if {here, there} <= _WIDTHS or (here in _WIDTHS and there in _WIDTHS):
        return computed("width", said=said, here=here, there=there)
    return computed("another size", said=said, here=here, there=there)


def _vocabulary(size: int) -> str:
    """A number of tokens, and whose it is where that is known."""
    return f"{size}: {_VOCABULARIES[size]}" if size in _VOCABULARIES else str(size)


def _sizes(shape: str) -> Sizes:
    """The sizes of a shape."""
    return tuple(int(part) for part in shape.split(",") if part)
