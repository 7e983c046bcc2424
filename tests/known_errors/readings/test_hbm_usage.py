"""What fills the TPU's memory: padding, what is kept, pieces between, one tensor, all of it."""

import pytest

from tpudiag.known_errors.search import match

HEAD = (
    "RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm. Used {used} of 15.48G hbm."
    " Exceeded hbm capacity by 3.10G.\n\n"
)
LIST = """\
Total hbm usage >= 18.58G:
    reserved        530.00M
    program            17.1G
    arguments        950.00M (99.9% utilization)

Program hbm requirement 17.1G:
    HLO temp           17.1G (90.0% utilization, 1.0% fragmentation (6.10G))

  Largest program allocations in hbm:

  1. Size: 6.00G
     Operator: op_name="attention/softmax"
     Shape: f32[64,12,1024,1024]{3,2,1,0}
     Unpadded size: 6.00G
"""
PADDING = "     Extra memory due to padding: 5.70G (21.3x expansion)\n"


def message(used: str = "18.58G", tail: str = "") -> str:
    """What is answered for a program that does not fit."""
    best = match(HEAD.format(used=used) + tail)[0]
    assert best.error.family == "hbm-at-compile-time"
    return f"{best.message}\n{best.fix}"


@pytest.mark.parametrize(
    ("tail", "told"),
    [
        ("", "not the weights; the largest piece is f32[64,12,1024,1024]"),
        ("", "of attention/softmax (6.00G)"),
        (PADDING, "21.3 times its content"),
    ],
)
def test_list_decides_what_fills_it(tail: str, told: str) -> None:
    assert told in message(tail=LIST + tail)


def test_a_step_in_bfloat16_is_not_told_to_take_it() -> None:
    assert message(tail=LIST).count("half of what is f32") == 1
    assert "half of what is f32" not in message(tail=LIST.replace("f32[", "bf16["))


@pytest.mark.parametrize(("type_", "said"), [("f32", "22.0 GiB, and 16.0"), ("s32", "gather")])
def test_one_piece_is_told_with_its_size_and_what_it_is_of(type_: str, said: str) -> None:
    sizes = "(size=23622320128) would exceed memory (size=17179869184)"
    best = match(f"Allocation {sizes} :: #a [shape = '{type_}[8,96,1024]{{2,1,0}}', space=hbm]")[0]
    assert said in best.message


def test_many_times_too_large_is_told_from_a_little() -> None:
    assert "3.9 times the memory" in message("60.00G")
    assert "times the memory" not in message("18.58G")


RESERVE = (
    "Attempting to reserve {asked} at the bottom of memory. That was not possible."
    " There are {free} free, 0B reserved, and {piece} reservable."
)


@pytest.mark.parametrize(
    ("asked", "free", "piece", "told"),
    [
        ("6.48G", "6.78G", "3.33G", "but in pieces: the largest has 3.33G"),
        ("5.20G", "4.90G", "4.90G", "Only 4.90G are free beside"),
    ],
)
def test_full_is_told_from_scattered(asked: str, free: str, piece: str, told: str) -> None:
    best = match(RESERVE.format(asked=asked, free=free, piece=piece))[0]
    assert told in best.message
