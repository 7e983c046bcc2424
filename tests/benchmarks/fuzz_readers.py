"""Fuzzes every reader with inputs that lie, within 2 GB of address space; no part of the test run.

    python -m tests.benchmarks.fuzz_readers --seconds 60 [READER...]

Each reader runs in a child with a limit on its address space and on the time of one input. What is
not a report, an answer or one line of TpudiagError is kept under --found, once for each place.
"""

from __future__ import annotations

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
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.fuzz_lies import (
    inside,
    lie_in_bytes,
    lie_in_events,
    lie_in_json,
    lie_in_message,
    lie_in_rows,
    lie_in_text,
)

TOP = Path(__file__).parents[2]
ADDRESS_BYTES = 2 << 30
CPU_LIMIT_S, WALL_LIMIT_S = 10.0, 120.0
"""Of one input; on a busy machine a second of the clock says little."""
MOST_BYTES = 4 << 20


class Slow(BaseException):
    """An input took too long; no `except Exception` takes it for its own."""


# ---- the readers -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Reader:
    """What reads, what it reads, and how that lies."""

    seeds: Callable[[], list[bytes]]
    read: Callable[[Path], object]
    name: str
    """Of the file."""
    lies: tuple[Callable[[bytes, random.Random], bytes], ...]


def whole_report(report: Any) -> None:
    """The report in every format; no check of it is broken."""
    from tpudiag import catalogue, report_json
    from tpudiag.model import Verdict

    broken = [(o.id, o.reason) for o in report.outcomes if o.verdict is Verdict.BROKEN]
    assert not broken, broken
    for name in ("text", "markdown", "sarif", "junit", "json"):
        catalogue.renderer(name)(report)
    report_json.dumps(report)


def read_profile(file: Path) -> None:
    from tpudiag.diagnoses.profile import ProfileRequest, diagnose
    from tpudiag.settings import Settings

    whole_report(diagnose(ProfileRequest(path=str(file), xprof_limit_s=0), Settings()))


def profiles() -> list[bytes]:
    from tests.sources.profile import spaces

    made = spaces.pod_host("host", steps=6, devices=2)
    spaces.add_reading(made, [50.0, 70.0, 90.0], 0.5)
    small = spaces.training(devices=1, steps=3)
    seeds = [made.SerializeToString(), small.SerializeToString()]
    real = sorted((TOP.parent / "shared" / "profiles").rglob("*.xplane.pb"))
    return seeds + [file.read_bytes() for file in real[:1]]


def reports() -> list[bytes]:
    return [file.read_bytes() for file in sorted((TOP / "tests" / "golden").glob("*.json"))]


def read_report(file: Path) -> None:
    from tpudiag import catalogue, report_json

    report = report_json.load(file)
    for name in ("text", "rich", "markdown", "sarif", "junit", "json", "html"):
        catalogue.renderer(name)(report)
    catalogue.renderer("text")(report, verbose=True)


def read_baseline(file: Path) -> None:
    from tpudiag import report_json
    from tpudiag.diagnoses import baseline_gate, sides

    odd = report_json.load(file)
    for name in ("profile", "each-severity"):
        good = report_json.load(TOP / "tests" / "golden" / f"{name}.json")
        baseline_gate.held_against(odd, str(file), good, 0.02)
        for before, after in ((odd, good), (good, odd), (odd, odd)):
            made = sides.compared((("a",), ("b",)), ((before,), (after,)), across_hardware=True)
            whole_report(made.report)


def read_expectation(file: Path) -> None:
    from tpudiag.diagnoses.expectation import expected

    expected(file)


def programs() -> list[bytes]:
    from tests.sources.compiler.test_hlo import MODULE

    folder = TOP / "tests" / "data" / "programs"
    small = sorted(folder.glob("*.hlo.gz"), key=lambda file: file.stat().st_size)[:3]
    return [MODULE.encode(), *(gzip.decompress(file.read_bytes()) for file in small)]


def read_program(file: Path) -> None:
    from tpudiag.sources.compiler import hlo, stablehlo

    text = file.read_text(encoding="utf-8", errors="replace")
    hlo.read(text)
    stablehlo.largest(text)
    stablehlo.dynamic(text)


def facts() -> list[bytes]:
    from tests.checks import failing_device, failing_function, passing
    from tpudiag.signals import Signals
    from tpudiag.sources.job.process.protocol import encoded

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
    from tpudiag import catalogue, engine
    from tpudiag.settings import Settings
    from tpudiag.signals import Origin
    from tpudiag.sources.job.process import facts as reader
    from tpudiag.sources.job.process import following

    job = following.JobRun()
    following.take(file.read_bytes(), job)
    job.facts.pop("origin", None)
    signals = reader.signals(Origin.REHEARSAL, job.facts)
    # A check may break on facts that no hook sends: that is reported, and hides no other.
    engine.examine(signals, catalogue.checks(), Settings())


def notebooks() -> list[bytes]:
    sources = (
        "%pip install x\nimport tensorflow as tf", "%%bash\nls", "%%writefile a.py\nx=1",
        "!ls\nx = 1", "for i in range(3):\n    !echo $i\n    y = i", "%%time\nz = 2",
    )  # fmt: skip
    code: dict[str, Any] = {"cell_type": "code", "metadata": {}, "outputs": [], "source": ""}
    cells = [{**code, "execution_count": 1, "source": source} for source in sources]
    book: dict[str, Any] = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return [json.dumps(book).encode()]


def read_notebook(file: Path) -> None:
    from tpudiag.sources import notebook

    notebook.read(str(file))


def read_script(file: Path) -> None:
    from tpudiag.sources import script

    script.look(str(file))


def scripts() -> list[bytes]:
    jobs = sorted((TOP / "tests" / "corpus" / "jobs").rglob("*.py"))
    return [file.read_bytes() for file in jobs[::8]]


def read_settings(file: Path) -> None:
    from tpudiag import settings

    settings.load(file.parent)


def read_prices(file: Path) -> None:
    from tpudiag.planning import prices

    prices.load(file)


def events() -> list[bytes]:
    from tests.monitoring import event_files

    with tempfile.TemporaryDirectory() as folder:
        made = [event_files.event(time.time() - 4_000 + n, n) for n in range(60)]
        event_files.write(Path(folder), made)
        return [next(Path(folder).rglob("*tfevents*")).read_bytes()]


def read_events(file: Path) -> None:
    read_recording(file.parent)


def recordings() -> list[bytes]:
    from tests.monitoring import recordings as made

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "a.sqlite"
        made.write(file, [1.0] * 60 + [1.5] * 60)
        return [file.read_bytes()]


def spools() -> list[bytes]:
    from tpudiag.monitoring.cloud.resource import PointSource
    from tpudiag.monitoring.cloud.spool import Point, Spool

    with tempfile.TemporaryDirectory() as folder:
        spool = Spool(Path(folder) / "a.sqlite")
        source = PointSource((("job", "a"),), (("worker", "0"),))
        spool.add([Point(source, "steps", time.time_ns() + n, n) for n in range(20)], 1)
        spool.close()
        return [(Path(folder) / "a.sqlite").read_bytes()]


def read_recording(file: Path) -> None:
    from tpudiag.diagnoses.watch_request import WatchRequest
    from tpudiag.diagnoses.watch_session import WatchSession
    from tpudiag.settings import Settings

    with WatchSession(WatchRequest(sources=(str(file),)), Settings()) as session:
        if session.look():
            whole_report(session.report())


def read_spool(file: Path) -> None:
    from tpudiag.monitoring.cloud.spool import Spool

    for beside in file.parent.glob(f"{file.name}-*"):
        beside.unlink()  # of the one before, which had this name
    spool = Spool(file)
    with contextlib.closing(spool):
        points = spool.due()
        spool.sending(points)
        spool.not_sent(points)
        spool.drop_before(time.time_ns())
        spool.done(points, len(points), "refused")
        _ = spool.waiting, spool.counts


def compilations() -> list[bytes]:
    import msgspec

    from tests.checks.test_compiled import STEP

    return [msgspec.json.encode(STEP)]


def read_compilation(file: Path) -> None:
    from tpudiag import catalogue, engine
    from tpudiag.compiled import CompilerFacts
    from tpudiag.settings import Settings
    from tpudiag.signals import Origin, Signals
    from tpudiag.sources.compiler import cache

    os.environ["TPUDIAG_CACHE"] = str(file.parent)
    made = cache.load(file.stem)
    if made is not None:
        signals = Signals(origin=Origin.REHEARSAL, compiler=CompilerFacts(step=made))
        engine.examine(signals, catalogue.checks(), Settings())


def errors() -> list[bytes]:
    folder = TOP / "tests" / "data"
    logs = (folder / "innocent_logs.txt").read_bytes()
    asked = json.loads((folder / "questions.json").read_text(encoding="utf-8"))
    texts = [each["text"] for each in (*asked["tune"][:150], *asked["hold"][:150])]
    return [logs[:100_000], *(text.encode() for text in texts)]


def read_error(file: Path) -> None:
    from tpudiag.known_errors import answers, reader

    matches = reader.in_log(str(file))
    for one in matches:
        answers.data(one)
    list(answers.all_rows(matches, str))


def pages() -> list[bytes]:
    page: list[Any] = [
        {"cols": [{"id": "severity"}, {"id": "message"}],
         "rows": [{"c": [{"v": "Warning"}, {"v": "a <b>text</b>"}]}], "p": {}},
        {"cols": [], "rows": [{"c": [{"v": 1.0}]}],
         "p": {"device_core_count": "4", "steptime_ms_average": "1.5", "statement": "<i>x</i>"}},
    ]  # fmt: skip
    return [json.dumps(page).encode()]


def read_page(file: Path) -> None:
    from tpudiag.sources.profile import xprof

    xprof.parse(file.read_bytes())


def answers() -> list[bytes]:
    from tpudiag.sources.profile.schema import message

    return [bytes(message("ProfileResponse")(xspace=profiles()[1]).SerializeToString())]


def read_answer(file: Path) -> None:
    from tpudiag.sources.live import metrics, profiler_messages

    view = memoryview(file.read_bytes())
    from tpudiag.sources.profile.wire import Damaged

    with contextlib.suppress(Damaged):
        profiler_messages.has_events(profiler_messages.xspace(bytes(view)))
    with contextlib.suppress(Damaged):
        list(metrics._values(bytes(view)))  # pyright: ignore[reportPrivateUsage]


def stacks() -> list[bytes]:
    line = 'Thread 1 "MainThread";main (train.py:3);step (a/b.py:77);wait (x.py:9) 31'
    return ["\n".join([line] * 20).encode()]


def read_stacks(file: Path) -> None:
    from tpudiag.sources.live import host_stacks, metrics

    text = file.read_text(encoding="utf-8", errors="replace")
    host_stacks.parsed(text, 1)
    list(metrics._figures(text, ""))  # pyright: ignore[reportPrivateUsage]


BYTES, WIRE, JSON, TEXT = lie_in_bytes, lie_in_message, lie_in_json, lie_in_text
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
READERS: dict[str, Reader] = {
    "profile": Reader(profiles, read_profile, "a.xplane.pb", (WIRE, WIRE, WIRE, BYTES)),
    "report": Reader(reports, read_report, "a.json", (JSON, JSON, JSON, TEXT, BYTES)),
    "baseline": Reader(reports, read_baseline, "a.json", (JSON, JSON, TEXT)),
    "expectation": Reader(reports, read_expectation, "a.json", (JSON, TEXT)),
    "program": Reader(programs, read_program, "a.hlo", (TEXT, TEXT, BYTES)),
    "facts": Reader(facts, read_facts, "a.json", (JSON, JSON, JSON, TEXT)),
    "notebook": Reader(notebooks, read_notebook, "a.ipynb", (JSON, TEXT, BYTES)),
    "script": Reader(scripts, read_script, "a.py", (TEXT, BYTES)),
    "settings": Reader(lambda: [TOML], read_settings, "pyproject.toml", (TEXT, BYTES)),
    "prices": Reader(lambda: [PRICES], read_prices, "a.toml", (TEXT, BYTES)),
    "events": Reader(events, read_events, "a.tfevents.1", (lie_in_events, lie_in_events, BYTES)),
    "recording": Reader(recordings, read_recording, "a.sqlite", (lie_in_rows, lie_in_rows, BYTES)),
    "spool": Reader(spools, read_spool, "a.sqlite", (lie_in_rows, lie_in_rows, BYTES)),
    "cache": Reader(compilations, read_compilation, "a.json", (JSON, JSON, TEXT)),
    "explain": Reader(errors, read_error, "a.log", (TEXT, TEXT, BYTES)),
    "page": Reader(pages, read_page, "a.json", (JSON, TEXT)),
    "answer": Reader(answers, read_answer, "a.pb", (WIRE, BYTES)),
    "stacks": Reader(lambda: [*stacks(), METRICS], read_stacks, "a.txt", (TEXT, BYTES)),
}


# ---- one child, and its parent ----------------------------------------------------------------


def place_of(error: BaseException) -> str:
    """The kind of an error and the last line of ours that it went through."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if str(TOP / "tpudiag") in frame.filename] or frames[-1:]
    ours = own[-1]
    return f"{type(error).__name__} {Path(ours.filename).relative_to(TOP)}:{ours.lineno}"


def child(name: str, seconds: float, seed: int, folder: Path, found: Path) -> None:
    """Read lies for some time; a line of JSON at the end, and one for each that is found."""
    from tpudiag.errors import TpudiagError

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


def fuzz(name: str, seconds: float, found: Path, seed: int) -> Iterator[str]:
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
    yield f"{name:<12} {total:>9,} {kinds:>6}"


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
    rows = [
        row
        for name in options.readers or READERS
        for row in fuzz(name, options.seconds, options.found, options.seed)
    ]
    print(f"{'reader':<12} {'inputs':>9} {'found':>6}", *rows, sep="\n")


if __name__ == "__main__":
    main()
