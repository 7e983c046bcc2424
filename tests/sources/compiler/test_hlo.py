"""Optimised HLO as the TPU compiler prints it."""

import pytest

from tpudiag.compiled import Program
from tpudiag.sources.compiler import hlo, stablehlo

MODULE = """\
HloModule step, is_scheduled=true, entry_computation_layout={(f32[8]{0:T(256)})->f32[8]{0:T(256)}}

%fused_computation (param_0.1: f32[8192,8]) -> f32[8192,8] {
  %param_0.1 = f32[8192,8]{1,0:T(8,128)} parameter(0)
  ROOT %add.1 = f32[8192,8]{1,0:T(8,128)} add(%param_0.1, %param_0.1), backend_config={"window_config":{"estimated_cycles":"999"}}
}

%body (arg: (s32[], f32[8192,8])) -> (s32[], f32[8192,8]) {
  %arg = (s32[]{:T(128)}, f32[8192,8]{1,0:T(8,128)}) parameter(0)
  %inner = f32[8192,8]{1,0:T(8,128)} fusion(%arg), kind=kLoop, calls=%fused_computation, backend_config={"window_config":{"estimated_cycles":"10"}}
  ROOT %tuple.9 = (s32[]{:T(128)}, f32[8192,8]{1,0:T(8,128)}) tuple(%arg, %inner)
}

%cond (arg.1: (s32[], f32[8192,8])) -> pred[] {
  ROOT %compare = pred[]{:T(256)} compare(%arg.1), direction=LT, backend_config={"window_config":{"estimated_cycles":"1"}}
}

ENTRY %main.1 (XLA_Args.1: f32[8192,8], XLA_Args.2: bf16[64,3]) -> f32[8192,8] {
  %XLA_Args.1 = f32[8192,8]{1,0:T(8,128)} parameter(0), metadata={op_name="XLA_Args"}
  %XLA_Args.2 = bf16[64,3]{1,0:T(8,128)(2,1)S(1)} parameter(1), metadata={op_name="XLA_Args"}
  %fusion.4 = f32[8192,128]{1,0:T(8,128)} fusion(%XLA_Args.1), kind=kOutput, calls=%fused_computation, metadata={op_name="dense/MatMul"}, backend_config={"window_config":{"estimated_cycles":"100"},"convolution_algorithm_config":{"emitter":"E"}}
  %fusion.4.remat2 = f32[8192,128]{1,0:T(8,128)} fusion(%XLA_Args.1), kind=kOutput, calls=%fused_computation, metadata={op_name="dense/MatMul"}, backend_config={"window_config":{"estimated_cycles":"50"}}
  %while.1 = (s32[]{:T(128)}, f32[8192,8]{1,0:T(8,128)}) while(%fusion.4), condition=%cond, body=%body, backend_config={"known_trip_count":{"n":"7"}}
  %all-reduce.4 = (f32[784,128]{1,0:T(8,128)S(1)}, f32[10]{0:T(128)}) all-reduce(%fusion.4, %while.1), replica_groups={{0,1}}, to_apply=%cond, metadata={op_name="adam/XlaAllReduce"}
  ROOT %result = f32[8192,8]{1,0:T(8,128)} get-tuple-element(%while.1), index=1
}
"""  # noqa: E501


def program(text: str) -> Program:
    made = hlo.read(text)
    assert made is not None
    return made


CALLED = "call(%arg), to_apply=%body"
CALLS_ITSELF = MODULE.replace("fusion(%arg), kind=kLoop, calls=%fused_computation", CALLED)
TWICE = "".join(
    f"%c{n} (a: f32[]) -> f32[] {{\n  %x = f32[] call(), to_apply=%c{n + 1}\n"
    f"  ROOT %y = f32[] call(), to_apply=%c{n + 1}\n}}\n"
    for n in range(60)
)
CALLS_TWICE = (
    f"{TWICE}ENTRY %main (a: f32[]) -> f32[] {{\n  ROOT %z = f32[] call(), to_apply=%c0\n}}\n"
)
CONVOLVES = """\
ENTRY %main (a: f32[8,9]) -> f32[8,9] {
  %a = f32[1,99999999999,3] parameter(0)
  %k = f32[99999999999,3,3] parameter(1)
  ROOT %c = f32[1,99999999999,3] convolution(%a, %k), window={size=9}, dim_labels=b0f_0io->b0f
}
"""
SMALL = CONVOLVES.replace("99999999999", "64")


@pytest.mark.parametrize(
    "text",
    [
        CALLS_ITSELF,
        CALLS_TWICE,
        CONVOLVES,
        SMALL.replace("window={size", "window={rhs_dilate=0 size"),
        SMALL.replace("b0f_0io->b0f", "b0f_0xy->b0f"),
        MODULE.replace("8192", "9" * 5000),
        MODULE.replace('"n":"7"', f'"n":"{"7" * 5000}"'),
    ],
    ids=["calls itself", "calls twice", "convolves", "stride", "labels", "sizes", "trips"],
)
def test_a_program_in_no_known_form_tells_nothing(text: str) -> None:
    assert hlo.read(text) is None


def test_a_small_convolution_is_read() -> None:
    assert hlo.read(SMALL) is not None


def test_cycles_count_loops_and_leave_out_the_inside_of_fusions() -> None:
    assert program(MODULE).cycles == 100 + 50 + 7 * (10 + 1)


def test_a_loop_of_unknown_length_has_no_cycles() -> None:
    open_ended = MODULE.replace(', backend_config={"known_trip_count":{"n":"7"}}', "")
    assert program(open_ended).cycles is None


def test_recomputed_operations_are_named() -> None:
    made = program(MODULE)
    assert made.recomputed == ("fusion.4.remat2",)
    assert made.recomputed_cycles == 50


def test_collectives_are_counted_with_their_bytes() -> None:
    (collective,) = program(MODULE).collectives
    assert (collective.kind, collective.count) == ("all-reduce", 1)
    assert collective.bytes == (784 * 128 + 10) * 4


def test_padding_is_of_tensors_in_hbm_worst_first() -> None:
    padded = program(MODULE).padded
    assert padded[0].logical_bytes == 8192 * 8 * 4
    assert padded[0].padded_bytes == 8192 * 128 * 4
    assert {tensor.name for tensor in padded} == {"argument 0", "inner", "adam/XlaAllReduce"}


LOWERED = """\
#loc1 = loc("dense/MatMul")
module @step attributes {} {
  func.func @main(%arg0: tensor<64x784xf32> loc("XLA_Args")) -> tensor<64x128xf32> {
    %0 = stablehlo.reshape %arg0 : (tensor<64x784xf32>) -> tensor<64x784xf32> loc(#loc3)
    %1 = stablehlo.dot %0, %0 : (tensor<64x784xf32>, tensor<784x128xf32>) -> tensor<64x128xf32> loc(#loc3)
    %2 = stablehlo.add %1, %1 : tensor<64x128xbf16> loc(#loc2)
    return %1 : tensor<64x128xf32> loc(#loc)
  }
}
#loc2 = loc("add")
#loc3 = loc(fused[#loc1, #loc2])
"""  # noqa: E501


def test_the_largest_results_bear_the_names_of_their_operations() -> None:
    found = [(t.name, t.shape, t.logical_bytes) for t in stablehlo.largest(LOWERED)]
    assert found == [
        ("dense/MatMul", "f32[64,128]", 64 * 128 * 4),
        ("add", "bf16[64,128]", 64 * 128 * 2),
    ]


def test_a_dynamic_dimension_is_found_where_it_is_made() -> None:
    assert stablehlo.dynamic(LOWERED) == ()
    bounded = LOWERED.replace(
        "-> tensor<64x128xf32> loc(#loc3)",
        "-> tensor<?x128xf32, #stablehlo.bounds<64, ?>> loc(#loc3)",
    )
    (operation,) = stablehlo.dynamic(bounded)
    assert operation.name == "dense/MatMul"
    assert "?,128" in operation.kind
