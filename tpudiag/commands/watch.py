"""`tpudiag watch SOURCE`: throughput of a running job, live; raises alerts."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tpudiag.commands import _report
from tpudiag.commands._durations import duration
from tpudiag.commands._watch_outlets import add_cloud_options, outlets
from tpudiag.commands._worker_options import add_kubernetes_options, add_port_option, selection
from tpudiag.errors import NothingDiagnosed, UsageError

if TYPE_CHECKING:
    from tpudiag.diagnoses.job_pods import Workers
    from tpudiag.diagnoses.lost_time import Price
    from tpudiag.diagnoses.recording import Session
    from tpudiag.diagnoses.worker_lookup import WorkerLookup
    from tpudiag.monitoring.causes.investigation import Tools
    from tpudiag.settings import Settings

EPILOG = """\
Put in your script:
  model.fit(..., callbacks=[tpudiag.ThroughputCallback(global_batch_size=1024)])
  for batch in tpudiag.track(dataset, global_batch_size=1024): ...

examples:
  tpudiag watch tpudiag-logs                  what the script records; live until the run ends
  tpudiag watch logs/ --once                  TensorBoard event files, for cron: exit code 1
  tpudiag watch tpudiag-logs --on-alert 'echo "$TPUDIAG_MESSAGE" | mail -s tpudiag me@example.org'
  tpudiag watch tpudiag-logs --prometheus 9105 --project my-project
  tpudiag watch worker-0/ worker-1/ --expect 12000        several hosts; what is normal
  tpudiag watch --selector job-name=bert                  all pods of a job on GKE, sampled

exit codes: 0 no alert stands at the end; 1 throughput fell (TPU603), the job stalled or crashed
(TPU604) or waits for input (TPU201); 2 usage error, or a source with nothing to watch.
"""
DEFAULT_CHECKS = ("TPU201", "TPU603", "TPU604", "TPU605", "TPU607")
CAPTURES = "tpudiag-logs/watch"
"""Where profiles of drops and stalls go."""
WHERE_THEY_FAIL = ("TPU605",)
"""A job's output tells of errors only; that it tells of none is no news."""


def add_parser(verbs: _report.Verbs) -> None:
    """The options of `watch`."""
    parser = verbs.add_parser(
        "watch", help="follow the throughput of a running job; raise alerts",
        description="Follows the throughput of a running job against its own baseline.",
        epilog=EPILOG, allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument(
        "source", metavar="SOURCE", nargs="*",
        help="a recording (tpudiag-logs, *.sqlite), a TensorBoard log folder, local or gs://, or "
        "the HOST:PORT of a profiler service, which is sampled: a second every half minute; all "
        "workers in all of them are judged",
    )  # fmt: skip
    parser.add_argument("--once", action="store_true", help="look once, report and end")
    parser.add_argument(
        "--interval", metavar="TIME", type=duration(), default=2.0,
        help="how often to look (default: 2s)",
    )  # fmt: skip
    parser.add_argument(
        "--on-alert", metavar="COMMAND",
        help="run COMMAND by the shell when an alert is raised, and when it is over, with "
        "TPUDIAG_ALERT (the check's id), TPUDIAG_STATE (raised, over), TPUDIAG_MESSAGE, "
        "TPUDIAG_CAUSE and TPUDIAG_SOURCE in its environment, and all that is known as JSON on its "
        "stdin",
    )  # fmt: skip
    parser.add_argument(
        "--prometheus", metavar="[HOST:]PORT",
        help="serve the figures for Prometheus at /metrics (on 127.0.0.1 unless HOST says else)",
    )  # fmt: skip
    parser.add_argument(
        "--idle", metavar="TIME", type=duration(zero=True), default=None,
        help="how long to wait for the job's next run, or its restart, after one has ended or was "
        "killed (default: 1m; not at all where it ended well and its process is gone)",
    )  # fmt: skip
    _add_judgement_options(parser)
    _add_worker_options(parser)
    add_cloud_options(parser)
    _report.add_report_options(parser)
    parser.set_defaults(run=run, lacking=())


def _add_judgement_options(parser: argparse.ArgumentParser) -> None:
    """What is normal, where causes are looked for, and what lost time costs."""
    parser.add_argument(
        "--expect", metavar="RATE", type=_expectation,
        help="what is normal: examples a second (steps, where the batch is not known), or the "
        "JSON report of tpudiag plan (the slow end of what it predicts); without it, what the job "
        "and its earlier runs have shown",
    )  # fmt: skip
    parser.add_argument(
        "--log", metavar="FILE", type=Path, action="append", default=[],
        help="what the job prints, where it goes through a pipe (train.py 2>&1 | tee FILE); a file "
        "that it writes itself on this host is found; known errors in it are told (TPU605)",
    )  # fmt: skip
    parser.add_argument(
        "--no-capture", action="store_true",
        help="take no profile of a drop or a stall; by default a second of it is captured where "
        "the trainer runs on this host, serves a profiler and has the memory for it",
    )  # fmt: skip
    parser.add_argument(
        "--price", metavar="PRICE", type=_rate,
        help="of a chip-hour, in your money: what the lost time costs",
    )  # fmt: skip
    parser.add_argument(
        "--chips", metavar="N", type=_count, default=1,
        help="chips that each worker drives, for --price (default: 1)",
    )  # fmt: skip


def _add_worker_options(parser: argparse.ArgumentParser) -> None:
    """Workers that are looked up, and sampled at their profilers' port."""
    tpu = parser.add_argument_group("Cloud TPU")
    tpu.add_argument(
        "--tpu", metavar="NAME", help="all workers of this TPU (its project: --project, or that "
        "of the credentials)",
    )  # fmt: skip
    tpu.add_argument("--zone", metavar="ZONE", help="its zone (default: looked for in all)")
    add_port_option(parser)
    add_kubernetes_options(parser)


def run(options: argparse.Namespace) -> int:
    """Watch, and report at the end."""
    _report.check_outputs(options)
    settings = _settings(options)
    workers = _workers(options)
    options.source = [*options.source, *workers]
    if not options.source:
        raise UsageError("watch: name a SOURCE (tpudiag-logs), --tpu or --selector")
    missing = [str(log) for log in options.log if not log.is_file()]
    if missing:
        raise UsageError(f"--log {missing[0]}: there is no such file")
    from tpudiag.diagnoses.expectation import expected
    from tpudiag.diagnoses.recording import Session

    chosen, expect = outlets(options), expected(options.expect)
    price = _price(options)
    quiet = () if options.log or settings.select != DEFAULT_CHECKS else WHERE_THEY_FAIL
    with Session(
        options.source, settings, options.on_alert, chosen, expect, price, options.log, quiet,
        None if options.no_capture or options.once else CAPTURES, _tools(options),
        _lookup(options, workers),
    ) as session:  # fmt: skip
        if options.once:
            if not session.look():
                raise NothingDiagnosed(f"{session.name}: nothing is recorded there")
            return _reported(session, options)
        return _follow(session, options)


def _workers(options: argparse.Namespace) -> tuple[str, ...]:
    """The addresses of the workers of a TPU or a selector; raises NothingDiagnosed, UsageError."""
    pods = selection(options)
    if options.zone and options.tpu is None:
        raise UsageError("--zone tells where a TPU is; name it with --tpu")
    if pods is None and options.tpu is None:
        return ()
    workers = _asked(options)
    options.lacking = workers.lacking
    for line in () if options.once else workers.lacking:
        print(f"tpudiag: {line}", file=sys.stderr, flush=True)
    return workers.addresses


def _asked(options: argparse.Namespace) -> Workers:
    """The workers as they are now; raises NothingDiagnosed and UsageError."""
    from tpudiag.diagnoses.cloud_tpu import asked_of
    from tpudiag.diagnoses.job_pods import addresses_of

    cloud = asked_of(options.tpu, options.project, options.zone, options.port)
    return addresses_of(selection(options), cloud, options.port)


def _lookup(options: argparse.Namespace, workers: Sequence[str]) -> WorkerLookup | None:
    """Looks for the workers again, where they were looked up."""
    from tpudiag.diagnoses.worker_lookup import WorkerLookup

    return WorkerLookup(lambda: _asked(options).addresses, workers) if workers else None


def _tools(options: argparse.Namespace) -> Tools | None:
    """What looks for causes: with --tpu its state is asked for, too."""
    if options.tpu is None:
        return None
    from tpudiag.diagnoses.cloud_tpu import event_of
    from tpudiag.monitoring.causes.investigation import Tools

    return Tools(node=partial(event_of, options.tpu, options.project, options.zone))


def _reported(session: Session, options: argparse.Namespace) -> int:
    """The report at the end; a source that gave nothing was not judged."""
    report = session.report()
    report = replace(report, faults=(*report.faults, *options.lacking))
    code = _report.emit(report, options)
    for fault in report.faults:
        print(f"tpudiag: {fault}", file=sys.stderr)
    return code or (2 if report.faults else 0)


def _rate(text: str) -> float:
    """A rate above 0."""
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no rate above 0, such as 10000")
    return value


def _expectation(text: str) -> float | Path:
    """A rate, or a plan's report."""
    return Path(text) if text.endswith(".json") else _rate(text)


def _count(text: str) -> int:
    """A number of 1 or more."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of 1 or more")
    return int(text)


def _price(options: argparse.Namespace) -> Price | None:
    """What the time of a worker costs, where that was said."""
    from tpudiag.diagnoses.lost_time import Price

    return None if options.price is None else Price(options.price, options.chips)


def _follow(session: Session, options: argparse.Namespace) -> int:
    """Look again and again until the job is done."""
    from tpudiag.commands._watch_view import view

    told = False
    try:
        with view(session.name) as show:
            while True:
                if session.look():
                    show(session)
                    if session.done(options.idle):
                        _tell_end(session)
                        break
                elif not told and not sys.stderr.isatty():
                    told = True
                    print(f"tpudiag: {session.name}: nothing is recorded there yet; waiting for it",
                          file=sys.stderr, flush=True)  # fmt: skip
                time.sleep(options.interval)
    except KeyboardInterrupt:
        if session.seen:
            _report.emit(session.report(), options)
        print("tpudiag: interrupted", file=sys.stderr)
        return 130
    return _reported(session, options)


def _tell_end(session: Session) -> None:
    """Say that no restart was seen, where the job did not end well."""
    if session.watched.gone is not None:
        print("tpudiag: nothing went on with the job: watching ends (--idle sets how long it "
              "waits for a restart)", file=sys.stderr)  # fmt: skip


def _settings(options: argparse.Namespace) -> Settings:
    """The user's settings; without a selection, the checks that a recording can answer."""
    settings = _report.settings_for(options)
    return settings if settings.select else settings.narrowed(DEFAULT_CHECKS, ())
