# ruff: noqa: E501  (what is pasted stays in one piece)
"""What fills the TPU's memory, as the compiler's or the runtime's list of it says."""

from __future__ import annotations

import re

from .meaning import Reading

_SIZE = r"(?P<{}>[\d.]{{1,12}})(?P<{}_unit>[KMGT]?)"
_PROGRAM = re.compile(r"program" + _SIZE.format("size", "size"), re.IGNORECASE)
_ARGUMENTS = re.compile(r"arguments" + _SIZE.format("size", "size"), re.IGNORECASE)
_FRAGMENTATION = re.compile(
    r"(?P<percent>[\d.]{1,6})%fragmentation\(" + _SIZE.format("size", "size"), re.IGNORECASE
)
_ALLOCATION = re.compile(
    r"\b1\.Size:"
    + _SIZE.format("size", "size")
    + r"(?P<named>.{0,300}?)Shape:(?P<shape>\w{2,10}\[[\d,<=]{0,60}\])"
    r"(?:.{0,200}?Extramemoryduetopadding:[\d.]{1,12}[KMGT]?\((?P<expansion>[\d.]{1,8})xexpansion)?",
    re.IGNORECASE | re.DOTALL,
)
_RESERVABLE = re.compile(r"and" + _SIZE.format("size", "size") + r"B?reservable", re.IGNORECASE)
_NAME = re.compile(r'op_name="(?P<name>[^"]{1,160})"', re.IGNORECASE)
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}
MOST_FRAGMENTATION = 25.0
"""Percent of the program's memory that lie between its pieces from which on they are the cause."""
MOST_PADDING = 2.0
"""Times its content that an array takes from which on its padding is the cause."""
MANY_TIMES = 3.0
"""Times the memory that is there from which on half a batch does not help."""


def read(values: dict[str, str], text: str) -> Reading | None:
    """What takes most of the memory: padding, what is kept, pieces between, or one tensor."""
    largest = _ALLOCATION.search(text)
    if largest and float(largest["expansion"] or 1) >= MOST_PADDING:
        return _padded(largest)
    program, arguments = (_bytes(form.search(text)) for form in (_PROGRAM, _ARGUMENTS))
    if arguments > program > 0:
        return _kept(arguments, program)
    fragments = _FRAGMENTATION.search(text)
    if fragments and float(fragments["percent"]) >= MOST_FRAGMENTATION:
        return _fragmented(fragments)
    times = _ratio(values)
    if largest and program > arguments:
        return _step(largest, times, arguments > 0)
    if largest:
        return Reading(
            f"The largest piece in it is {_what(largest)}.",
            f"# {largest['shape']}: which of its dimensions is the batch, the length, the side? Make that smaller first",
        )
    return _many_times(times) if times >= MANY_TIMES else None


def read_reserved(values: dict[str, str], text: str) -> Reading | None:
    """Why a program does not fit beside what is there: full, or free in pieces only."""
    asked, free = (_amount(values.get(name, "")) for name in ("asked", "free"))
    found = _RESERVABLE.search(text)
    piece = _bytes(found)
    if asked and free >= asked > piece > 0:
        return Reading(
            f"{values['free']} are free, more than the {values['asked']} that the program wants, but in pieces: the largest has {_giga(piece)}."
            " What was made and let go in between (a second model, results that were kept, other programs) lies scattered.",
            "del model, outputs; keras.backend.clear_session(); gc.collect()      # and build anew; a fresh process begins with one piece\n"
            "loss_sum += float(loss)                                              # numbers in place of tensors that are kept on the TPU",
        )
    if asked > free > 0:
        return Reading(
            f"Only {values['free']} are free beside what lies there already: this model's weights and optimizer state, and whatever an earlier model or fold,"
            " a cell that was run again, or another program left.",
            "del model; keras.backend.clear_session(); gc.collect()               # before the next fold or model\n"
            "tf.tpu.experimental.initialize_tpu_system(resolver)                  # empties the TPU: then strategy, model and data are made anew\n"
            "python train.py --fold=2                                             # surest: a process for each fold",
        )
    return None


def _padded(largest: re.Match[str]) -> Reading:
    """One array that is mostly padding."""
    return Reading(
        f"The largest piece, {_what(largest)}, is mostly padding: it takes {largest['expansion']} times its content,"
        " because the TPU pads the last two dimensions to multiples of 8 and 128.",
        f"x = tf.reshape(x, [..., LARGE_8, LARGE_128])      # {largest['shape']}: the large dimensions last, small ones (3, 4, 8) in front\n"
        "# a matrix product or einsum in place of an operation that keeps a small last dimension",
    )


def _kept(arguments: int, program: int) -> Reading:
    """What lies in memory before the step begins."""
    return Reading(
        f"What is kept takes most of it ({_giga(arguments)} of arguments: weights, optimizer state, inputs), the step itself {_giga(program)}:"
        " a smaller batch helps little.",
        "optimizer = keras.optimizers.Adafactor()                    # keeps a fraction of what Adam keeps (twice the weights)\n"
        'keras.config.set_dtype_policy("bfloat16")                  # weights in 2 bytes; "mixed_bfloat16" keeps them in 4\n'
        "# weights split over the cores: keras.distribution.ModelParallel, jax.sharding (FSDP); one model at a time in memory",
    )


def _fragmented(found: re.Match[str]) -> Reading:
    """Free memory that lies in pieces."""
    return Reading(
        f"{found['percent']} % of the program's memory ({found['size']}{found['size_unit']}) lie unused between its pieces:"
        " few very large tensors do not fit together.",
        "step = tf.recompute_grad(block)                       # smaller pieces: recompute what is largest\n"
        "losses = tf.map_fn(loss_of_slice, slices)             # or cut the largest operation (logits, attention) into slices",
    )


def _step(largest: re.Match[str], times: float, told: bool) -> Reading:
    """The values that the step itself makes; `told`: the list says what is kept beside them."""
    kept = ", not the weights" if told else ""
    far = (
        f" It is {times:.1f} times what there is: half the batch is not enough."
        if times >= MANY_TIMES
        else ""
    )
    return Reading(
        f"What the step itself makes (activations, gradients) takes it{kept}; the largest piece is {_what(largest)}.{far}",
        f"# {largest['shape']} grows with the batch of a replica, or with the length or side that its dimensions show: make that smaller first\n"
        "block = tf.recompute_grad(block)                      # jax.checkpoint: recompute in place of keeping\n"
        'keras.mixed_precision.set_global_policy("mixed_bfloat16")      # half of what is f32',
    )


def _many_times(times: float) -> Reading:
    """A program that is far too large."""
    return Reading(
        f"The program wants {times:.1f} times the memory that there is: half the batch is not enough. Where smaller inputs ran before it,"
        " one input is larger than the others (a volume, an image, a sequence of another size), for which the step was compiled anew.",
        "print(dataset.element_spec)                           # every size a number? crop or pad all inputs to one size\n"
        "x = x[:, :DEPTH, :HEIGHT, :WIDTH]                     # patches in place of whole volumes; then the batch",
    )


def _what(largest: re.Match[str]) -> str:
    """An allocation in words."""
    name = _NAME.search(largest["named"])
    of = f" of {name['name']}" if name else ""
    return f"{largest['shape']}{of} ({largest['size']}{largest['size_unit']})"


def _ratio(values: dict[str, str]) -> float:
    """How many times the memory that is there is wanted; 0 where the text does not say."""
    used, limit = (_amount(values.get(name, "")) for name in ("used", "limit"))
    return used / limit if limit else 0.0


def _bytes(found: re.Match[str] | None) -> int:
    """The bytes of a size that was found; 0 for none."""
    return _amount(found["size"] + found["size_unit"]) if found else 0


def _amount(text: str) -> int:
    """Bytes of `8.83G`; 0 where it is no size."""
    told = re.fullmatch(r"([\d.]{1,12}?)\.?([KMGT]?)B?", text, re.IGNORECASE)
    if told is None or not re.fullmatch(r"\d+(?:\.\d+)?", told[1]):
        return 0
    return int(float(told[1]) * (1 << _UNITS[told[2].upper()]))


def _giga(size: int) -> str:
    """Bytes in GiB, as the runtime writes them."""
    return f"{size / (1 << 30):.2f}G"
