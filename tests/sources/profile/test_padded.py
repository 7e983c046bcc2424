"""Tensors that the tiles of their layout pad."""

from types import SimpleNamespace
from typing import Any

from tpudiag.sources.profile.operations import padded


def ops(**texts: str) -> Any:
    return {
        ("", name): SimpleNamespace(description=SimpleNamespace(text=f"%{name} = {text} fusion()"))
        for name, text in texts.items()
    }


def test_what_tiles_add_and_in_which_order() -> None:
    tensors = padded(
        ops(
            narrow="f32[1024,8]{1,0:T(8,128)}",
            turned="f32[8,1024]{0,1:T(8,128)}",
            half="bf16[10,130]{1,0:T(8,128)(2,1)}",
            fits="f32[1024,128]{1,0:T(8,128)}",
        )
    )
    sizes = {each.name: (each.logical_bytes, each.padded_bytes) for each in tensors}
    assert sizes["narrow"] == (1024 * 8 * 4, 1024 * 128 * 4)
    assert sizes["turned"] == sizes["narrow"], "the layout's order counts, not the shape's"
    assert sizes["half"] == (10 * 130 * 2, 16 * 256 * 2)
    assert sizes["fits"][0] == sizes["fits"][1]
    assert tensors[-1].name == "fits", "what is lost most comes first"


def test_what_has_no_tiles_in_hbm() -> None:
    assert not padded(
        ops(
            scalar="f32[]{:T(128)}",
            untiled="f32[1024,8]{1,0}",
            in_vmem="f32[1024,8]{1,0:T(8,128)S(1)}",
            odd="f32[1024,8]{1,1:T(8,128)}",
            token="token[]",
        )
    )
