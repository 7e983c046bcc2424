"""The TPU compiler itself on tiny programs: a jax that broke the private call is noticed here."""

import json
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tpudiag.compiled import Compilation, LoweredStep
from tpudiag.errors import UsageError
from tpudiag.hardware import GENERATIONS, target
from tpudiag.prediction.arrays import arrays
from tpudiag.sources.compiler import cache, compiler_child, libtpu_process
from tpudiag.sources.compiler.topologies import topology

pytestmark = pytest.mark.slow

SHAPES = (
    "4096x1xf32", "8192x8xf32", "512x3xbf16", "33x100xf32", "64x24x24x3xf32", "130xf32",
    "7x5x1xbf16",
)  # fmt: skip


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TPUDIAG_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def compiler(timeout_s: float = 240.0, python: str | None = None) -> libtpu_process.Compiler:
    installed = libtpu_process.Installed(python, "fake") if python else libtpu_process.find()
    assert installed is not None, "the dev group installs the TPU compiler"
    return libtpu_process.Compiler(installed, timeout_s)


def step(folder: Path, program: str, replicas: int = 1) -> LoweredStep:
    path = folder / "step.mlir"
    path.write_text(program, encoding="utf-8")
    return LoweredStep(batch=8, replicas=replicas, path=str(path))


def product(rows: int) -> str:
    kind = f"tensor<{rows}x{rows}xf32>"
    return (
        f"module @m {{ func.func @main(%arg0: {kind}) -> {kind} {{\n"
        f"%0 = stablehlo.dot %arg0, %arg0 : ({kind}, {kind}) -> {kind}\n"
        f"%1 = stablehlo.dot %0, %arg0 : ({kind}, {kind}) -> {kind}\n"
        f"return %1 : {kind} }} }}\n"
    )


SUMMED = """module @step {
  func.func private @add(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.add %a, %b : tensor<f32>
    return %0 : tensor<f32>
  }
  func.func @main(%arg0: tensor<1024x512xf32>) -> tensor<1024x512xf32> {
    %0 = "stablehlo.all_reduce"(%arg0) ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
    }) {replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>}
      : (tensor<1024x512xf32>) -> tensor<1024x512xf32>
    %1 = "mhlo.copy"(%0) : (tensor<1024x512xf32>) -> tensor<1024x512xf32>
    return %1 : tensor<1024x512xf32>
  }
}
"""


def test_a_replicated_program_compiles_for_the_whole_slice(tmp_path: Path) -> None:
    answer = compiler().compile(step(tmp_path, SUMMED, 8), target("v5e-8"))
    assert answer.error is None
    assert answer.fits is True
    assert answer.replicas == 8
    assert answer.argument_bytes == 1024 * 512 * 4
    assert answer.program is not None
    assert [(c.kind, c.bytes) for c in answer.program.collectives] == [("all-reduce", 2**21)]
    assert answer.collective_ms is not None
    assert answer.collective_ms.value > 0
    assert re.fullmatch(r"libtpu \S+, jax \S+", answer.compiler)


def test_sizes_in_hbm_are_those_of_the_compiler(tmp_path: Path) -> None:
    """The padded sizes read off the layouts sum up to the compiler's own argument bytes."""
    arguments = ", ".join(f"%arg{i}: tensor<{shape}>" for i, shape in enumerate(SHAPES))
    results = ", ".join(f"tensor<{shape}>" for shape in SHAPES)
    names = ", ".join(f"%arg{i}" for i in range(len(SHAPES)))
    program = (
        f"module @m {{ func.func @main({arguments}) -> ({results}) {{\n"
        f"return {names} : {results} }} }}\n"
    )
    found = step(tmp_path, program)
    folder = tmp_path / "out"
    folder.mkdir()
    slice_ = topology(target("v5e-1"))
    child = [sys.executable, str(compiler_child.CHILD), str(found.path), slice_.name, "1", ""]
    child.append(str(folder))
    subprocess.run(child, check=True, timeout=800)
    text = (folder / "optimised.hlo").read_text()
    layouts = re.findall(r"= (\w+\[[\d,]*\]\{\S+\}) parameter\(\d+\)", text)
    made = [array for layout in layouts for array in arrays(layout) if array.in_hbm]
    assert len(made) == len(SHAPES)
    answer = json.loads((folder / "answer.json").read_text())
    assert sum(array.padded_bytes for array in made) == answer["amounts"]["argument_bytes"]
    assert sum(array.padded_bytes > array.bytes for array in made) >= 5


def test_a_program_too_large_is_refused_in_the_compilers_words(tmp_path: Path) -> None:
    answer = compiler().compile(step(tmp_path, product(65536)), target("v5e-1"))
    assert answer.fits is False
    full = answer.out_of_memory
    assert full is not None
    assert "E1000: CompileTimeHbmOom" in full.message
    needed, usable = re.findall(r"\(([\d.]+)G\)", full.message)
    assert full.needed_bytes == int(float(needed) * 2**30)
    assert full.usable_bytes == int(float(usable) * 2**30)
    assert full.largest[0].logical_bytes == 65536 * 65536 * 4
    assert answer.headroom is not None
    assert answer.headroom < 0


def test_a_refused_program_is_no_verdict(tmp_path: Path, own_cache: Path) -> None:
    answer = compiler().compile(step(tmp_path, "module @m { nonsense }"), target("v5e-1"))
    assert answer.fits is None
    assert answer.error
    assert not own_cache.exists()


def test_an_answer_is_kept_and_two_at_once_do_not_hurt_it(tmp_path: Path, own_cache: Path) -> None:
    once = step(tmp_path, product(256))
    answers: list[Compilation] = []

    def compile_() -> None:
        answers.append(compiler().compile(once, target("v5e-1")))

    threads = [threading.Thread(target=compile_) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kept = list(own_cache.iterdir())
    assert [file.suffix for file in kept] == [".json"]
    moved = step(tmp_path, "#loc = loc(unknown)\n" + product(256).replace("@m {", "@m__12 {"))
    again = compiler().compile(moved, target("v5e-1"))
    assert again.cached
    assert again.need_bytes == answers[0].need_bytes == answers[1].need_bytes
    kept[0].write_bytes(kept[0].read_bytes()[:40])
    assert cache.load(kept[0].stem) is None


def test_the_cache_parts_programs_targets_and_compilers() -> None:
    v5e, v6e = topology(target("v5e-8")), topology(target("v6e-8"))
    keys = {
        cache.key(product(8), v5e, "libtpu 1"),
        cache.key(product(16), v5e, "libtpu 1"),
        cache.key(product(8), v6e, "libtpu 1"),
        cache.key(product(8), v5e, "libtpu 2"),
    }
    assert len(keys) == 4


def fake(folder: Path, does: str) -> str:
    """A Python that does something else than compile."""
    file = folder / "python"
    file.write_text(f"#!{sys.executable}\nimport os, sys, time\n{does}\n")
    file.chmod(0o755)
    return str(file)


@pytest.mark.parametrize(
    ("does", "says"),
    [
        ("print('F0000 libtpu: check failed', file=sys.stderr); os.abort()", "check failed"),
        ("sys.exit(3)", "ended with code 3"),
        ("open(sys.argv[-1] + '/answer.json', 'w').write('{\"comp')", "no answer"),
        ("time.sleep(600)", "--compile-timeout"),
    ],
)
def test_a_compiler_that_fails_gives_no_verdict(tmp_path: Path, does: str, says: str) -> None:
    broken = compiler(1.0 if "sleep" in does else 60.0, fake(tmp_path, does))
    answer = broken.compile(step(tmp_path, product(8)), target("v5e-1"))
    assert answer.fits is None
    assert says in (answer.error or "")
    assert answer.need_bytes is None


def test_a_libtpu_that_lacks_a_flag_is_asked_without(tmp_path: Path) -> None:
    does = (
        "flags = os.environ.get('LIBTPU_INIT_ARGS')\n"
        "if flags: sys.exit(\"ERROR: Unknown command line flag 'xla_jf'. Did you mean: xla ?\")\n"
        "open(sys.argv[-1] + '/answer.json', 'w').write('{\"amounts\": {\"flops\": 5}}')"
    )
    answer = compiler(60.0, fake(tmp_path, does)).compile(
        step(tmp_path, product(8)), target("v5e-1")
    )
    assert answer.compiled, answer.error
    assert answer.flops == 5


def test_stop_ends_a_compilation_from_another_thread(tmp_path: Path) -> None:
    started = tmp_path / "started"
    slow = compiler(600.0, fake(tmp_path, f"open({str(started)!r}, 'w').close(); time.sleep(600)"))
    answers: list[Compilation] = []
    thread = threading.Thread(
        target=lambda: answers.append(slow.compile(step(tmp_path, product(8)), target("v5e-1")))
    )
    thread.start()
    while not started.exists():
        time.sleep(0.01)
    slow.stop()
    thread.join(timeout=800)
    assert not thread.is_alive()
    assert answers[0].fits is None


def test_a_python_without_the_compiler_is_told_from_no_python(tmp_path: Path) -> None:
    assert libtpu_process.find(fake(tmp_path, "sys.exit(1)")) is None
    with pytest.raises(UsageError, match="--compiler-python"):
        libtpu_process.find(str(tmp_path / "missing"))


@pytest.mark.parametrize("generation", [g.name for g in GENERATIONS])
def test_every_generation_has_a_topology(generation: str) -> None:
    found = target(f"{generation}-8")
    assert topology(found).replicas == found.replicas


def test_a_slice_of_unknown_shape_is_compiled_for_one_replica() -> None:
    assert topology(target("v5e-24")).replicas == 1


def test_a_prepared_child_compiles_what_it_is_told_later(tmp_path: Path) -> None:
    """A fake that reports when it is loaded, and then its program."""
    loaded = tmp_path / "loaded"
    does = (
        f"open({str(loaded)!r}, 'a').write('x')\n"
        "path = sys.stdin.readline().strip()\n"
        'answer = \'{"amounts": {"flops": %d}}\' % len(open(path).read())\n'
        "open(sys.argv[-1] + '/answer.json', 'w').write(answer)"
    )
    ahead = compiler(60.0, fake(tmp_path, does))
    ahead.prepare(target("v5e-1"))
    ahead.prepare(target("v5e-1"))
    while not loaded.exists():
        time.sleep(0.01)
    answer = ahead.compile(step(tmp_path, product(8)), target("v5e-1"))
    assert answer.flops == len(product(8))
    assert loaded.read_text() == "x"
    other = ahead.compile(step(tmp_path, product(16)), target("v5e-1"))
    assert other.flops == len(product(16))


def test_stop_ends_a_child_that_was_told_nothing(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    does = f"f = open({str(pid)!r}, 'w'); f.write(str(os.getpid()))\nf.close(); time.sleep(600)"
    ahead = compiler(60.0, fake(tmp_path, does))
    ahead.prepare(target("v5e-1"))
    while not (pid.exists() and pid.read_text()):
        time.sleep(0.01)
    ahead.stop()
    assert not Path(f"/proc/{pid.read_text()}").exists()
