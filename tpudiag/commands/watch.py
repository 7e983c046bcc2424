"""Follows the throughput of a running job against its own baseline."""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from tpudiag.commands import _report
from tpudiag.commands._interrupts import Interrupts
from tpudiag.commands._job_request import selection
from tpudiag.errors import NothingDiagnosed, UsageError
from tpudiag.options.verbs import request_of
from tpudiag.printing import say

if TYPE_CHECKING:
    from tpudiag.diagnoses.watch_session import WatchSession

EPILOG = """\
Put in your script:
  model.fit(..., callbacks=[tpudiag.ThroughputCallback(global_batch_size=1024)])
  for batch in tpudiag.track(dataset, global_batch_size=1024): ...

examples:
  tpudiag watch tpudiag-logs                  the script's recording; live until the run ends
  tpudiag watch logs/ --once                  TensorBoard event files, for cron: exit code 1
  tpudiag watch tpudiag-logs --on-alert 'echo "$TPUDIAG_MESSAGE" | mail -s tpudiag me@example.org'
  tpudiag watch tpudiag-logs --prometheus 9105 --project my-project
  tpudiag watch worker-0/ worker-1/ --expect 12000        several hosts; the normal rate
  tpudiag watch --selector job-name=bert                  all pods of a job on GKE, sampled

exit codes: 0 no alert is active at the end; 1 throughput fell (TPU603, TPU608), the job stalled
(TPU604), failed (TPU609) or waits for input (TPU201), its loss is NaN (TPU611); 2 usage error, or a
source with nothing to watch.
"""
DEFAULT_CHECKS = (
    "TPU201", "TPU603", "TPU604", "TPU605", "TPU607", "TPU608", "TPU609", "TPU610", "TPU611",
)  # fmt: skip
NO_RESTART = (
    "nothing went on with the job: watching ends (--idle sets how long it waits for a restart)"
)
CAPTURES = "tpudiag-logs/watch"
"""The folder for profiles of drops and stalls."""
WHERE_THEY_FAIL = ("TPU605", "TPU611")
"""A job's output shows only errors, and not all jobs report their loss: passes are no news."""


def run(options: argparse.Namespace) -> int:
    """Watch, and report at the end."""
    settings = _report.settings_for(options)
    if not settings.select:  # by default the checks that a recording can answer
        settings = settings.narrowed(DEFAULT_CHECKS, ())
    workers = _workers(options)
    options.sources += workers
    if not options.sources:
        raise UsageError("watch: name a SOURCE (tpudiag-logs), --tpu or --selector")
    missing = [str(log) for log in options.log if not log.is_file()]
    if missing:
        raise UsageError(f"--log {missing[0]}: there is no such file")
    from tpudiag.diagnoses.cloud_tpu import tools_for
    from tpudiag.diagnoses.lost_time import Price
    from tpudiag.diagnoses.watch_request import OutletRequest, WatchRequest, expected, outlets
    from tpudiag.diagnoses.watch_session import WatchSession
    from tpudiag.diagnoses.worker_lookup import WorkerLookup

    # The checks to report only where they fail, unless they were requested.
    requested = bool(options.log) or settings.select != DEFAULT_CHECKS
    request = WatchRequest(
        sources=tuple(options.sources),
        on_alert=options.on_alert,
        outlets=outlets(request_of(OutletRequest, vars(options))),
        expect=expected(options.expect),
        price=None if options.price is None else Price(options.price, options.chips),
        logs=tuple(options.log),
        quiet=frozenset(() if requested else WHERE_THEY_FAIL),
        captures=None if options.no_capture or options.once else CAPTURES,
        tools=tools_for(options.tpu, options.project, options.zone),
        # Restarted pods have other addresses.
        lookup=WorkerLookup(lambda: _workers_now(options)[0], workers) if workers else None,
    )
    with WatchSession(request, settings) as session:
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
    addresses, options.lacking = _workers_now(options)
    # With --once the report says so a moment later.
    for line in () if options.once else options.lacking:
        say(line)
    return addresses


def _workers_now(options: argparse.Namespace) -> tuple[tuple[str, ...], tuple[str, ...]]:
    from tpudiag.diagnoses.cloud_tpu import asked_of
    from tpudiag.diagnoses.job_pods import addresses_of

    cloud = asked_of(options.tpu, options.project, options.zone, options.port)
    return addresses_of(selection(options), cloud, options.port)


def _reported(session: WatchSession, options: argparse.Namespace) -> int:
    """The report at the end; an empty source was not judged."""
    report = session.report()
    faults = (*report.faults, *getattr(options, "lacking", ()))
    report = replace(report, faults=faults, shortfall="whole" if faults else None)
    return _report.emit(report, options)


def _follow(session: WatchSession, options: argparse.Namespace) -> int:
    from tpudiag.commands._watch_view import view

    announced = False
    try:
        with Interrupts() as interrupts, view(session.name) as show:
            while True:
                interrupts.look()
                if session.look():
                    show(session)
                    if session.job.done(options.idle_s):
                        if session.job.slowest.state.ill:
                            say(NO_RESTART)
                        break
                elif not announced and not sys.stderr.isatty():
                    announced = True
                    say(f"{session.name}: nothing is recorded there yet; waiting for it")
                time.sleep(options.interval_s)
    except KeyboardInterrupt:
        if session.job.workers:
            return _report.emit(replace(session.report(), interrupted=True), options)
        raise
    return _reported(session, options)
