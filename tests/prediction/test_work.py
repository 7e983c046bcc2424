"""What real programs have to do."""

import pytest

from tests.prediction import programs
from tpudiag.prediction.instructions import OpenLoop, work_of
from tpudiag.prediction.module import parse
from tpudiag.prediction.work import Kind, collective_bytes_of, flops_of, hbm_bytes_of

STACK = """\
HloModule stack

ENTRY %main (a: f32[16,512,1024], b: f32[1,512,1024]) -> f32[16,512,1024] {
  %a = f32[16,512,1024]{LAYOUT:T(8,128)} parameter(0)
  %b = f32[1,512,1024]{LAYOUT:T(8,128)} parameter(1)
  %c = s32[]{:T(128)} parameter(2)
  ROOT %put = f32[16,512,1024]{LAYOUT:T(8,128)} dynamic-update-slice(%a, %b, %c, %c, %c)
}
"""
LOOP = """\
HloModule loop

%body (p: (s32[], f32[512,1024])) -> (s32[], f32[512,1024]) {
  %p = (s32[], f32[512,1024]{1,0:T(8,128)}) parameter(0)
  %x = f32[512,1024]{1,0:T(8,128)} get-tuple-element(%p), index=1
  %y = f32[512,1024]{1,0:T(8,128)} add(%x, %x)
  ROOT %t = (s32[], f32[512,1024]{1,0:T(8,128)}) tuple(%p, %y)
}

%condition (p: (s32[], f32[512,1024])) -> pred[] {
  %p.1 = (s32[], f32[512,1024]{1,0:T(8,128)}) parameter(0)
  LIMIT
  ROOT %less = pred[] compare(%p.1, %n), direction=LT
}

ENTRY %main (a: (s32[], f32[512,1024])) -> (s32[], f32[512,1024]) {
  %a = (s32[], f32[512,1024]{1,0:T(8,128)}) parameter(0)
  ROOT %w = (s32[], f32[512,1024]{1,0:T(8,128)}) while(%a), condition=%condition, body=%body
}
"""


def test_an_lstm_multiplies_in_each_of_its_steps() -> None:
    forward = 2 * 128 * (64 + 256) * 1024 * 40
    back_in_time = 2 * 128 * 256 * 1024 * 40
    assert flops_of(programs.work("lstm-v5e")) == pytest.approx(
        2 * forward + back_in_time, rel=0.03
    )


def test_a_convolution_is_multiplied_forward_and_for_its_kernel() -> None:
    forward = 2 * 64 * 32 * 32 * 64 * 64 * 9
    assert flops_of(programs.work("conv-v3")) == pytest.approx(2 * forward, rel=0.06)


def test_gradients_cross_the_links_once() -> None:
    parameters = 3 * 3 * 64 * 64 + 3 * 64 + 64 * 10
    sent = collective_bytes_of(programs.work("conv-v3"))
    assert sent == pytest.approx(4 * parameters, rel=0.02)
    (all_reduce,) = (w for w in programs.work("conv-v3") if w.kind is Kind.COLLECTIVE)
    assert (all_reduce.collective, all_reduce.members) == ("all-reduce", 8)


def test_adam_reads_and_writes_the_embedding_and_its_moments() -> None:
    table = 50_000 * 128 * 4
    assert hbm_bytes_of(programs.work("embedding-v5e")) > 7 * table


def test_an_update_in_place_counts_the_part_alone() -> None:
    (whole_tiles,) = work_of(parse(STACK.replace("LAYOUT", "2,1,0")))
    assert whole_tiles.hbm_bytes == 2 * 512 * 1024 * 4
    assert whole_tiles.strided_bytes == 0


def test_an_update_of_one_row_in_each_tile_is_strided() -> None:
    (cut,) = work_of(parse(STACK.replace("LAYOUT", "2,0,1")))
    assert cut.strided_bytes == 512 * 1024 * 4


def test_a_loop_is_counted_as_often_as_it_runs() -> None:
    counted = parse(LOOP.replace("LIMIT", "%n = s32[]{:T(128)} constant(7)"))
    (add,) = work_of(counted)
    assert (add.trips, add.hbm_bytes) == (7, 3 * 512 * 1024 * 4 - 512 * 1024 * 4)


def test_a_loop_of_unknown_length_is_said() -> None:
    with pytest.raises(OpenLoop):
        work_of(parse(LOOP.replace("LIMIT", "%n = s32[] get-tuple-element(%p.1), index=0")))


CARRIED = """\
HloModule carried

%body (p: (s32[], s32[], f32[512,1024])) -> (s32[], s32[], f32[512,1024]) {
  %p = (s32[], s32[], f32[512,1024]{1,0:T(8,128)}) parameter(0)
  %x = f32[512,1024]{1,0:T(8,128)} get-tuple-element(%p), index=2
  ROOT %y = f32[512,1024]{1,0:T(8,128)} negate(%x)
}

%condition (p: (s32[], s32[], f32[512,1024])) -> pred[] {
  %p.1 = (s32[], s32[], f32[512,1024]{1,0:T(8,128)}) parameter(0)
  %i = s32[] get-tuple-element(%p.1), index=0
  %n = s32[] get-tuple-element(%p.1), index=1
  ROOT %less = pred[] compare(%i, %n), direction=LT
}

ENTRY %main (x: f32[512,1024]) -> f32[512,1024] {
  %zero = s32[]{:T(128)} constant(0)
  %limit = s32[]{:T(128)} constant(12)
  %held = s32[]{:T(128)} copy(%limit)
  %x.1 = f32[512,1024]{1,0:T(8,128)} parameter(0)
  %start = (s32[], s32[], f32[512,1024]{1,0:T(8,128)}) tuple(%zero, %held, %x.1)
  ROOT %w = (s32[], s32[], f32[512,1024]{1,0:T(8,128)}) while(%start), condition=%condition, body=%body
}
"""  # noqa: E501


def test_a_limit_that_the_loop_carries_is_looked_for_in_its_start() -> None:
    negate = next(w for w in work_of(parse(CARRIED)) if w.hbm_bytes > 4096)
    assert negate.trips == 12


def test_the_shorter_of_two_limits_ends_a_loop() -> None:
    both = "%n = s32[] constant(2147483647)\n  %m = s32[] constant(80)"
    (add,) = work_of(parse(LOOP.replace("LIMIT", both)))
    assert add.trips == 80


def test_the_loop_of_a_gradient_runs_as_often_as_the_one_before_it_counted() -> None:
    kind = "(s32[], s32[], f32[512,1024]{1,0:T(8,128)})"
    back = (
        f"%first = {kind} while(%start), condition=%condition, body=%body\n"
        "  %counted = s32[] get-tuple-element(%first), index=0\n"
        f"  %again = {kind} tuple(%zero, %counted, %x.1)\n"
        f"  ROOT %w = {kind} while(%again), condition=%condition, body=%body"
    )
    program = CARRIED[: CARRIED.index("  ROOT %w")] + "  " + back + "\n}\n"
    assert [w.trips for w in work_of(parse(program)) if w.hbm_bytes > 4096] == [12, 12]


@pytest.mark.parametrize(
    ("groups", "members"),
    [
        ("{{0,1,2,3},{4,5,6,7}}", 4),
        ("[2,4]<=[8]", 4),
        ("mesh['axis_0'=256] {'axis_0'}", 256),
        ("mesh['x'=16,'y'=8] {'y'}", 8),
        ("mesh['x'=16,'y'=8] {'x','y'}", 128),
        ("mesh['x'=16] {'x':(2)4}", 4),
    ],
)
def test_the_devices_of_a_collective_are_told_in_several_ways(groups: str, members: int) -> None:
    program = f"""\
HloModule sum

ENTRY %main (a: f32[8,128]) -> f32[8,128] {{
  %a = f32[8,128]{{1,0:T(8,128)}} parameter(0)
  ROOT %r = f32[8,128]{{1,0:T(8,128)}} all-reduce(%a), replica_groups={groups}, to_apply=%add
}}
"""
    (work,) = work_of(parse(program))
    assert (work.members, work.collective) == (members, "all-reduce")


MOVED = """\
HloModule moved

ENTRY %main (a: f32[512,1024]) -> f32[512,1024] {
  %a = f32[512,1024]{1,0:T(8,128)} parameter(0)
  %logits = f32[512,1024]{1,0:T(8,128)S(1)} add(%a, %a), metadata={op_name="dense/BiasAdd"}
  %as = f32[512,1024]{1,0:T(8,128)S(1)} bitcast(%logits)
  %out = (f32[512,1024]{1,0:T(8,128)}, f32[512,1024]{1,0:T(8,128)S(1)}, u32[]) copy-start(%as)
  %in = (f32[512,1024]{1,0:T(8,128)S(1)}, f32[512,1024]{1,0:T(8,128)}, u32[]) copy-start(%a)
  ROOT %done = f32[512,1024]{1,0:T(8,128)} copy-done(%out)
}
"""


def test_a_move_between_memories_is_of_what_made_the_array() -> None:
    moves = {each.name: each for each in work_of(parse(MOVED)) if each.kind is Kind.PREFETCH}
    assert moves["out"].op_name == "dense/BiasAdd"
    assert moves["out"].hbm_bytes == 512 * 1024 * 4
    assert moves["in"].op_name == "", "an argument is of no operation"
