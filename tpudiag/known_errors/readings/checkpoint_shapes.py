"""A variable of another shape than the checkpoint's: which part of the configuration differs."""

import re

from tpudiag.known_errors.compiled import wording, wordings

from .meaning import Reading
from .narrower import computed

KERNEL = 4
"""How many sizes the kernel of a convolution of pictures has."""

_WIDTHS = frozenset(range(128, 8193, 64)) | {312}
"""How wide models are built."""


def read(values: dict[str, str], text: str) -> Reading | None:
    """Which part of the configuration differs, by the variable and its two shapes."""
    told = next((hit for form in wordings("checkpoints forms") if (hit := form.search(text))), None)
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
        "outputs": last or wording("checkpoints head").search(name),
        "width": {here, there} <= _WIDTHS,
    }
    kind = next((kind for kind, holds in kinds.items() if holds), "another size")
    return computed(kind, said=said, here=here, there=there, name_logits=name or "logits")
