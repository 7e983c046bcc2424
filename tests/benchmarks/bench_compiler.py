"""What the TPU compiler says, against the bars: `python tests/benchmarks/bench_compiler.py`.

    analytic   TPU301's estimate beside the compiler's figure, for some programs
    resnet     ResNet50 with Adam in float32 on v5e: the known figures at 128, recomputation at 512
    plan       the time of a plan of 2 generations x 5 batches, and of the same from the cache

Each part can be named alone; `analytic` also takes names of programs. Minutes on two cores.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import msgspec

from tpudiag import catalogue, engine
from tpudiag.compiled import Compilation, CompilerFacts
from tpudiag.diagnoses.job import spec_of
from tpudiag.diagnoses.job_request import JobRequest, chosen_target, job_python_of
from tpudiag.hardware import target
from tpudiag.model import Outcome
from tpudiag.settings import Settings
from tpudiag.signals import ActivationEstimate, Origin, Signals, TensorSeen, VariableSeen
from tpudiag.sources.compiler import libtpu_process
from tpudiag.sources.compiler.compile_step import CompilerRequest, located
from tpudiag.sources.job.process import following
from tpudiag.sources.job.process.lowering_client import Dialog

TARGET = "v5e-1"
LARGE_TARGET = "v5p-2"
"""Programs near the limit, whose estimate is printed but not judged."""
ARGUMENTS_GB, TEMPORARIES_GB, BAR = 0.386, 8.8, 0.02
PROGRAMS = {
    "mlp": ("mlp", 128, False, "mixed_bfloat16"),
    "mlp-8192-f32": ("mlp", 8192, False, "float32"),
    "resnet50-32px": ("resnet50", 128, False, "mixed_bfloat16"),
    "resnet50-32px-f32": ("resnet50", 128, False, "float32"),
    "bert-2x128": ("bert", 128, False, "mixed_bfloat16"),
    "bert-2x128-f32": ("bert", 512, False, "float32"),
    "vit-2x128": ("vit", 128, False, "mixed_bfloat16"),
    "vit-2x128-f32": ("vit", 512, False, "float32"),
    "resnet50-f32": ("resnet50", 128, True, "float32"),
    "resnet50": ("resnet50", 256, True, "mixed_bfloat16"),
    "bert-base": ("bert", 64, True, "mixed_bfloat16"),
    "vit-base-f32": ("vit", 64, True, "float32"),
}


@dataclass(frozen=True)
class Measured:
    """One program: the compiler's answers by batch, and TPU301 without them."""

    answers: dict[int, Compilation]
    analytic: Outcome


def measure(name: str, folder: Path, batches: tuple[int, ...] = ()) -> Measured:
    """Lower and compile one program, and ask TPU301 without the compiler."""
    model, batch, full, precision = PROGRAMS[name]
    arguments = (
        "--model",
        model,
        "--replica-batch",
        str(batch),
        "--precision",
        precision,
        "--checkpoint-dir",
        str(folder),
        *(["--full-size"] if full else []),
    )
    asked, choice, _ = chosen_target(TARGET, "none")
    request = JobRequest(
        arguments=arguments, name=name, target=asked, target_choice=choice,
        log_dir=folder, python=job_python_of(None),
        timeout_s=3600.0, compiler=CompilerRequest(timeout_s=3600.0),
    )  # fmt: skip
    spec = spec_of(request, True, "local", 1, str(folder))
    dialog = Dialog(spec, request.python, following.Limits(3600.0), lambda _: None)
    installed = libtpu_process.find()
    assert installed is not None, "needs the extra `compiler`"
    assert dialog.wait() is not None, dialog.job.log_tail
    answers: dict[int, Compilation] = {}
    for size in batches or (batch,):
        step = dialog.lower(size, 1)
        answers[size] = located(
            libtpu_process.Compiler(installed, 3600.0).compile(step, asked), step
        )
    dialog.close()
    facts = dialog.job.facts
    signals = Signals(
        origin=Origin.REHEARSAL,
        target=target(LARGE_TARGET),
        variables=msgspec.convert(facts["variables"], tuple[VariableSeen, ...]),
        activations=msgspec.convert(facts["activations"], ActivationEstimate),
        step_inputs=msgspec.convert(facts["step_inputs"], tuple[TensorSeen, ...], strict=False),
        compiler=CompilerFacts(),
    )
    checks = [check for check in catalogue.checks() if check.id == "TPU301"]
    return Measured(answers, engine.examine(signals, checks, Settings())[0])


def figure(outcome: Outcome, name: str) -> float:
    """A figure of an outcome's evidence."""
    found = [*outcome.evidence, *(e for f in outcome.findings for e in f.evidence)]
    return float(next(e.value for e in found if e.name == name))


def analytic(names: list[str]) -> None:
    """TPU301's estimate beside the compiler's need."""
    print(f"{'program':20} {'estimate':>12} {'compiler':>12} {'error':>8}  of it temporaries")
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            found = measure(name, Path(folder))
        (answer,) = found.answers.values()
        need = answer.need_bytes
        assert need, answer.error
        said = figure(found.analytic, "estimated need")
        print(
            f"{name:20} {said / 1e6:9.1f} MB {need / 1e6:9.1f} MB {said / need - 1:+8.1%}"
            f"  {answer.temporary_bytes / 1e6:9.1f} MB",
            flush=True,
        )


def resnet() -> bool:
    """The known figures of ResNet50."""
    with tempfile.TemporaryDirectory() as folder:
        answers = measure("resnet50-f32", Path(folder), (128, 512)).answers
    small, large = answers[128], answers[512]
    within = True
    for what, size, known in (
        ("arguments", small.argument_bytes, ARGUMENTS_GB),
        ("temporaries", small.temporary_bytes, TEMPORARIES_GB),
    ):
        off = size / 1e9 / known - 1
        within = within and abs(off) <= BAR
        print(f"batch 128: {what} {size / 1e9:.3f} GB, known {known} GB: {off:+.1%}")
    more = (large.flops / 512) / (small.flops / 128) - 1
    print(f"batch 512: fits {large.fits}, headroom {large.headroom}, {more:+.1%} FLOPs an example")
    return within and bool(large.fits) and more > 0.05


def plan() -> None:
    """A plan of the mlp, cold and from the cache, beside the import of TensorFlow."""
    command = [
        sys.executable, "-m", "tpudiag", "plan", "--for", "v5e-8,v6e-8", "--batch", "64..1024",
    ]  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        where = {**os.environ, "TPUDIAG_CACHE": folder}
        bare = [sys.executable, "-c", "import tensorflow"]
        for what, run in (("import of TensorFlow", bare), ("cold", command), ("cached", command)):
            started = time.perf_counter()
            subprocess.run(run, check=True, cwd=folder, env=where, capture_output=True)
            print(f"{what:22} {time.perf_counter() - started:6.1f} s", flush=True)


def main() -> None:
    """The parts that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="?", choices=("analytic", "resnet", "plan"))
    parser.add_argument("programs", nargs="*", choices=[*PROGRAMS, []])
    asked = parser.parse_args()
    if asked.part in (None, "plan"):
        plan()
    if asked.part in (None, "analytic"):
        analytic(asked.programs or list(PROGRAMS))
    if asked.part in (None, "resnet") and not resnet():
        sys.exit("a bar was missed")


if __name__ == "__main__":
    main()
