"""Plain functions that are replaced under all their names."""

from __future__ import annotations

from typing import Any

from tpudiag.sources.job.tensorflow.fake_data import functions


def load_data(path: str = "mnist", *, times: int = 1) -> str:
    """What Keras has under several names."""
    return f"downloaded {path}" * times


def test_whoever_imported_it_gets_the_stand_in() -> None:
    imported_before = load_data

    def stand_in(original: Any, *args: Any, **kwargs: Any) -> Any:
        if "really" in args:
            return original(*args, **kwargs)
        return "stood in"

    functions.replace(load_data, stand_in)
    assert load_data() == imported_before("x", times=2) == "stood in"
    assert load_data("really", times=2) == "downloaded really" * 2


def test_what_cannot_be_replaced_is_left_as_it_is() -> None:
    text = "closed over"

    def closure() -> str:
        return text

    functions.replace(closure, lambda *_: "stood in")
    functions.replace(len, lambda *_: "stood in")
    assert closure() == "closed over" and len("ab") == 2
