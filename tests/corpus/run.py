"""Rehearses the corpus and scores it: `python tests/corpus/run.py [NAME ...] [--json FILE]`.

Each script of jobs/ opens with a block of comments, one fact a line:

    # corpus: must-fail: TPU101@27/31, TPU202    ids that must fail; after @ the lines of the
                                                 defect, each as good as the other; or `none`
    # corpus: may-fail: TPU401                   ids that may fail as a consequence (optional)
    # corpus: must-not-fail: *                   all others of the catalogue, or a list of ids
    # corpus: for: v5e-8                         the target
    # corpus: args: --epochs 3                   the script's arguments (optional)
    # corpus: options: --pedantic                further options of check (optional)
    # corpus: files: helper.py                   what must lie beside it (optional)
    # corpus: ends: error                        the script ends by its own error (optional)
    # corpus: why: one sentence

A name selects the scripts that begin with it. Exit code 1 where a bar is missed: recall 1.0 for
every id of the installed catalogue, no false failure on a healthy script, no rehearsal that
crashed or left no report, and 95 % of the planted defects located on their line.
"""

import argparse
import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tpudiag import catalogue

JOBS = Path(__file__).resolve().parent / "jobs"
LOCATED_BAR = 0.95
NEAR = 2
"""Lines that a location may be off and still count as near."""
_HEADER = re.compile(r"# corpus: ([a-z-]+): *(.*)")
_FIELDS = frozenset(
    ("must-fail", "may-fail", "must-not-fail", "for", "args", "files", "ends", "why", "options")
)
_ID = re.compile(r"(TPU\d{3})(?:@([\d/]+))?")


@dataclass(frozen=True)
class Planted:
    """A defect in a script: the check that must find it, and the lines that are right."""

    id: str
    lines: tuple[int, ...] = ()


@dataclass(frozen=True)
class Job:
    """One script of the corpus and what its header promises."""

    path: Path
    planted: tuple[Planted, ...]
    may_fail: frozenset[str]
    must_not_fail: frozenset[str] | None
    """None stands for every id that is neither planted nor allowed."""
    target: str
    arguments: tuple[str, ...]
    options: tuple[str, ...]
    files: tuple[str, ...]
    ends_by_error: bool
    why: str

    @property
    def name(self) -> str:
        return self.path.stem

    def forbids(self, id_: str) -> bool:
        """Whether a failure of this check is a false one."""
        if id_ in self.may_fail or any(each.id == id_ for each in self.planted):
            return False
        return self.must_not_fail is None or id_ in self.must_not_fail


@dataclass(kw_only=True)
class Located:
    """Where a planted defect was found: lines named, and how near the nearest is."""

    id: str
    wanted: tuple[int, ...]
    named: tuple[str, ...]
    exact: bool
    near: bool
    in_file: bool


@dataclass(kw_only=True)
class Result:
    """What came of one script."""

    name: str
    target: str
    healthy: bool
    seconds: float
    verdicts: dict[str, str] = field(default_factory=dict[str, str])
    found: list[str] = field(default_factory=list[str])
    missed: dict[str, str] = field(default_factory=dict[str, str])
    """Planted ids that did not fail, and what the report says instead."""
    false: dict[str, str] = field(default_factory=dict[str, str])
    """Ids that failed and must not, with the first finding."""
    broken: dict[str, str] = field(default_factory=dict[str, str])
    located: list[Located] = field(default_factory=list[Located])
    not_implemented: list[str] = field(default_factory=list[str])
    trouble: str | None = None
    """Why the rehearsal is no evidence: it crashed, or left no report."""

    @property
    def good(self) -> bool:
        return not (self.missed or self.false or self.broken or self.trouble)


def read_job(path: Path) -> Job:
    """The header of one script; a header that breaks the format is an error."""
    facts: dict[str, str] = {}
    source = path.read_text(encoding="utf-8").splitlines()
    for line in source:
        match = _HEADER.fullmatch(line)
        if match is None:
            break
        if match[1] not in _FIELDS or match[1] in facts:
            raise SystemExit(f"{path}: unknown or repeated field {match[1]}")
        facts[match[1]] = match[2].strip()
    absent = {"must-fail", "must-not-fail", "for", "why"} - facts.keys()
    if absent:
        raise SystemExit(f"{path}: the header lacks {', '.join(sorted(absent))}")
    planted = tuple(_planted(facts["must-fail"], path))
    if any(line > len(source) for each in planted for line in each.lines):
        raise SystemExit(f"{path}: a defect's line lies beyond the end of the file")
    forbidden = facts["must-not-fail"]
    return Job(
        path, planted, frozenset(_ids(facts.get("may-fail", ""))),
        None if forbidden == "*" else frozenset(_ids(forbidden)),
        facts["for"], tuple(shlex.split(facts.get("args", ""))),
        tuple(shlex.split(facts.get("options", ""))),
        tuple(facts.get("files", "").split()), facts.get("ends") == "error", facts["why"],
    )  # fmt: skip


def _planted(text: str, path: Path) -> Iterator[Planted]:
    """The entries of must-fail."""
    for entry in [] if text == "none" else text.split(","):
        match = _ID.fullmatch(entry.strip())
        if match is None:
            raise SystemExit(f"{path}: must-fail: {entry.strip()} is not of the form TPU101@27/31")
        yield Planted(match[1], tuple(int(line) for line in (match[2] or "").split("/") if line))


def _ids(text: str) -> list[str]:
    """The ids of a list."""
    return re.findall(r"TPU\d{3}", text)


def rehearse(
    job: Job,
    timeout_s: float,
    keep: Path | None,
    tool: str = sys.executable,
    options: Sequence[str] = (),
) -> Result:
    """Run `tpudiag check` on a copy of the script in a folder of its own, and judge the report."""
    folder = Path(tempfile.mkdtemp(prefix=f"corpus-{job.name}-"))
    started = time.monotonic()
    try:
        for name in (job.path.name, *job.files):
            shutil.copy(JOBS / name, folder / name)
        report, said = _check(job, folder, timeout_s, tool, options)
        result = Result(
            name=job.name,
            target=job.target,
            healthy=not job.planted,
            seconds=time.monotonic() - started,
        )
        if keep is not None:
            keep.mkdir(parents=True, exist_ok=True)
            (keep / f"{job.name}.json").write_text(json.dumps(report, indent=1))
            (keep / f"{job.name}.log").write_text(said)
        if report is None:
            result.trouble = "no report: " + (said.strip().splitlines() or ["not a word"])[-1]
            return result
        _judge(job, report, result)
        return result
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _check(
    job: Job, folder: Path, timeout_s: float, tool: str, options: Sequence[str]
) -> tuple[dict[str, Any] | None, str]:
    """The JSON report, None where there is none, and what was said on stdout and stderr."""
    output = folder / "report-of-tpudiag.json"
    command = [
        tool, "-P", "-m", "tpudiag", "check", job.path.name, *job.options, *options,
        "--for", job.target, "--tpu", "none", "--timeout", str(timeout_s), "--budget", "20",
        "--log-dir", str(folder / "logs-of-tpudiag"), "--fail-on", "never", "-o", str(output),
        "--", *job.arguments,
    ]  # fmt: skip
    try:
        run = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, errors="replace",
            timeout=timeout_s + 60, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return None, f"tpudiag itself did not end within {timeout_s + 60:.0f} s"
    said = run.stdout + run.stderr
    if not output.is_file():
        return None, said or f"exit code {run.returncode}"
    report: dict[str, Any] = json.loads(output.read_text())
    return report, said


def _judge(job: Job, report: dict[str, Any], result: Result) -> None:
    """Compare a report with what the header promises."""
    outcomes = {outcome["id"]: outcome for outcome in report["outcomes"]}
    result.verdicts = {id_: outcome["verdict"] for id_, outcome in outcomes.items()}
    partial = report.get("partial")
    if partial and not job.ends_by_error:
        result.trouble = str(partial)
    for each in job.planted:
        outcome = outcomes.get(each.id)
        if outcome is None:
            result.not_implemented.append(each.id)
        elif outcome["verdict"] == "failed":
            result.found.append(each.id)
            if each.lines:
                result.located.append(_locate(each, outcome["findings"], job.path.name))
        else:
            result.missed[each.id] = f"{outcome['verdict']}: {outcome['reason'] or 'no finding'}"
    for id_, outcome in outcomes.items():
        if outcome["verdict"] == "broken":
            result.broken[id_] = str(outcome["reason"])
        elif outcome["verdict"] == "failed" and job.forbids(id_):
            first = outcome["findings"][0]
            result.false[id_] = f"{first['message']} ({_place(first)})"


def _locate(planted: Planted, findings: Iterable[dict[str, Any]], file: str) -> Located:
    """How near the findings come to the defect; the nearest counts."""
    places = [finding["location"] for finding in findings if finding["location"]]
    lines = [
        place["line"] for place in places if Path(place["file"]).name == file and place["line"]
    ]
    gaps = [abs(line - wanted) for line in lines for wanted in planted.lines]
    return Located(
        id=planted.id,
        wanted=planted.lines,
        named=tuple(_place({"location": place}) for place in places),
        exact=0 in gaps,
        near=any(gap <= NEAR for gap in gaps),
        in_file=bool(lines),
    )


def _place(finding: dict[str, Any]) -> str:
    """The location of a finding as text."""
    location = finding["location"]
    return f"{Path(location['file']).name}:{location['line']}" if location else "no location"


def score(id_: str, results: Sequence[Result]) -> dict[str, Any]:
    """How one check did over the scripts that ran."""
    healthy = [r.verdicts.get(id_) for r in results if r.healthy]
    failed = sum(r.verdicts.get(id_) == "failed" for r in results)
    found = sum(r.found.count(id_) for r in results)
    false = sum(id_ in r.false for r in results)
    planted = found + sum(id_ in r.missed for r in results)
    return {
        "id": id_,
        "planted": planted,
        "found": found,
        "false": false,
        # Failures that a header allows: neither right nor wrong.
        "consequences": failed - found - false,
        "healthy_passed": healthy.count("passed"),
        "healthy_skipped": healthy.count("skipped"),
        "recall": found / planted if planted else None,
        "precision": found / (found + false) if found + false else None,
    }


def total(results: Sequence[Result], seconds: float) -> dict[str, Any]:
    """The whole run against its bars."""
    located = [each for result in results for each in result.located]
    found = sum(len(r.found) for r in results)
    planted = found + sum(len(r.missed) for r in results)
    false = sum(len(r.false) for r in results if r.healthy)
    troubles = sum(r.trouble is not None for r in results)
    broken = sum(len(r.broken) for r in results)
    exact = sum(each.exact for each in located)
    bars = {
        f"recall {found}/{planted}": found < planted,
        f"{false} false failures on healthy scripts": false > 0,
        f"{troubles} rehearsals crashed or left no report": troubles > 0,
        f"{broken} broken checks": broken > 0,
        f"{exact}/{len(located)} on the line": exact < LOCATED_BAR * len(located),
    }
    return {
        "scripts": len(results),
        "seconds": seconds,
        "planted": planted,
        "found": found,
        "false_on_healthy": false,
        "false_elsewhere": sum(len(r.false) for r in results if not r.healthy),
        "troubles": troubles,
        "broken": broken,
        "located": len(located),
        "exact": exact,
        "near": sum(each.near for each in located),
        "in_file": sum(each.in_file for each in located),
        "not_implemented": sorted({id_ for r in results for id_ in r.not_implemented}),
        "bars_missed": [text for text, is_missed in bars.items() if is_missed],
    }


def text(results: Sequence[Result], scores: Sequence[dict[str, Any]], sums: dict[str, Any]) -> str:
    """The run for people to read."""
    rows = [f"{'id':8}{'planted':>8}{'found':>7}{'recall':>8}{'false':>7}{'precision':>11}"
            f"{'allowed':>9}   healthy: passed/skipped"]  # fmt: skip
    rows += [
        f"{s['id']:8}{s['planted']:>8}{s['found']:>7}{_share(s['recall']):>8}{s['false']:>7}"
        f"{_share(s['precision']):>11}{s['consequences']:>9}   "
        f"{s['healthy_passed']}/{s['healthy_skipped']}"
        for s in scores
    ]
    wrong = [
        ("false on healthy scripts" if r.healthy else "false on planted scripts", r, r.false)
        for r in results
    ]
    wrong += [("missed", r, r.missed) for r in results]
    wrong += [("broken checks", r, r.broken) for r in results]
    wrong += [
        ("crashed or without report", r, {"": r.trouble}) for r in results if r.trouble is not None
    ]
    wrong += [
        ("not on the line", r, {each.id: f"wanted {each.wanted}, named {each.named}"})
        for r in results
        for each in r.located
        if not each.exact
    ]
    for title in dict.fromkeys(title for title, _, said in wrong if said):
        rows += ["", f"{title}:"]
        rows += [
            f"  {r.name}: {id_}: {why}"
            for of, r, said in wrong
            if of == title
            for id_, why in said.items()
        ]
    return "\n".join([
        *rows,
        "",
        f"not implemented, left out: {', '.join(sums['not_implemented']) or 'none'}",
        f"located: {sums['exact']}/{sums['located']} exact, {sums['near']} within {NEAR} lines, "
        f"{sums['in_file']} in the file",
        f"false failures: {sums['false_on_healthy']} on healthy scripts, "
        f"{sums['false_elsewhere']} beside planted defects",
        f"{sums['scripts']} scripts in {sums['seconds']:.0f} s",
        "bars missed: " + ("; ".join(sums["bars_missed"]) or "none"),
    ])  # fmt: skip


def _share(value: float | None) -> str:
    """A share with two decimals, a dash where there is none."""
    return "-" if value is None else f"{value:.2f}"


def selected(names: Sequence[str]) -> list[Job]:
    """The scripts whose names begin with one of those given; helpers have no header."""
    paths = sorted(
        path
        for path in JOBS.glob("*.py")
        if path.read_text(encoding="utf-8").startswith("# corpus: ")
    )
    wanted = [name.removesuffix(".py") for name in names]
    for name in wanted:
        if not any(path.stem.startswith(name) for path in paths):
            raise SystemExit(f"no script of the corpus begins with {name}")
    return [read_job(p) for p in paths if not wanted or p.stem.startswith(tuple(wanted))]


def _progress(result: Result) -> None:
    """One line on stderr for each script that is done."""
    mark = "ok  " if result.good else "FAIL"
    parts = {
        "missed": ", ".join(result.missed),
        "false": ", ".join(result.false),
        "broken": ", ".join(result.broken),
        "not implemented": ", ".join(result.not_implemented),
        "off the line": ", ".join(each.id for each in result.located if not each.exact),
        "trouble": (result.trouble or "")[:120],
    }
    said = "; ".join(f"{what}: {value}" for what, value in parts.items() if value)
    print(f"{mark} {result.seconds:5.1f} s  {result.name}  {said}", file=sys.stderr, flush=True)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", metavar="NAME", nargs="*", help="scripts, by the start of a name")
    parser.add_argument("--jobs", type=int, default=1, help="rehearsals at a time (default: 1)")
    parser.add_argument("--json", metavar="FILE", help="write the result as JSON; - for stdout")
    parser.add_argument("--keep", metavar="DIR", type=Path, help="keep every report and log here")
    parser.add_argument("--timeout", type=float, default=180.0, help="seconds for one script")
    parser.add_argument(
        "--compile", action="store_true", help="ask the compiler too (some minutes more a script)"
    )
    parser.add_argument("--list", action="store_true", help="list the scripts and run none")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the scripts, print the scores, and say by the exit code whether the bars were met."""
    options = _options(arguments)
    jobs = selected(options.names)
    if options.list:
        for job in jobs:
            planted = ", ".join(each.id for each in job.planted) or "healthy"
            print(f"{job.name:36} {job.target:7} {planted}: {job.why}")
        return 0
    started = time.monotonic()
    compiling = () if options.compile else ("--no-compile",)
    results: list[Result] = []
    with ThreadPoolExecutor(options.jobs) as pool:
        running = [
            pool.submit(rehearse, job, options.timeout, options.keep, options=compiling)
            for job in jobs
        ]
        for result in (each.result() for each in running):
            _progress(result)
            results.append(result)
    sums = total(results, time.monotonic() - started)
    scores = [score(check.id, results) for check in catalogue.checks()]
    if options.json != "-":
        print(text(results, scores, sums))
    if options.json is not None:
        scripts = [asdict(result) for result in results]
        whole = json.dumps({"total": sums, "checks": scores, "scripts": scripts}, indent=2) + "\n"
        if options.json == "-":
            sys.stdout.write(whole)
        else:
            Path(options.json).write_text(whole, encoding="utf-8")
    return 1 if sums["bars_missed"] else 0


if __name__ == "__main__":
    sys.exit(main())
