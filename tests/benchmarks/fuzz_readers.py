"""Fuzzes every reader with inputs that lie, within 2 GB of address space; no part of the test run.

    python -m tests.benchmarks.fuzz_readers --seconds 60 [READER...]

Each reader runs in a child with a limit on its address space and on the time of one input. What is
not a report, an answer or one line of TpudiagError is kept under --found, once for each place.
"""

import argparse
import contextlib
import gzip
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from tests.benchmarks.fuzz_lies import (
    inside,
    lie_in_bytes,
    lie_in_events,
    lie_in_json,
    lie_in_message,
    lie_in_rows,
    lie_in_text,
)
from tests.checks import failing_device, failing_function, passing
from tests.checks.test_compiled import STEP
from tests.monitoring import event_files
from tests.monitoring import recordings as recorded
from tests.sources.compiler.test_hlo import MODULE
from tests.sources.profile import spaces
from tpudiag import catalogue, engine, report_json, settings
from tpudiag.compiled import CompilerFacts
from tpudiag.diagnoses import sides
from tpudiag.diagnoses.profile import ProfileRequest, diagnose
from tpudiag.diagnoses.watch_request import WatchRequest, expected
from tpudiag.diagnoses.watch_session import WatchSession
from tpudiag.errors import TpudiagError
from tpudiag.known_errors import answers, reader
from tpudiag.model import Report, Verdict
from tpudiag.monitoring.cloud.resource import PointSource
from tpudiag.monitoring.cloud.spool import Point, Spool
from tpudiag.planning import prices
from tpudiag.settings import Settings
from tpudiag.signals import Origin, Signals
from tpudiag.sources import notebook, script
from tpudiag.sources.compiler import cache, hlo, stablehlo
from tpudiag.sources.job.process import facts as job_facts
from tpudiag.sources.job.process import following
from tpudiag.sources.job.process.protocol import encoded
from tpudiag.sources.live import host_stacks, metrics, profiler_messages
from tpudiag.sources.profile import xprof
from tpudiag.sources.profile.schema import message
from tpudiag.sources.profile.wire import Damaged

TOP = Path(__file__).parents[2]
DATA, GOLDEN = TOP / "tests" / "data", TOP / "tests" / "golden"
ADDRESS_BYTES = 2 << 30
CPU_LIMIT_S, WALL_LIMIT_S = 10.0, 120.0
"""Of one input; on a busy machine a second of the clock says little."""
MOST_BYTES = 4 << 20


class Slow(BaseException):
    """An input took too long; no `except Exception` takes it for its own."""


@dataclass(frozen=True)
class Reader:
    """What reads, what it reads, and how that lies."""

    seeds: Callable[[], list[bytes]]
    read: Callable[[Path], object]
    name: str
    """Of the file."""
    lies: tuple[Callable[[bytes, random.Random], bytes], ...]


def text_of(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace")


def written(ending: str, write: Callable[[Path], object]) -> bytes:
    """What a writer puts into a file with this ending."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / f"a{ending}")
        return next(Path(folder).rglob(f"*{ending}*")).read_bytes()


def shown(report: Report, *more: str) -> None:
    """The report in every format."""
    for name in ("text", "markdown", "sarif", "junit", "json", *more):
        catalogue.renderer(name)(report)


def whole_report(report: Report) -> None:
    """The report in every format; no check of it is broken."""
    broken = [(o.id, o.reason) for o in report.outcomes if o.verdict is Verdict.BROKEN]
    assert not broken, broken
    shown(report)


def read_profile(file: Path) -> None:
    report = diagnose(ProfileRequest(path=str(file), xprof_limit_s=0), Settings())
    whole_report(report)
    size, steps = report.measurements["profile_bytes"], report.measurements.get("step_time_ms")
    assert size.value == file.stat().st_size, "a part of the file was not read"
    assert steps is None or float(steps.value) >= 0, "a step of negative length"


def profiles() -> list[bytes]:
    made = spaces.pod_host("host", steps=6, devices=2)
    spaces.add_reading(made, [50.0, 70.0, 90.0], 0.5)
    small = spaces.training(devices=1, steps=3)
    real = sorted((TOP.parent / "shared" / "profiles").rglob("*.xplane.pb"))
    seeds = [bytes(each.SerializeToString()) for each in (made, small)]
    return seeds + [file.read_bytes() for file in real[:1]]


def reports() -> list[bytes]:
    return [file.read_bytes() for file in sorted(GOLDEN.glob("*.json"))]


def read_baseline(file: Path) -> None:
    odd = report_json.load(file)
    for name in ("profile", "plots"):
        good = report_json.load(GOLDEN / f"{name}.json")
        sides.held_against(odd, str(file), good, 0.02)
        for before, after in ((odd, good), (good, odd), (odd, odd)):
            made = sides.compared((("a",), ("b",)), ((before,), (after,)), across_hardware=True)
            whole_report(made.report)


def programs() -> list[bytes]:
    small = sorted((DATA / "programs").glob("*.hlo.gz"), key=lambda file: file.stat().st_size)
    return [MODULE.encode(), *(gzip.decompress(file.read_bytes()) for file in small[:3])]


def read_program(file: Path) -> None:
    for reads in (hlo.read, stablehlo.largest, stablehlo.dynamic):
        reads(text_of(file))


def facts() -> list[bytes]:
    found: list[Signals] = []

    def walk(value: Any, depth: int = 0) -> None:
        if isinstance(value, Signals):
            found.append(value)
        elif isinstance(value, list | tuple | dict) and depth < 4:
            for inner in inside(value):
                walk(inner, depth + 1)

    for module in (failing_device, failing_function, passing):
        walk(dict(vars(module)))
    return [encoded(each) for each in found]


def read_facts(file: Path) -> None:
    job = following.JobRun()
    following.take(file.read_bytes(), job)
    job.facts.pop("origin", None)
    # A check may break on facts that no hook sends: that is reported, and hides no other.
    signals = job_facts.signals(Origin.REHEARSAL, job.facts)
    engine.examine(signals, catalogue.checks(), Settings())


def notebooks() -> list[bytes]:
    sources = (
        "%pip install x\nimport tensorflow as tf", "%%bash\nls", "%%writefile a.py\nx=1",
        "!ls\nx = 1", "for i in range(3):\n    !echo $i\n    y = i", "%%time\nz = 2",
    )  # fmt: skip
    code: dict[str, Any] = {"cell_type": "code", "metadata": {}, "outputs": []}
    cells = [{**code, "execution_count": 1, "source": source} for source in sources]
    book: dict[str, Any] = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return [json.dumps(book).encode()]


def scripts() -> list[bytes]:
    jobs = sorted((TOP / "tests" / "corpus" / "jobs").rglob("*.py"))
    return [file.read_bytes() for file in jobs[::8]]


def events(file: Path) -> None:
    made = [event_files.event(time.time() - 4_000 + n, n) for n in range(60)]
    event_files.write(file.parent, made)


def points(file: Path) -> None:
    source = PointSource((("job", "a"),), (("worker", "0"),))
    with contextlib.closing(Spool(file)) as spool:
        spool.add([Point(source, "steps", time.time_ns() + n, n) for n in range(20)], 1)


def read_recording(file: Path) -> None:
    with WatchSession(WatchRequest(sources=(str(file),)), Settings()) as session:
        if session.look():
            whole_report(session.report())


def read_spool(file: Path) -> None:
    for beside in file.parent.glob(f"{file.name}-*"):
        beside.unlink()  # of the one before, which had this name
    with contextlib.closing(Spool(file)) as spool:
        due = spool.due()
        spool.mark(due, under_way=True)
        spool.mark(due, under_way=False)
        spool.drop_before(time.time_ns())
        spool.done(due, len(due), "refused")
        _ = spool.waiting, spool.counts


def read_compilation(file: Path) -> None:
    os.environ["TPUDIAG_CACHE"] = str(file.parent)
    made = cache.load(file.stem)
    if made is not None:
        signals = Signals(origin=Origin.REHEARSAL, compiler=CompilerFacts(step=made))
        engine.examine(signals, catalogue.checks(), Settings())


def errors() -> list[bytes]:
    asked = json.loads((DATA / "questions.json").read_text(encoding="utf-8"))
    texts = [each["text"].encode() for each in (*asked["tune"][:150], *asked["hold"][:150])]
    return [(DATA / "innocent_logs.txt").read_bytes()[:100_000], *texts]


def read_error(file: Path) -> None:
    matches = reader.in_log(str(file))
    _ = [answers.data(one) for one in matches], list(answers.all_rows(matches, str))


def read_answer(file: Path) -> None:
    data = file.read_bytes()
    with contextlib.suppress(Damaged):
        profiler_messages.has_events(profiler_messages.xspace(data))
    with contextlib.suppress(Damaged):
        list(metrics._values(data))  # pyright: ignore[reportPrivateUsage]


def read_stacks(file: Path) -> None:
    host_stacks.parsed(text_of(file), 1)
    list(metrics._figures(text_of(file), ""))  # pyright: ignore[reportPrivateUsage]


BYTES, WIRE, JSON, TEXT, ROWS = (
    lie_in_bytes, lie_in_message, lie_in_json, lie_in_text, lie_in_rows,
)  # fmt: skip
TOML = b"""[project]
name = "a"
[tool.tpudiag]
select = ["TPU1"]
pedantic = true
python = "./x"
limits = { TPU101 = 3, TPU201 = 0.5 }
ignore = { TPU204 = "why" }
"""
PRICES = b"[chip_hour]\nv5e = 1.20\nv4 = 3\n"
METRICS = b"""# TYPE duty_cycle gauge
duty_cycle{accelerator_id="1-2",pod="a",container="c",make="cloud-tpu"} 57.5
memory_used{accelerator_id="1-2",pod="a"} 1.7e+10
"""
PAGE: list[Any] = [
    {"cols": [{"id": "severity"}, {"id": "message"}],
     "rows": [{"c": [{"v": "Warning"}, {"v": "a <b>text</b>"}]}], "p": {}},
    {"cols": [], "rows": [{"c": [{"v": 1.0}]}],
     "p": {"device_core_count": "4", "steptime_ms_average": "1.5", "statement": "<i>x</i>"}},
]  # fmt: skip
STACK = b'Thread 1 "MainThread";main (train.py:3);step (a/b.py:77);wait (x.py:9) 31'
READERS: dict[str, Reader] = {
    "profile": Reader(profiles, read_profile, "a.xplane.pb", (WIRE, WIRE, WIRE, BYTES)),
    "report": Reader(
        reports, lambda file: shown(report_json.load(file), "rich", "html"), "a.json",
        (JSON, JSON, JSON, TEXT, BYTES),
    ),
    "baseline": Reader(reports, read_baseline, "a.json", (JSON, JSON, TEXT)),
    "expectation": Reader(reports, expected, "a.json", (JSON, TEXT)),
    "program": Reader(programs, read_program, "a.hlo", (TEXT, TEXT, BYTES)),
    "facts": Reader(facts, read_facts, "a.json", (JSON, JSON, JSON, TEXT)),
    "notebook": Reader(
        notebooks, lambda file: notebook.read(str(file)), "a.ipynb", (JSON, TEXT, BYTES)
    ),
    "script": Reader(scripts, lambda file: script.look(str(file)), "a.py", (TEXT, BYTES)),
    "settings": Reader(
        lambda: [TOML], lambda file: settings.load(file.parent), "pyproject.toml", (TEXT, BYTES)
    ),
    "prices": Reader(lambda: [PRICES], prices.load, "a.toml", (TEXT, BYTES)),
    "events": Reader(
        lambda: [written("tfevents", events)], lambda file: read_recording(file.parent),
        "a.tfevents.1", (lie_in_events, lie_in_events, BYTES),
    ),
    "recording": Reader(
        lambda: [written(".sqlite", lambda file: recorded.write(file, [1.0] * 60 + [1.5] * 60))],
        read_recording, "a.sqlite", (ROWS, ROWS, BYTES),
    ),
    "spool": Reader(
        lambda: [written(".sqlite", points)], read_spool, "a.sqlite", (ROWS, ROWS, BYTES)
    ),
    "cache": Reader(
        lambda: [msgspec.json.encode(STEP)], read_compilation, "a.json", (JSON, JSON, TEXT)
    ),
    "explain": Reader(errors, read_error, "a.log", (TEXT, TEXT, BYTES)),
    "page": Reader(
        lambda: [json.dumps(PAGE).encode()], lambda file: xprof.parse(file.read_bytes()),
        "a.json", (JSON, TEXT),
    ),
    "answer": Reader(
        lambda: [message("ProfileResponse")(xspace=profiles()[1]).SerializeToString()],
        read_answer, "a.pb", (WIRE, BYTES),
    ),
    "stacks": Reader(
        lambda: [b"\n".join([STACK] * 20), METRICS], read_stacks, "a.txt", (TEXT, BYTES)
    ),
}  # fmt: skip


# ---- one child, and its parent ----------------------------------------------------------------


def place_of(error: BaseException) -> str:
    """The kind of an error and the last line of ours that it went through."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if str(TOP / "tpudiag") in frame.filename] or frames[-1:]
    ours = own[-1]
    return f"{type(error).__name__} {Path(ours.filename).relative_to(TOP)}:{ours.lineno}"


def child(name: str, seconds: float, seed: int, folder: Path, found: Path) -> None:
    """Read lies for some time; a line of JSON at the end, and one for each that is found."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_BYTES, ADDRESS_BYTES))
    reader, rng = READERS[name], random.Random(seed)
    seeds = reader.seeds()
    file = folder / reader.name
    known: set[str] = set()

    def too_slow(*_: object) -> None:
        raise Slow

    for number in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(number, too_slow)
    count, until = 0, time.monotonic() + seconds
    while time.monotonic() < until:
        data = rng.choice(seeds)
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            lie = rng.choice(reader.lies)
            # A document may be none any more, or too large to lie in once more.
            with contextlib.suppress(ValueError, LookupError, RecursionError, MemoryError):
                data = (lie(data, rng) or b"\0")[:MOST_BYTES]
        file.write_bytes(data)
        count += 1
        (folder / "count").write_text(str(count))
        limit(CPU_LIMIT_S, WALL_LIMIT_S)
        try:
            reader.read(file)
        except TpudiagError as error:
            if "\n" in str(error):
                keep(found, name, f"no line {type(error).__name__}", data, known, str(error)[:300])
        except (Exception, Slow) as error:
            limit(0, 0)
            what = "".join(traceback.format_exception(error))[-1500:]
            keep(found, name, place_of(error), data, known, what)
        finally:
            limit(0, 0)


def limit(cpu_s: float, wall_s: float) -> None:
    """Let no more time pass from now on; 0 for no limit."""
    signal.setitimer(signal.ITIMER_PROF, cpu_s)
    signal.setitimer(signal.ITIMER_REAL, wall_s)


def keep(found: Path, name: str, place: str, data: bytes, known: set[str], what: str) -> None:
    """An input that shows something new."""
    if place in known:
        return
    known.add(place)
    stem = re.sub(r"[^\w.-]+", "-", f"{name}-{place}")[:150]
    if not (found / stem).exists():
        (found / stem).write_bytes(data)
        (found / f"{stem}.why").write_text(what, errors="replace")
        print(f"{name}: {place}", flush=True)


def fuzz(name: str, seconds: float, found: Path, seed: int) -> str:
    """Children one after the other until the time is over; a row of the table."""
    total, deaths, until = 0, 0, time.monotonic() + seconds
    while (left := until - time.monotonic()) > 1:
        with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
            command = [
                sys.executable, "-m", __spec__.name, "--child", folder, "--seconds", str(left),
            ]  # fmt: skip
            command += ["--found", str(found), "--seed", str(seed + deaths), name]
            variables = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
            code = subprocess.run(command, check=False, env=variables, cwd=TOP).returncode
            with contextlib.suppress(OSError, ValueError):
                total += int((Path(folder) / "count").read_text())
            if code:
                deaths += 1
                dead = Path(folder) / READERS[name].name
                if dead.exists():
                    (found / f"{name}-died-{code}-{deaths}").write_bytes(dead.read_bytes())
                    print(f"{name}: died by {code}", flush=True)
    kinds = len(list(found.glob(f"{name}-*.why"))) + len(list(found.glob(f"{name}-died-*")))
    return f"{name:<12} {total:>9,} {kinds:>6}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("readers", nargs="*", default=[])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--found", type=Path, default=Path(tempfile.gettempdir()) / "fuzz-found")
    parser.add_argument("--child", type=Path)
    options = parser.parse_args()
    options.found.mkdir(parents=True, exist_ok=True)
    if options.child is not None:
        child(options.readers[0], options.seconds, options.seed, options.child, options.found)
        return
    names = options.readers or READERS
    rows = [fuzz(name, options.seconds, options.found, options.seed) for name in names]
    print(f"{'reader':<12} {'inputs':>9} {'found':>6}", *rows, sep="\n")


if __name__ == "__main__":
    main()
