"""`tpudiag read --engine dask://...` of many hosts on two machines' worth of workers.

    .venv/bin/python -m tests.benchmarks.bench_dask [--hosts 1000] [--workers 1] [--folder DIR]

Each "machine" is a loopback address of its own with a working folder, a scratch folder and worker
processes of its own (no nanny); both see the profile, as machines with a shared disk do. Prints
the time, what each worker held at its peak and read, and whether the report is that of one
process. Exits with 1 where the reports differ, where a machine read nothing, or where a worker
held more than a bare one and one file's worth of memory.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.benchmarks.bench_profile import generator, many

MACHINES = ("127.0.0.2", "127.0.0.3")
MEMORY_BAR_MB = 200.0
"""Over a bare worker: numpy, tpudiag, and what one file of a megabyte comes to."""


def main() -> int:
    """Make the profile, read it in both ways and hold the reports against each other."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--hosts", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=1, help="of each machine")
    parser.add_argument("--folder", type=Path, default=Path("/tmp/tpudiag-bench/hosts"))
    options = parser.parse_args()
    hosts = sorted(options.folder.rglob("*.xplane.pb")) or list(made(options.hosts, options.folder))
    size = sum(file.stat().st_size for file in hosts) / 1e6
    with ExitStack() as stack:
        address = started(stack, options.workers)
        distributed: Any = import_module("distributed")  # it has no types
        with distributed.Client(f"tcp://{address}") as client:
            client.wait_for_workers(len(MACHINES) * options.workers, timeout=120)
            bare = max(peak for peak, _ in client.run(cost).values())
            before = time.perf_counter()
            spread = report(options.folder, f"dask://{address}")
            took_s = time.perf_counter() - before
            after = client.run(cost)
    print(f"{len(hosts)} hosts, {size:,.0f} MB: {took_s:.0f} s; a bare worker {bare:.0f} MB")
    for worker, (peak_mb, cpu_s) in sorted(after.items()):
        print(f"  {worker}: {peak_mb:.0f} MB at its peak, {cpu_s:.0f} s of CPU")
    same = spread == report(options.folder, "local")
    print("the report is that of one process" if same else "the report differs")
    idle = [worker for worker, (_, cpu_s) in after.items() if cpu_s < took_s / 20]
    fat = [worker for worker, (peak_mb, _) in after.items() if peak_mb > bare + MEMORY_BAR_MB]
    return int(not same or bool(idle) or bool(fat))


def made(count: int, folder: Path) -> Iterator[Path]:
    """Hosts of about a megabyte each."""
    spaces = generator()
    space = spaces.pod_host("host", steps=42, devices=2, extra=many(300))
    for number in range(count):
        space.hostnames[:] = [f"host-{number:04}"]
        yield spaces.write(space, folder, host=f"host-{number:04}")


def started(stack: ExitStack, workers: int) -> str:
    """A scheduler and the workers of each machine; `host:port` of the scheduler."""
    scratch = Path(stack.enter_context(TemporaryDirectory(prefix="tpudiag-dask-")))
    told = scratch / "scheduler.json"
    process(stack, scratch, "dask_scheduler", "--host", "127.0.0.1", "--port", "0",
            "--scheduler-file", str(told))  # fmt: skip
    while not told.is_file() or not told.read_text():
        time.sleep(0.05)
    address: str = json.loads(told.read_text())["address"].removeprefix("tcp://")
    for machine in MACHINES:
        folder = scratch / machine
        folder.mkdir()
        for _ in range(workers):
            process(stack, folder, "dask_worker", f"tcp://{address}", "--host", machine,
                    "--nthreads", "1", "--no-nanny", "--local-directory", str(folder))  # fmt: skip
    return address


def process(stack: ExitStack, folder: Path, module: str, *arguments: str) -> None:
    """One process of the cluster, ended with the block."""
    command = [sys.executable, "-m", f"distributed.cli.{module}", *arguments, "--no-dashboard"]
    child = stack.enter_context(subprocess.Popen(command, stdout=-3, stderr=-3, cwd=folder))
    stack.callback(child.kill)


def cost() -> tuple[float, float]:
    """MB at the peak of this process, and its seconds of CPU; runs on a worker."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_maxrss / 1e3, usage.ru_utime + usage.ru_stime


def report(folder: Path, engine: str) -> dict[str, Any]:
    """What `read` says, but for when."""
    command = [sys.executable, "-m", "tpudiag", "read", str(folder), "--engine", engine,
               "--xprof-limit", "0", "--format", "json", "--fail-on", "never"]  # fmt: skip
    answer = subprocess.run(command, check=True, capture_output=True, env={**os.environ})
    whole: dict[str, Any] = json.loads(answer.stdout)
    return {key: value for key, value in whole.items() if key != "started"}


if __name__ == "__main__":
    sys.exit(main())
