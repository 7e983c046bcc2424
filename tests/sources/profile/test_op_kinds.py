import pytest

from tpudiag.sources.profile.op_kinds import opcode, part_of

HOST = "f32[5,256]{1,0:T(8,128)S(5)}"
HBM = "f32[5,256]{1,0:T(8,128)}"
COPY = f"%copy-done.4 = {HBM} copy-done(({HBM}, {HOST}, u32[]{{:S(2)}}) %copy-start.4)"


@pytest.mark.parametrize(
    ("name", "category", "text", "part"),
    [
        ("async-collective-start.3", "custom fusion", "", "collectives"),
        ("async-collective-done.9", "custom fusion", f"%a = {HBM} fusion({HBM} %b)", "collectives"),
        ("fusion.12", "custom fusion", "", None),
        (
            "fusion.6",
            "custom fusion",
            f"%fusion.6 = {HBM} fusion({HBM} %a), kind=kCustom, calls=%all-reduce-scatter.7.clone",
            "collectives",
        ),
        ("fusion.7", "loop fusion", f"%f = {HBM} fusion({HBM} %async-collective-done.2)", None),
        ("fusion.5", "all-reduce-scatter fusion", "", "collectives"),
        ("ragged-all-to-all.1", "ragged-all-to-all", "", "collectives"),
        ("ragged-all-to-all.1", "custom-call", "", "collectives"),
        ("all-gather-start.1", "async-start", "", "collectives"),
        ("send.3", "send", f"%send.3 = ({HBM}) send({HBM} %a), channel_id=2", "collectives"),
        ("recv-done.3", "recv-done", "", "collectives"),
        ("send.4", "host send", "", "output"),
        ("send.5", "send", "%s = () send(f32[] %a), is_host_transfer=true", "output"),
        ("megascale.7", "megascale", "", "collectives"),
        ("all-reduce_multiply_fusion", "loop fusion", "", None),
        ("copy-done.4", "copy-done", COPY, "host memory"),
        ("copy-done.5", "copy-done", COPY.replace("S(5)", "S(1)"), None),
        ("copy-done.6", "copy-done", "copy-done.6", "not measured"),
        ("slice-done.1", "", "", "not measured"),
        ("copy.6", "copy", "copy.6", None),
        ("while.1", "while", f"%while.1 = ({HOST}) while(({HOST}) %t)", None),
        (
            "dynamic-update-slice.3",
            "dynamic-update-slice",
            f"%d = {HOST} dynamic-update-slice({HOST} %a, {HBM} %b)",
            "host memory",
        ),
        ("infeed.1", "infeed", "", "infeed"),
        ("outfeed.1", "outfeed", "", "output"),
    ],
)
def test_category_name_and_opcode_decide_together(
    name: str, category: str, text: str, part: str | None
) -> None:
    assert part_of(name, category, text) == part


def test_the_opcode_stands_behind_the_shape() -> None:
    assert opcode(COPY) == "copy-done"
    assert opcode("no instruction") == ""
