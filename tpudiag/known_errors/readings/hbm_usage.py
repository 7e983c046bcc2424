"""What fills the TPU's memory, as the compiler's or the runtime's list of it says."""

import re

from tpudiag.known_errors.compiled import wording

from .meaning import Reading
from .narrower import computed

_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}
MOST_PADDING = 2.0
"""Times its content that an array takes from which on its padding is the cause."""
MANY_TIMES = 3.0
"""Times the memory that is there from which on half a batch does not help."""
MOST_HOST_BYTES = 1 << 44
"""No host of a TPU has sixteen terabytes."""
GIBIBYTE = 1 << 30
HALVED = '\nkeras.mixed_precision.set_global_policy("mixed_bfloat16")      # half of what is f32'


def read(values: dict[str, str], text: str) -> Reading | None:
    """What takes most of the memory: padding, what is kept, pieces between, or one tensor."""
    if piece := wording("hbm piece").search(text):
        size, there = (f"{int(piece[name]) / GIBIBYTE:.1f}" for name in ("bytes", "limit"))
        whole = piece["shape"].startswith(("s32", "u32", "s64", "u64"))
        figures = "piece of positions" if whole else "one piece too large"
        return computed(figures, shape=piece["shape"], gibibytes=size, limit=there)
    forms = (wording(f"hbm {name}") for name in ("program", "arguments"))
    program, arguments = (size_of(form.search(text)) for form in forms)
    used, limit = (amount(values.get(name, "")) for name in ("used", "limit"))
    times = used / limit if limit else 0.0
    far = times >= MANY_TIMES
    largest = wording("hbm allocation").search(text)
    if largest is None:
        return computed("many times too large", times=f"{times:.1f}") if far else None
    padded = float(largest["expansion"] or 1) >= MOST_PADDING
    made = "made by the step" if program > arguments else "largest piece"
    name = wording("hbm name").search(largest["named"])
    of = f" of {name['name']}" if name else ""
    more = f" It is {times:.1f} times what there is: half the batch is not enough."
    return computed(
        "mostly padding" if padded else made,
        shape=largest["shape"],
        largest=f"{largest['shape']}{of} ({largest['size']}{largest['size_unit']})",
        expansion=largest["expansion"],
        kept=", not the weights" if arguments else "",  # the list says what is kept beside them
        far=more if far else "",
        halved="" if largest["shape"].startswith("bf16") else HALVED,
    )


def size_of(found: re.Match[str] | None) -> int:
    """The bytes of a size that was found; 0 for none."""
    return amount(found["size"] + found["size_unit"]) if found else 0


def amount(text: str) -> int:
    """Bytes of `8.83G`; 0 where it is no size."""
    told = re.fullmatch(r"([\d.]{1,12}?)\.?([KMGT]?)B?", text, re.IGNORECASE)
    if told is None or not re.fullmatch(r"\d+(?:\.\d+)?", told[1]):
        return 0
    return int(float(told[1]) * (1 << _UNITS[told[2].upper()]))


def reserved(values: dict[str, str], text: str) -> Reading | None:
    """Why a program does not fit beside what is there: full, or free in pieces only."""
    asked, free = (amount(values.get(name, "")) for name in ("asked", "free"))
    piece = size_of(wording("hbm reservable").search(text))
    if asked and free >= asked > piece > 0:
        sizes = {name: values[name] for name in ("free", "asked")}
        return computed("free in pieces", piece=f"{piece / GIBIBYTE:.2f}G", **sizes)
    return computed("nearly full", free=values["free"]) if asked > free > 0 else None


def on_host(values: dict[str, str], text: str) -> Reading | None:
    """What the size of an allocation tells that the host refused."""
    size = int(values.get("bytes", "0"))
    if size > MOST_HOST_BYTES:
        return computed("nonsense size", size=f"{size:,}")
    if size > GIBIBYTE and "tcmalloc" in text:
        return computed("one piece", gibibytes=f"{size / GIBIBYTE:.1f}")
    return None
