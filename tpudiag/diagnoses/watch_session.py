"""A `tpudiag watch`: polls the sources, examines them, raises alerts, and reports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

from tpudiag.catalogue import checks
from tpudiag.diagnoses import lost_time
from tpudiag.diagnoses.alerting import Alerts
from tpudiag.diagnoses.drop_capture import DropCapture, drop_capture, with_profile
from tpudiag.diagnoses.job_log import WorkerLogs
from tpudiag.diagnoses.watch_request import WatchRequest
from tpudiag.diagnoses.watched_figures import (
    job_headline,
    jobs_table,
    measurements,
    merged,
    notes,
    workers_table,
)
from tpudiag.engine import examine
from tpudiag.model import Check, Outcome, Report, Severity, Subject, Verdict
from tpudiag.monitoring import run_signals
from tpudiag.monitoring.causes.investigation import Investigator
from tpudiag.monitoring.follower import Episode
from tpudiag.monitoring.jobs import rank
from tpudiag.monitoring.ledger import Account, together
from tpudiag.monitoring.watched_job import WatchedJob
from tpudiag.report_figures import Table
from tpudiag.settings import Settings
from tpudiag.signals import Cause
from tpudiag.signals.run_state import StateKind

CAUSED = {"TPU603": False, "TPU604": True}
"""The checks whose causes are investigated, and whether they are stalls."""
KNOWN_ERROR, DROP = "TPU605", "TPU603"


class WatchSession:
    """Watched sources; alerts are raised once until they are over."""

    def __init__(self, request: WatchRequest, settings: Settings) -> None:
        self._request, self._settings, self.name = request, settings, request.name
        self._outlets = list(request.outlets)
        self._notes: list[str] = []
        self.alerts = Alerts(self.name, request.on_alert)
        self.job = WatchedJob(request.sources, expect=request.expect)
        self.price = request.price
        """Of a worker's time."""
        self._investigator = Investigator(request.tools)
        self._profile: DropCapture | None = None
        self._workers: Sequence[str] = request.lookup.known if request.lookup else ()
        self._logs = WorkerLogs(request.logs)
        self.outcomes: tuple[Outcome, ...] = ()
        self._unknown: tuple[str, ...] = ()
        self._started = datetime.now(UTC).isoformat(timespec="seconds")

    def __enter__(self) -> WatchSession:
        return self

    def __exit__(self, *_: object) -> None:
        """Close the outlets, and wait for the hooks."""
        self.close_outlets()
        self.alerts.close()

    def look(self) -> bool:
        """Poll once; whether there is a run. Raises UnreadableInput."""
        lookup = self._request.lookup
        if lookup is not None and (now := lookup.changed()) is not None:
            self.job.follow(self._workers, now)
            self._workers = now
        if not self.job.poll():
            return False
        every = checks()
        self._investigator.sample(self.job.workers)
        judged = self._judged(every)
        # Again, since the findings of a drop or stall include its cause.
        if self._investigate(merged(judged)):
            judged = self._judged(every)
        # Worst first: of several that died, the one that caused the others to die.
        ranks = [rank(watched) for watched in self.job.workers]
        order = sorted(range(len(judged)), key=ranks.__getitem__)
        outcomes = merged([judged[place] for place in order])
        self.outcomes, self._unknown = self._shown(outcomes), tuple(_unknown(outcomes))
        self.alerts.reap()
        for outcome in outcomes:
            # An error in the log of a job that goes on is a line of the report, and no alert.
            if outcome.id != KNOWN_ERROR or outcome.severity >= Severity.ERROR:
                ill = [place for place in order if _failing(judged[place][2]).get(outcome.id)]
                self.alerts.judge(outcome, self._alert_data(outcome.id, [*ill, *order][0]))
        for watched, (_, _, outcomes) in zip(self.job.workers, judged, strict=True):
            figures, failing = watched.figures(), _failing(self._shown(outcomes))
            for outlet in self._outlets:
                outlet.show(figures, failing)
        return True

    def _judged(self, every: Sequence[Check]) -> list[tuple[str, bool, tuple[Outcome, ...]]]:
        return [
            (
                watched.worker,
                watched.run.ended_ns is not None,
                examine(
                    replace(run_signals.signals(watched), end=self._logs.end(place, watched)),
                    every,
                    self._settings,
                ),
            )
            for place, watched in enumerate(self.job.workers)
        ]

    def _shown(self, outcomes: Sequence[Outcome]) -> tuple[Outcome, ...]:
        return tuple(
            outcome
            for outcome in outcomes
            if outcome.id not in self._request.quiet or outcome.verdict is Verdict.FAILED
        )

    def _investigate(self, outcomes: Sequence[Outcome]) -> bool:
        """Investigate the cause of a new finding; whether there was one."""
        looked = False
        for id_, stalled in CAUSED.items():
            outcome = next((one for one in outcomes if one.id == id_), None)
            # Only for new ones: py-spy takes seconds, and older ones were investigated when they
            # began.
            if outcome is None or not self.alerts.raises(outcome):
                continue
            episodes = {
                place: episode
                for place, watched in enumerate(self.job.workers)
                if (episode := watched.episode(stalled)) is not None
            }
            causes = self._investigator.causes(self.job.workers, episodes)
            self._capture(episodes, causes)
            for place, cause in causes.items():
                self.job.workers[place].causes[stalled] = cause
            looked = looked or bool(causes)
        for watched in self.job.workers:
            # The cause of a drop that is over does not apply to the next one.
            for stalled in [one for one in watched.causes if watched.episode(one) is None]:
                del watched.causes[stalled]
        return looked

    def _capture(
        self, episodes: Mapping[int, Episode], causes: dict[int, tuple[Cause | None, str]]
    ) -> None:
        here = [
            place
            for place in episodes
            if self.job.workers[place].lives_here
            and self.job.workers[place].state.kind is not StateKind.STOPPED
        ]
        if self._request.captures is None or not here:
            return
        # One only: a capture slows its trainer, and all workers wait for the slowest.
        worst = max(here, key=lambda place: episodes[place].lost)
        self._profile = drop_capture(self.job.workers[worst].run.pid, self._request.captures)
        if self._profile is not None:
            cause, stands = causes[worst]
            causes[worst] = with_profile(cause, episodes[worst].lost, self._profile), stands
            kept = f"A profile of that moment is kept: tpudiag read {self._profile.folder}"
            self._notes.append(kept)

    def _alert_data(self, id_: str, place: int) -> dict[str, Any]:
        """The subject of an alert: the worst of its workers."""
        watched = self.job.workers[place]
        run, figures = watched.run, watched.figures()
        drop = watched.detector.open if id_ == DROP else None
        return {
            "job": run.name,
            "run_id": run.id,
            "worker": watched.worker or run.worker,
            "host": run.host,
            "pid": run.pid,
            "workers": len(self.job.workers),
            "unit": figures.unit,
            "per_second": figures.per_s if drop is None else drop.per_s,
            "baseline_per_second": figures.baseline_per_s,
            "delivered_per_second": figures.delivered_per_s,
            "state": figures.state.kind.value,
            "silent_s": figures.silent_s,
            "cause": watched.cause
            and {
                "kind": watched.cause.kind.value,
                "text": watched.cause.text,
                "evidence": [asdict(figure) for figure in watched.cause.figures],
            },
            "profile": self._profile.folder if self._profile else None,
        }

    def close_outlets(self) -> None:
        """Close the outlets; their messages go into the report."""
        while self._outlets:
            self._notes += filter(None, [self._outlets.pop().close()])

    def account(self) -> Account:
        """Where the time of all workers went."""
        return together(watched.account() for watched in self.job.workers)

    def _beside_each_other(self) -> Iterator[Table]:
        if len(self.job.jobs) > 1:
            yield jobs_table(self.job.jobs, self.name)
        elif len(self.job.workers) > 1:
            yield workers_table(self.job.workers, self.name)

    def report(self) -> Report:
        """The session as a report."""
        self.close_outlets()
        # Outlets are closed first: their messages on lost points are among the notes.
        figures, workers = self.job.slowest.figures(), self.job.workers
        account, examples = self.account(), sum(one.examples for one in workers) or None
        return Report(
            subject=Subject("trainer", f"{figures.run.name} ({self.name})"),
            target=None,
            started=self._started,
            outcomes=self.outcomes,
            measurements={
                **measurements(figures, self.name),
                **lost_time.measurements(account, self.price, examples),
            },
            headline=job_headline(self.job),
            notes=(
                *(self._unknown if any(one.run.failure for one in workers) else ()),
                *notes(self.job),
                *self._notes,
            ),
            tables=(*self._beside_each_other(), lost_time.table(account, self.price, self.name)),
            series=lost_time.timeline(account),
            faults=(
                *(f"{path}: nothing is recorded there" for path in self.job.empty),
                *self.job.unread.values(),
            ),
        )


def _unknown(outcomes: Sequence[Outcome]) -> Iterator[str]:
    for outcome in outcomes:
        if outcome.id == KNOWN_ERROR and outcome.verdict is Verdict.SKIPPED and outcome.reason:
            yield f"{outcome.reason[0].upper()}{outcome.reason[1:]}."


def _failing(outcomes: Sequence[Outcome]) -> dict[str, bool]:
    """Whether each check fails, without skipped ones."""
    judged = (Verdict.PASSED, Verdict.FAILED)
    return {o.id: o.verdict is Verdict.FAILED for o in outcomes if o.verdict in judged}
