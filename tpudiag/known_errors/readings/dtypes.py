"""Two types that meet: of which kinds they are, where they meet, whether in the backward pass."""

from tpudiag.known_errors.compiled import wording, wordings

from .meaning import Reading
from .narrower import computed

_SAME = {"float": "float32", "half": "float16", "double": "float64"}
SHORT = frozenset({"float16", "bfloat16"})


def read(_: dict[str, str], text: str) -> Reading | None:
    """What two types that meet mean by their kinds; None where a text names no two of them."""
    found = next((hit for form in wordings("dtypes forms") if (hit := form.search(text))), None)
    if found is None:
        return None
    want, got = (_SAME.get(found[name], found[name]) for name in ("want", "got"))
    parts, both = found.groupdict(), {want, got}
    tensor, op = parts.get("tensor"), parts.get("op")
    said = f"{want} and {got} meet" + (f" in {op}" if op else "")
    if tensor:
        said = f"`{tensor}` is {got} where {want} is wanted"
    whole = ["int" in each for each in both]
    kinds = {
        "types in the backward pass": both <= SHORT | {"float32"}
        and wording("dtypes backward").search(text),
        "a short type and float32": both & SHORT and "float32" in both,
        "float64 and a shorter one": "float64" in both and both & (SHORT | {"float32"}),
        "whole numbers and floats": any(whole) and any("float" in each for each in both),
        "two types of whole numbers": all(whole),
        "texts and numbers": "string" in both,
        "truths and numbers": "bool" in both,
    }
    kind = next((kind for kind, holds in kinds.items() if holds), None)
    return computed(kind, said=said, want=want) if kind and want != got else None
