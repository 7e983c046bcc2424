"""Groups watched workers into jobs."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tpudiag.monitoring.follower import Watched
from tpudiag.monitoring.recording import Run
from tpudiag.signals.run_state import StateKind

Rank = tuple[bool, bool, int, float, float]


@dataclass(frozen=True)
class Job:
    """Its workers in order; `name` distinguishes it from other jobs."""

    name: str
    workers: tuple[Watched, ...]

    @property
    def slowest(self) -> Watched:
        """The worker that the job waits for."""
        return min(self.workers, key=rank)

    @property
    def sick(self) -> bool:
        """Whether a worker of it is ill, or slower than before."""
        worst = rank(self.slowest)
        return not worst[1] or (not worst[0] and worst[3] < SICK)


SICK = 0.9


def rank(watched: Watched) -> Rank:
    """Lower is worse: ended badly or lost, the earliest of them first; then the slowest.

    The first to die is the cause: the others die of its silence.
    """
    now, run = watched.state, watched.run
    well = now.kind is StateKind.COMPLETED
    ill = now.ill or now.kind is StateKind.LOST
    per_s = watched.per_s(now) if watched.steps else None
    per_s = float("inf") if per_s is None else per_s
    base = watched.detector.baseline_per_s
    # Running workers are ranked by their rates alone.
    return well, not ill, run.last_ns if ill else 0, per_s / base if base else 1.0, per_s


def jobs(workers: Sequence[Watched]) -> tuple[Job, ...]:
    """The jobs of the workers, in the order in which they stand."""
    alike: dict[tuple[object, ...], list[Watched]] = {}
    for watched in workers:
        run = watched.run
        # Another loop of the script is the same job.
        alike.setdefault((run.name, run.unit, run.global_batch, run.parameters), []).append(watched)
    groups = [part for group in alike.values() for part in _apart(group)]
    names = [group[0].run.name for group in groups]
    return tuple(
        Job(name if names.count(name) == 1 else f"{_folder(group[0])}: {name}", tuple(group))
        for name, group in zip(names, groups, strict=True)
    )


def _apart(group: list[Watched]) -> list[list[Watched]]:
    """Runs of one script: workers of one job, or jobs in folders of their own."""
    called = [watched.run.worker or watched.run.host for watched in group]
    if len(set(called)) == len(called):
        return [group]
    # Two of one name are no workers of one job, unless they share a folder.
    folders: dict[str, list[Watched]] = {}
    for watched in group:
        folders.setdefault(_folder(watched), []).append(watched)
    return [*folders.values()]


def _folder(watched: Watched) -> str:
    path = Path(watched.source_name)
    return str(path.parent) if path.suffix == ".sqlite" else watched.source_name


def name_workers(every: Sequence[Job]) -> None:
    """Give the workers unique names where there are several: by the job, and within it."""
    for job in every:
        runs = [watched.run for watched in job.workers]
        for watched in job.workers:
            within = name_of(watched.run, runs) if len(runs) > 1 else ""
            watched.worker = f"{job.name} {within}".rstrip() if len(every) > 1 else within


def name_of(run: Run, runs: Sequence[Run]) -> str:
    """Its cluster's name for it, its host, or its process: the first that is unique."""
    others = [one for one in runs if one is not run]
    named = (
        (run.worker, [one.worker for one in others]),
        (run.host, [one.host for one in others]),
        (run.name, [one.name for one in others]),
    )
    process = f"{run.host} process {run.pid}" if run.pid > 0 else run.id
    return next((name for name, taken in named if name and name not in taken), process)
