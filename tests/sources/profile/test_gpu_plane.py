"""A GPU's plane: when it was busy, and its steps."""

from tests.sources.profile import spaces
from tpudiag.sources.profile import xspace
from tpudiag.sources.profile.events import Clock
from tpudiag.sources.profile.gpu_plane import GPU, read_gpu


def test_streams_are_busy_and_steps_are_numbers() -> None:
    made = spaces.space()
    plane = spaces.Plane(made, "/device:GPU:0")
    compute, copy = plane.line("Stream #14(Compute)"), plane.line("Stream #22(MemcpyH2D)")
    plane.event(compute, ("gemm", 10.0, 5.0))
    plane.event(copy, ("copy", 12.0, 8.0))
    steps, names = plane.line("Steps"), plane.line("TensorFlow Ops")
    plane.event(steps, ("3", 10.0, 12.0))
    plane.event(steps, ("not a number", 30.0, 1.0))
    plane.event(names, ("MatMul", 0.0, 99.0))
    planes = xspace.space(memoryview(made.SerializeToString())).planes()
    read = read_gpu(gpu := next(p for p in planes if GPU.fullmatch(p.name)), Clock())
    assert read.busy.total == 10 * 10**9, "of two streams at a time, once"
    assert [(m.number, m.end - m.start, m.numbered) for m in read.marks] == [(3, 12 * 10**9, True)]
    assert gpu.counts["events"] == 5
    assert not GPU.fullmatch("/device:GPU:0/stream") and not GPU.fullmatch("/device:TPU:0")
