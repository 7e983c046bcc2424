"""The report on a step that was not lowered, and the kept part of a compiler's message."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest

from tests.prediction.programs import PLAIN
from tpudiag import hardware
from tpudiag.compiled import Compilation, CompilerFacts, HbmTensor, LoweredStep, RefusedOp
from tpudiag.prediction.work import Kind, Work
from tpudiag.sources.compiler import compile_step, libtpu_process
from tpudiag.sources.job.process.protocol import LOWERING

V5E = hardware.target("v5e-8")
LONG = "Trying to access resource " + "of another replica " * 30


def asked(lowered: LoweredStep) -> CompilerFacts:
    request = compile_step.CompilerRequest(python=sys.executable, timeout_s=1.0)
    with compile_step.StepCompilation(hardware.target("v5e-8"), request) as compilation:
        return compilation.of_steps((lowered,), lambda _: None)


def test_only_a_step_with_a_refused_operation_is_sent_to_the_checks_of_it() -> None:
    refused = asked(
        LoweredStep(batch=8, replicas=8, error="no", refused_ops=(RefusedOp("AsString", "a"),))
    )
    assert refused.reason == "the step does not lower to XLA: AsString"
    assert refused.how is not None and "TPU103" in refused.how
    other = asked(LoweredStep(batch=8, replicas=8, error=LONG))
    assert other.how == "run one step on the TPU"


def test_a_long_message_ends_with_a_whole_word() -> None:
    line = compile_step.first_line(f"\n{LONG}\nsecond")
    assert line.endswith("replica ...") or line.endswith(("of ...", "another ..."))
    assert len(line) <= compile_step.LONGEST + len(" ...")
    assert compile_step.first_line("short\nsecond") == "short"
    assert (
        compile_step.first_line("Unable to parse:\n  <unknown>:3") == "Unable to parse: <unknown>:3"
    )
    assert compile_step.first_line(" \n") == compile_step.first_line(None) == "it said nothing"


@pytest.mark.parametrize(
    ("taken", "name"),
    [
        ("%arg0: tensor<8xf32>, %arg1: tensor<8xf32>", "kernel"),
        ("%arg0: tensor<8xf32>", "argument 1"),
    ],
    ids=["all arguments", "one was dropped"],
)
def test_lines_of_keras_fill_those_of_stacks_and_lead_in_the_table(
    tmp_path: Path, taken: str, name: str
) -> None:
    places: dict[str, object] = {
        "operations": {"dense/MatMul": "train.py:9"},
        "layers": {"dense/MatMul": "train.py:3", "add": "train.py:4"},
        "arguments": ["input 0", "kernel"],
    }
    file = tmp_path / "step.locations.json"
    file.write_text(json.dumps(places))
    (tmp_path / "step.mlir").write_text(f"module {{\n  func.func @main({taken}) -> (f32) {{\n")
    work = tuple(
        Work(name="f", kind=Kind.PRODUCT, trips=1, op_name=n) for n in ("dense/MatMul", "add")
    )
    made_by = ("dense/MatMul", "add", "argument 1")
    padded = tuple(HbmTensor(each, "f32[8]", 32, 4096) for each in made_by)
    program = replace(PLAIN, padded=padded, work=work)
    made = replace(Compiler().compile(LoweredStep(batch=8, replicas=8), V5E), program=program)
    lowered = str(tmp_path / "step.hlo")
    step = LoweredStep(batch=8, replicas=8, path=lowered, locations_path=str(file))
    found = compile_step.located(made, step)
    assert found.lines == {"dense/MatMul": "train.py:3", "add": "train.py:4"}
    assert found.program is not None
    *operations, argument = found.program.padded
    assert [str(tensor.location) for tensor in operations] == ["train.py:9", "train.py:4"]
    assert argument.name == name, "names in an order that is not known are none"


class Compiler:
    """One that answers at once, and records its requests."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def prepare(self, target: hardware.Target) -> None:
        self.asked.append(f"prepared for {target.name}")

    def compile(self, step: LoweredStep, target: hardware.Target) -> Compilation:
        if step.batch == 1:
            raise KeyboardInterrupt
        self.asked.append(f"compiled {step.batch}")
        return Compilation(
            target=target.name,
            batch=step.batch,
            replicas=8,
            compiler="fake",
            usable_bytes=2**34,
            compiled=True,
            temporary_bytes=2**34,
        )

    def stop(self) -> None:
        self.asked.append("stopped")


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Compiler:
    compiler = Compiler()
    installed = libtpu_process.Installed("", "fake")
    monkeypatch.setattr(libtpu_process, "find", Mock(return_value=installed))
    monkeypatch.setattr(libtpu_process, "Compiler", Mock(return_value=compiler))
    return compiler


def fact(batch: int) -> dict[str, object]:
    return {"lowered": [{"batch": batch, "replicas": 8, "path": "/step.mlir"}]}


def compilation() -> compile_step.StepCompilation:
    request = compile_step.CompilerRequest(timeout_s=1.0)
    return compile_step.StepCompilation(hardware.target("v5e-8"), request)


def test_a_step_is_compiled_once_and_from_when_it_is_lowered(fake: Compiler) -> None:
    with compilation() as own:
        own.heard({"phase": "measuring the input pipeline"})
        own.heard({"phase": LOWERING})
        own.heard(fact(32))
        own.heard(fact(32))
        found = own.of_job(fact(32), False, lambda _: None)
    assert found.step is not None and found.step.batch == 32
    assert fake.asked == ["prepared for v5e-8", "compiled 32", "stopped"]


def test_the_step_of_the_end_counts_and_no_other(fake: Compiler) -> None:
    with compilation() as own:
        own.heard({"phase": LOWERING})
        own.heard(fact(32))
        found = own.of_job(fact(64), False, lambda _: None)
    assert found.step is not None and found.step.batch == 64
    assert "compiled 64" in fake.asked


def test_nothing_is_loaded_beside_a_job_with_little_memory_left(
    fake: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compile_step, "available_bytes", Mock(return_value=2**30))
    with compilation() as own:
        own.heard({"phase": LOWERING})
        own.heard(fact(32))
        assert fake.asked == []
        assert own.of_job(fact(32), False, lambda _: None).step is not None


def test_a_job_that_was_interrupted_is_not_waited_for(fake: Compiler) -> None:
    with compilation() as own:
        own.heard({"phase": LOWERING})
        found = own.of_job({"phase": LOWERING}, True, lambda _: None)
        of_jax = own.of_job({"framework": "JAX"}, False, lambda _: None)
    assert found.reason == "the job was interrupted"
    assert of_jax.how is not None and "TPUStrategy" not in of_jax.how
    assert fake.asked[-1:] in ([], ["stopped"])


def test_the_step_that_was_compiled_before_ctrl_c_is_kept(fake: Compiler) -> None:
    steps = tuple(LoweredStep(batch=each, replicas=8, path="/step.mlir") for each in (8, 1))
    with compilation() as own:
        found = own.of_steps(steps, lambda _: None)
    assert found.step is not None and found.interrupted and fake.asked[1:2] == ["compiled 8"]
