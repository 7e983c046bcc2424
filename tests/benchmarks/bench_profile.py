"""`tpudiag read` against XProf's overview page, side by side: time, memory, growth, many hosts.

    uv run python -m tests.benchmarks.bench_profile [--folder DIR] [--only NAME ...]

Times are CPU seconds of whole processes, which another job on the machine disturbs less than the
clock; beside them stands what protobuf's own parser takes for the same bytes, and of a small file
what bare Python takes. Makes the captures once (CPU captures of about 80 and 450 MB need
TensorFlow and 12 GB; the 450 MB one needs 16 GB for XProf), keeps them in DIR, and exits with 1
where a bar is missed. Each side is a process of its own; its peak memory is the kernel's
ru_maxrss.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tests.sources.profile import spaces
from tpudiag.sources.profile import ask_xprof

HERE = Path(__file__).parent
TIME_BAR, TIME_GOAL, MEMORY_BAR, MEMORY_GOAL = 0.15, 0.05, 0.3, 0.05
HOSTS, HOSTS_BAR_S, HOSTS_GOAL_S, HOST_MB = 256, 60.0, 12.0, 2.0
SMALL_GOAL_S = 0.25
REAL = HERE.parents[2] / "shared" / "profiles" / "v6e-4-inference"
READ = (
    sys.executable, "-m", "tpudiag", "read", "--xprof-limit", "0", "--format", "json", "--fail-on",
    "never",
)  # fmt: skip
PARSE = """\
import sys
from tpudiag.sources.profile.schema import message
made = message("XSpace")()
made.ParseFromString(open(sys.argv[1], "rb").read())
"""
CAPTURES = {"cpu80": 80.0, "cpu450": 450.0, "tpu100": 100.0, "pod256": HOSTS * HOST_MB}


class Cost(NamedTuple):
    """What a process took: seconds of CPU, and MB at its peak."""

    seconds: float
    megabytes: float


def main() -> int:
    """Run the requested benchmarks and print a line for each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--folder", type=Path, default=Path("/tmp/tpudiag-bench"))
    parser.add_argument("--only", nargs="*", choices=CAPTURES, default=list(CAPTURES))
    parser.add_argument("--make", choices=CAPTURES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.make:
        make(options.make, options.folder / options.make)
        return 0
    missed: list[str] = []
    per_mb: dict[str, float] = {}
    for name in options.only:
        folder = options.folder / name
        if not list(folder.rglob("*.xplane.pb")):
            print(f"making {name} ...", flush=True)
            again = [sys.executable, __file__, "--folder", str(options.folder), "--make", name]
            subprocess.run(again, check=True)  # its memory would be counted to every child's
        files = sorted(folder.rglob("*.xplane.pb"))
        size = sum(file.stat().st_size for file in files) / 1e6
        own = cost(*READ, str(folder))
        per_mb[name] = own.seconds / size
        said = f"{name}: {size:.0f} MB, read {own.seconds:.2f} s, {own.megabytes:.0f} MB"
        if name == "pod256":
            missed += [name] * (own.seconds > HOSTS_BAR_S)
            print(
                f"{said} for {len(files)} hosts (bar {HOSTS_BAR_S:g} s, goal {HOSTS_GOAL_S:g} s)",
                flush=True,
            )
            continue
        xprof = overview(files[0])
        parse = cost(sys.executable, "-c", PARSE, str(files[0]))
        ratios = own.seconds / xprof.seconds, own.megabytes / xprof.megabytes
        missed += [name] * (ratios[0] > TIME_BAR or ratios[1] > MEMORY_BAR)
        print(
            f"{said}; XProf {xprof.seconds:.1f} s, {xprof.megabytes:.0f} MB; time ratio "
            f"{ratios[0]:.3f} (bar {TIME_BAR}, goal {TIME_GOAL}), memory ratio {ratios[1]:.3f} "
            f"(bar {MEMORY_BAR}, goal {MEMORY_GOAL}); parse alone {parse.seconds:.2f} s, "
            f"{parse.megabytes:.0f} MB",
            flush=True,
        )
    if REAL.is_dir():
        small()
    if {"cpu80", "cpu450"} <= per_mb.keys():
        growth = per_mb["cpu450"] / per_mb["cpu80"]
        missed += ["growth"] * (growth > 1.1)
        print(f"time per MB at 450 MB over that at 80 MB: {growth:.2f} (bar: at most linear)")
    print(f"missed: {', '.join(missed)}" if missed else "every bar is met")
    return int(bool(missed))


def small() -> None:
    """A file of less than a megabyte: imports and the report are most of it; the best of five."""
    people = tuple("text" if word == "json" else word for word in READ)
    read = {"JSON": READ, "text": people}
    own = {name: min(cost(*verb, str(REAL)) for _ in range(5)) for name, verb in read.items()}
    bare = min(cost(sys.executable, "-c", "pass") for _ in range(5))
    numpy = min(cost(sys.executable, "-c", "import numpy") for _ in range(5))
    size = sum(file.stat().st_size for file in REAL.rglob("*.xplane.pb")) / 1e3
    above = ", ".join(f"{c.seconds - bare.seconds:.2f} s as {n}" for n, c in own.items())
    print(
        f"small: {size:.0f} kB, read above bare Python: {above} (goal {SMALL_GOAL_S:g} s); "
        f"numpy's import alone {numpy.seconds - bare.seconds:.2f} s"
    )


def overview(file: Path) -> Cost:
    """XProf's overview page alone, away from the caches that it writes."""
    with TemporaryDirectory() as folder:
        link = Path(folder) / "plugins" / "profile" / "run" / file.name
        link.parent.mkdir(parents=True)
        link.symlink_to(file.resolve())
        answer = Path(folder) / "answer"
        return cost(
            sys.executable, "-P", str(ask_xprof.__file__), str(answer), "overview_page", str(link)
        )


def cost(*command: str) -> Cost:
    """Run a command, its bytecode kept as where it is installed; raises CalledProcessError."""
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONDONTWRITEBYTECODE": ""}
    process = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
        cwd=HERE.parents[1],
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e3)


def make(name: str, folder: Path) -> None:
    """Make one of the captures."""
    folder.mkdir(parents=True, exist_ok=True)
    if name.startswith("cpu"):
        script = str(HERE / "profile_capture.py")
        subprocess.run(
            [sys.executable, script, str(folder), str(CAPTURES[name])],
            check=True,
            capture_output=True,
        )
        return
    if name == "tpu100":
        made = spaces.pod_host("vm", steps=1050, devices=8, extra=many(300))
        spaces.write(made, folder)
        return
    made = spaces.pod_host("host", steps=42, devices=4, extra=many(300))
    for number in range(HOSTS):
        made.hostnames[:] = [f"host-{number:03}"]
        spaces.write(made, folder, host=f"host-{number:03}")


def many(count: int) -> list[tuple[str, str, float]]:
    """Short operations that fill a part of each step."""
    return [(f"fusion.{n}", "loop fusion", 0.01) for n in range(count)]


if __name__ == "__main__":
    sys.exit(main())
