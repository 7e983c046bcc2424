"""Each check that a profile can answer: once failed, once passed, with its own figure."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.sources.profile import spaces
from tpudiag.model import Outcome, Report, Severity, Verdict
from tpudiag.sources.profile.schema import message

GIB = 2**30
Op = tuple[str, str, float]


def outcome(found: Report, id_: str) -> Outcome:
    return next(o for o in found.outcomes if o.id == id_)


@pytest.fixture
def job(tmp_path: Path) -> Callable[..., Report]:
    """A job of one core: its ops, and how much of each 20 ms step no program runs."""

    def made(
        ops: Sequence[Op] = (("matmul.1", "convolution fusion", 15.0),),
        idle_ms: float = 0.0,
        about: dict[str, dict[str, Any]] | None = None,
        host: Callable[[Any], None] | None = None,
        steps: int = 10,
    ) -> Report:
        space = spaces.space("vm")
        # A trace that lost nothing holds operations for all of a program's time.
        whole = (*ops, ("fusion.99", "loop fusion", None))
        spans = [(50.0 + 20 * number, 20.0) for number in range(steps)]
        spaces.add_steps(space, 0, spans, whole, idle_ms=idle_ms, about=about or spaces.ABOUT)
        plane = spaces.Plane(space, "/host:CPU")
        if host is not None:
            host(plane)
        spaces.write(space, tmp_path)
        return spaces.report(tmp_path)

    return made


def on_host(**threads: Sequence[tuple[str, float, float]]) -> Callable[[Any], None]:
    """Events of each step on threads of the host: name, ms after the step began, ms."""
    starts = [50.0 + 20 * number for number in range(10)]
    return lambda plane: spaces.each_step(plane, starts, threads)


def failed(found: Outcome) -> str:
    assert found.verdict is Verdict.FAILED, found
    finding = found.findings[0]
    assert finding.fix
    assert any(evidence.limit is not None for evidence in finding.evidence)
    return finding.message


def test_a_healthy_job_passes_what_it_can(job: Callable[..., Report]) -> None:
    found = job()
    verdicts = {o.id: o.verdict for o in found.outcomes}
    passed = ("TPU106", "TPU302", "TPU403", "TPU406")
    assert {verdicts[id_] for id_ in passed} == {Verdict.PASSED}
    assert Verdict.FAILED not in verdicts.values()
    assert outcome(found, "TPU504").cause == "one replica exchanges nothing"
    assert verdicts["TPU201"] is Verdict.SKIPPED, "no iterator and no infeed was traced"
    assert verdicts["TPU301"] is Verdict.SKIPPED, "no allocation was traced"


@pytest.mark.parametrize("warm_ms", [6000.0, 20.0])
def test_warm_up_neither_hides_nor_feigns_a_cause(tmp_path: Path, warm_ms: float) -> None:
    made = spaces.space()
    marks = [("0", 50.0, warm_ms), *((str(n), 50 + warm_ms + 20 * n, 20.0) for n in range(20))]
    modules = [(f"cluster_train({spaces.PROGRAM})", end - 20, 20.0) for end in
               (at + ms for _, at, ms in marks)]  # fmt: skip
    ops = [("infeed.1", "infeed", at, 5.0) for _, at, _ in modules]
    ops += [("fusion.1", "loop fusion", at + 5, 15.0) for _, at, _ in modules]
    spaces.add_device(made, 0, modules, ops, marks)
    spaces.write(made, tmp_path)
    found = spaces.report(tmp_path)
    assert "waits 25% of its time" in failed(outcome(found, "TPU201"))
    assert outcome(found, "TPU406").verdict is Verdict.PASSED
    assert found.measurements["input_wait_share"].value == pytest.approx(25.0)
    assert found.measurements["steps"].value == 21
    assert found.measurements["step_time_max_ms"].value == pytest.approx(warm_ms)
    assert ("warm_up_steps" in found.measurements) is (warm_ms > 60)
    assert any(note.startswith("Warm-up: the first 1 step ") for note in found.notes) is (
        warm_ms > 60
    )


def test_a_device_that_runs_nothing_is_idle(tmp_path: Path) -> None:
    made = spaces.training(devices=3)
    spaces.add_device(made, 3, [])
    spaces.write(made, tmp_path)
    message = failed(outcome(spaces.report(tmp_path), "TPU406"))
    assert "1 of 4 devices ran nothing" in message
    assert "worker-0 /device:TPU:3" in message


def test_device_idle(job: Callable[..., Report]) -> None:
    found = job(idle_ms=4.0)
    assert "20% of the step" in failed(outcome(found, "TPU406"))
    assert outcome(found, "TPU406").findings[0].cost_ms_per_step == pytest.approx(4.0)
    assert "dispatched by itself" in failed(outcome(found, "TPU106"))


def test_low_mxu_but_not_where_hbm_binds(job: Callable[..., Report]) -> None:
    text = spaces.MATMUL
    small = {"matmul.1": {"text": text, "flops": 10**12, "bytes_accessed": 10**8}}
    assert "used 5% of its peak" in failed(outcome(job(about=small), "TPU405"))
    bound = {"matmul.1": {"text": text, "flops": 10**12, "bytes_accessed": 28 * 10**9}}
    said = outcome(job(about=bound), "TPU405")
    assert said.verdict is Verdict.SKIPPED
    assert "HBM bandwidth binds" in str(said.cause)


def test_float32_compute(job: Callable[..., Report]) -> None:
    wide = {"matmul.1": spaces.ABOUT["matmul.1"] | {"text": spaces.MATMUL.replace("bf16", "f32")}}
    assert "0% of the step's matrix work" in failed(outcome(job(about=wide), "TPU403"))


def test_recomputation(job: Callable[..., Report]) -> None:
    ops = [("fusion.7", "loop fusion", 9.0), ("fusion.7.remat2", "loop fusion", 6.0)]
    assert "30% of the devices' time" in failed(outcome(job(ops), "TPU303"))


def test_padding_waste(job: Callable[..., Report]) -> None:
    shape = "f32[1048576,8]{1,0:T(8,128)} fusion(f32[1048576,8] %a)"
    waste = {"matmul.1": spaces.ABOUT["matmul.1"] | {"text": shape.replace("1048576", "16777216")}}
    found = outcome(job(about=waste), "TPU302")
    assert "8.0 GiB for 512.0 MiB" in failed(found)
    assert found.findings[0].cost_bytes == 8 * GIB - GIB // 2
    slight = {"matmul.1": spaces.ABOUT["matmul.1"] | {"text": shape}}
    assert outcome(job(about=slight), "TPU302").verdict is Verdict.PASSED


def test_slow_host_to_device(job: Callable[..., Report]) -> None:
    host = on_host(main=[("tpu::System::TransferToDevice", 15.0, 3.0)])
    found = job(idle_ms=5.0, host=host)
    assert "waits 15% of its time for transfers" in failed(outcome(found, "TPU210"))
    assert outcome(found, "TPU406").verdict is Verdict.PASSED, "2 of 20 ms are nobody's: 10 %"


def test_input_is_split_into_processing_and_transfer(job: Callable[..., Report]) -> None:
    host = on_host(tf_data_get_next=[("IteratorGetNextOp::DoCompute", 0.0, 3.0)])
    ops = [("infeed.1", "infeed", 5.0), ("matmul.1", "convolution fusion", 15.0)]
    rows = {row[0]: row for row in job(ops, host=host).tables[0].rows}
    assert rows["input processing"][2] == pytest.approx(3)
    assert rows["input transfer"][2] == pytest.approx(2)


def test_the_op_that_blocks_the_input(job: Callable[..., Report]) -> None:
    root = "Iterator::Root::Prefetch"
    asks = ("IteratorGetNextOp::DoCompute", "Iterator::Root", root)
    works = (("", 8.0), ("::Map[7]", 7.0), ("::Map[7]::TensorSlice", 0.5))
    host = on_host(
        tf_data_get_next=[(name, 10.0, 8.0) for name in asks],
        tf_data_private=[(f"{root}::Batch{name}", 10.0, length) for name, length in works],
    )
    found = job(idle_ms=10.0, host=host)
    first, *others = next(t for t in found.tables if t.title.startswith("Input pipeline")).rows
    assert first[:2] == ("Map", "2 of 5")
    assert first[2] == pytest.approx(70.0)
    assert first[6] == "Iterator::Root::Prefetch::Batch::Map"
    assert {row[2] for row in others} == {0.0}
    said = outcome(found, "TPU201")
    assert "waits 40% of its time for input, mostly for Map: it works on one element" in failed(
        said
    )
    assert "num_parallel_calls" in said.findings[0].fix
    (blocked,) = (e for e in said.findings[0].evidence if e.name.startswith("waited for"))
    assert (blocked.name, blocked.value) == ("waited for Root::Prefetch::Batch::Map", 70.0)


def test_retracing_and_eager_ops(job: Callable[..., Report]) -> None:
    def host(plane: Any) -> None:
        line = plane.line("python")
        for number in range(10):
            start = 50.0 + 20 * number
            spaces.call(plane, line, ("train_step", start, 10.0), number in (3, 6, 8), 2 + number)
            plane.event(line, ("EagerLocalExecute: Mul", start + 11, 5.0))

    found = job(host=host)
    assert "train_step was traced 3 times in 10 calls" in failed(outcome(found, "TPU101"))
    assert "a profile does not tell which argument" in failed(outcome(found, "TPU101"))
    assert found.measurements["eager_share"].value == pytest.approx(100 * 50 / 196)


def test_host_callback(job: Callable[..., Report]) -> None:
    host = on_host(
        tf_Compute=[("ExecutorState::Process", 0.0, 4.0), ("model/py_func:EagerPyFunc", 0.0, 3.0)]
    )
    found = outcome(job(host=host), "TPU105")
    assert "model/py_func:EagerPyFunc calls back" in failed(found)
    assert found.findings[0].cost_ms_per_step == pytest.approx(3.0)


def test_python_of_the_input_pipeline_is_no_callback_of_the_step(
    job: Callable[..., Report],
) -> None:
    host = on_host(
        tf_Compute=[("ExecutorState::Process", 0.0, 4.0)],
        tf_data_private_threadpool=[("EagerPyFunc:EagerPyFunc", 0.0, 3.0)],
    )
    found = job(host=host)
    assert outcome(found, "TPU105").verdict is Verdict.PASSED
    said = outcome(found, "TPU207")
    assert said.verdict is Verdict.FAILED
    assert "EagerPyFunc 10 times, 30 ms" in said.findings[0].message
    calls = next(table for table in found.tables if table.title == "Calls back to the host")
    assert [row[:3] for row in calls.rows] == [("EagerPyFunc:EagerPyFunc", "input pipeline", 10)]


def test_steps_that_run_eagerly_show_their_ops(job: Callable[..., Report]) -> None:
    host = on_host(python=[("EagerLocalExecute: Mul", 0.0, 5.0)])
    found = job(host=host)
    assert found.measurements["eager_share"].value == pytest.approx(100 * 50 / 185)
    assert "take 27% of the trace" in failed(outcome(found, "TPU104"))
    assert outcome(found, "TPU104").severity is Severity.WARNING
    assert outcome(job(host=host, steps=0), "TPU104").verdict is Verdict.SKIPPED


def test_a_step_function_of_any_name_that_is_not_traced_again_passes(
    job: Callable[..., Report],
) -> None:
    def host(plane: Any) -> None:
        line = plane.line("python")
        for number in range(10):
            spaces.call(plane, line, ("update", 50.0 + 20 * number, 10.0), traced=False)

    assert outcome(job(host=host), "TPU101").verdict is Verdict.PASSED
    assert outcome(job(host=host, steps=0), "TPU101").verdict is Verdict.SKIPPED


@pytest.mark.parametrize(
    ("free", "steps", "verdict"),
    [(2, 10, "failed"), (14, 10, "passed"), (2, 0, "failed"), (14, 0, "skipped")],
)
def test_peak_memory_and_what_held_it(
    job: Callable[..., Report], free: int, steps: int, verdict: str
) -> None:
    def host(plane: Any) -> None:
        line = plane.line("main")

        def event(kind: str, at: float, used: int, size: int, address: int, op: str) -> None:
            made = plane.event(line, (kind, at, 0.0))
            for name, value in (
                ("bytes_reserved", 20 * GIB), ("bytes_allocated", used * GIB),
                ("bytes_available", (10 + free - used) * GIB), ("allocation_bytes", size * GIB),
                ("addr", address), ("index_on_host", 3),
            ):  # fmt: skip
                plane.stat(made, name, value)
            stat = made.stats.add(metadata_id=plane.stat_id("tf_op"))
            stat.ref_value = plane.stat_id(op)

        event("MemoryAllocation", 60, 4, 4, 111, "dense/MatMul")
        event("MemoryAllocation", 61, 10, 6, 222, "conv/Conv2D")
        event("MemoryDeallocation", 62, 4, 6, 222, "conv/Conv2D")
        event("MemoryAllocation", 63, 5, 1, 333, "late")

    found = job(host=host, steps=steps)
    (row,) = next(t for t in found.tables if t.title == "Peak memory").rows
    assert row[1:4] == ("device 3", 30.0, 30.0 + free)
    (memory,) = [series for series in found.series if series.kind == "memory"]
    assert memory.y == (24 * GIB, 30 * GIB, 24 * GIB, 25 * GIB), "reserved and allocated"
    assert memory.limit == (30 + free) * GIB
    held = next(t for t in found.tables if t.title.startswith("What held the highest peak"))
    assert [r[:2] for r in held.rows[:2]] == [
        ("programs' own (temporaries, stack)", 20.0), ("conv/Conv2D", 6.0),
    ]  # fmt: skip
    assert "late" not in {r[0] for r in held.rows}
    assert outcome(found, "TPU301").verdict.value == verdict


@pytest.mark.parametrize("allocator", ["host_bfc", "cpu"])
def test_a_full_hosts_memory_is_no_full_hbm(job: Callable[..., Report], allocator: str) -> None:
    def host(plane: Any) -> None:
        for name, used, free in (("", 8 * GIB, 24 * GIB), (allocator, 99 * GIB, 0)):
            event = plane.event(plane.line("main"), ("MemoryAllocation", 60, 0.0))
            plane.stat(event, "bytes_allocated", used)
            plane.stat(event, "bytes_available", free)
            if name:
                stat = event.stats.add(metadata_id=plane.stat_id("allocator_name"))
                stat.ref_value = plane.stat_id(name)

    found = job(host=host)
    assert outcome(found, "TPU301").verdict is Verdict.PASSED
    assert found.measurements["peak_memory_bytes"].value == 8 * GIB


def test_a_device_that_waits_for_a_trace_is_not_said_to_idle(job: Callable[..., Report]) -> None:
    def host(plane: Any) -> None:
        line = plane.line("python")
        for number in range(10):
            spaces.call(plane, line, ("train_step", 45.0 + 20 * number, 8.0), True, 2 + number)

    found = job(host=host, idle_ms=6.0)
    assert "was traced 10 times" in failed(outcome(found, "TPU101"))
    assert found.measurements["compilation_share"].value == pytest.approx(100 * 45 / 200)
    assert outcome(found, "TPU406").verdict is Verdict.PASSED


def test_collectives(tmp_path: Path) -> None:
    spaces.write(spaces.pod_host("a", compute_ms=12.0), tmp_path)
    found = outcome(spaces.report(tmp_path), "TPU504")
    assert "35% of the step" in failed(found)
    spaces.write(spaces.pod_host("a", compute_ms=18.5), tmp_path)
    assert outcome(spaces.report(tmp_path), "TPU504").verdict is Verdict.PASSED


def instruction(number: int, opcode: str, dims: Sequence[int], **fields: object) -> Any:
    """An instruction of an HLO that is made here."""
    made = {"name": f"{opcode}.{number}", "opcode": opcode, "id": number, **fields}
    return message("HloInstructionProto")(**made, shape={"element_type": 16, "dimensions": dims})


def dot(number: int, left: int, right: int, dims: Sequence[int], line: int) -> Any:
    return instruction(
        number,
        "dot",
        dims,
        operand_ids=[left, right],
        dot_dimension_numbers={"lhs_contracting_dimensions": [1]},
        metadata={"op_name": "model/dense/MatMul", "source_file": "model.py", "source_line": line},
    )


def test_feature_multiple_from_the_hlo(tmp_path: Path) -> None:
    instructions = (
        instruction(1, "parameter", (1024, 784)),
        instruction(2, "parameter", (784, 200)),
        dot(3, 1, 2, (1024, 200), 7),
        instruction(4, "parameter", (200, 200)),
        dot(5, 3, 4, (1024, 200), 8),
        instruction(6, "parameter", (200, 10)),
        dot(7, 5, 6, (1024, 10), 9),
    )
    hlo = message("HloProto")()
    hlo.hlo_module.computations.add().instructions.extend(instructions)
    made = spaces.pod_host("a")
    plane = spaces.Plane(made, "/host:metadata")
    program = plane.event_id(f"cluster_train({spaces.PROGRAM})")
    stat = plane.plane.event_metadata[program].stats.add(metadata_id=plane.stat_id("Hlo Proto"))
    stat.bytes_value = hlo.SerializeToString()
    spaces.write(made, tmp_path)
    found = spaces.report(tmp_path)
    assert "1024 x 784 x 200" in failed(outcome(found, "TPU402"))
    location = outcome(found, "TPU402").findings[0].location
    assert str(location) == "model.py:7"
