"""Programs from their text."""

from tests.prediction import programs
from tpudiag.prediction.module import instruction_of, parse


def test_an_instruction_with_a_tuple_for_its_type() -> None:
    line = (
        "  ROOT %pair.1 = (f32[8]{0:T(256)}, /*index=1*/s32[]) fusion(%a.1, %b), kind=kLoop, "
        'calls=%inner, metadata={op_name="dense/MatMul"}, '
        'backend_config={"window_config":{"estimated_cycles":"12"}}'
    )
    instruction = instruction_of(line)
    assert instruction is not None
    assert (instruction.root, instruction.opcode, instruction.operands) == (
        True,
        "fusion",
        ("a.1", "b"),
    )
    assert (instruction.cycles, instruction.op_name) == (12, "dense/MatMul")
    assert instruction.called("calls") == "inner"


def test_lines_that_are_no_instruction_are_none() -> None:
    assert instruction_of("}") is None
    assert instruction_of("  // %a = comment") is None


def test_the_entry_is_found_among_the_computations() -> None:
    module = programs.module("conv-v3")
    assert module.entry.startswith("main")
    assert module.instructions("no-such-computation") == ()


def test_a_kernel_whose_attributes_run_over_several_lines_is_one_instruction() -> None:
    text = """\
HloModule kernel

ENTRY %main (a: f32[8,128]) -> f32[8,128] {
  %a = f32[8,128]{1,0:T(8,128)} parameter(0)
  %k.1 = f32[8,128]{1,0:T(8,128)} custom-call(%a), custom_call_target="tpu_custom_call", of={
"block": 512
}, metadata={op_name="attention"}, backend_config={"cost_estimate":{"flops":"7"}}
  ROOT %c = f32[8,128]{1,0:T(8,128)} copy(%k.1)
}
"""
    module = parse(text)
    _, kernel, last = module.instructions(module.entry)
    assert (kernel.op_name, kernel.operands) == ("attention", ("a",))
    assert '"flops":"7"' in kernel.rest
    assert last.opcode == "copy"
