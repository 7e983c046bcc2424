"""Where a hook on an inherited method is put."""

from __future__ import annotations

from tpudiag.sources.job.tensorflow.points import hooks


class Trainer:
    def compile(self) -> str:
        return "compiled"


class Model(Trainer):
    pass


def test_a_hook_on_an_inherited_method_leaves_it_inherited() -> None:
    calls: list[object] = []
    hooks.after(hooks.definer(Model, "compile"), "compile", calls.append)
    assert Model.compile is Trainer.compile
    assert Model().compile() == "compiled"
    assert len(calls) == 1
