"""A variable of another shape than the checkpoint's: which part of the configuration differs."""

import re

from .meaning import Reading
from .narrower import computed

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
KERNEL = 4
"""How many sizes the kernel of a convolution of pictures has."""

_WIDTHS = frozenset(range(128, 8193, 64)) | {312}
"""How wide models are built."""


def read(values: dict[str, str], text: str) -> Reading | None:
    """Which part of the configuration differs, by the variable and its two shapes."""
    told = next((hit for form in _FORMS if (hit := form.search(text))), None)
    if told is None:
        return None
    named = told.groupdict()
    shapes = [group for group in told.groups() if group and re.fullmatch(r"\d[\d,]{0,40}", group)]
    if len(shapes) < 2:
        return None
    model, saved = ([int(part) for part in each.split(",") if part] for each in shapes[:2])
    if named.get("saved_first"):
        model, saved = saved, model
    if model == saved or len(model) != len(saved):
        return None
    name = named.get("name") or values.get("variable") or ""
    about = f"`{name}`" if name else "The variable"
    said = f"{about} is {model} in the model and {saved} in the checkpoint"
    differing = [at for at, (a, b) in enumerate(zip(model, saved, strict=True)) if a != b]
    axis = differing[0]
    here, there = model[axis], saved[axis]
    last = axis == len(model) - 1 and min(here, there) < min(_WIDTHS)
    kinds = {
        "another layer of that name": len(model) == KERNEL and axis < KERNEL - 2 < differing[-1],
        "kept for each example": differing == [0]
        and 1 in (here, there)
        and 1 < len(model) < KERNEL,
        "outputs": last or _HEAD.search(name),
        "width": {here, there} <= _WIDTHS,
    }
    kind = next((kind for kind, holds in kinds.items() if holds), "another size")
    return computed(kind, said=said, here=here, there=there, name_logits=name or "logits")
