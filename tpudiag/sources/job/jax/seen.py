"""What a job of JAX has shown of its steps and its loop up to now, as facts."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from tpudiag.signals import (
    Checkpoints,
    CompiledPrograms,
    Dispatch,
    StepTimes,
    TracedFunction,
    TrainingLoop,
)
from tpudiag.signals.training_loop import FitSchedule
from tpudiag.sources.job.jax.eager_operations import EagerOperations
from tpudiag.sources.job.jax.fetches import FetchWatch
from tpudiag.sources.job.jax.jit_watch import JitWatch
from tpudiag.sources.job.jax.jitted import Record
from tpudiag.sources.job.jax.rates import Rates
from tpudiag.sources.job.jax.reader import StepReader
from tpudiag.sources.job.points import Library, bindings
from tpudiag.sources.job.points.steps import StepWatch
from tpudiag.sources.job.tensorflow.observer import Observer
from tpudiag.sources.job.tensorflow.watches import keras_backend
from tpudiag.sources.job.tensorflow.watches.checkpoints import CheckpointWatch
from tpudiag.sources.job.tensorflow.watches.monitors import MonitorWatch
from tpudiag.sources.job.tensorflow.watches.pauses import PauseWatch


@dataclass
class Seen:
    """Reads the watches of a job."""

    beside: Observer
    jits: JitWatch
    steps: StepWatch
    reader: StepReader
    fetches: FetchWatch
    checkpoints: CheckpointWatch
    eager: EagerOperations
    rehearsed: bool
    fitted: tuple[object, ...] = ()
    """The model that Keras trains."""
    pauses: PauseWatch = field(default_factory=PauseWatch)
    """Where Keras trains; so are its monitors."""
    monitors: MonitorWatch = field(default_factory=MonitorWatch)
    rates: Rates = field(default_factory=Rates)
    whole: bool = False
    """The job came to its end, and took all of its steps."""

    def lasted(self, record: Record, took_ms: float | None) -> None:
        """A call of what Keras compiled took so long; None where it was answered."""
        if record.trains:
            self.pauses.trained(took_ms, id(record))
        elif self.pauses.inside:
            self.pauses.evaluated(id(record), took_ms, None)

    def of_steps(self) -> dict[str, Callable[[], object]]:
        """What is known of them, and may be more with each."""
        return {
            "functions": self.functions,
            "dispatch": self.dispatch,
            "steps": self.step_times,
            "loop": self.loop,
        }

    def functions(self) -> tuple[TracedFunction, ...]:
        """The functions that were called, those that train first."""
        called = [record for record in self.jits.records.values() if record.calls]
        return tuple(r.fact() for r in sorted(called, key=lambda record: not record.trains))

    def dispatch(self) -> Dispatch:
        """How steps reach the device."""
        eager, at_once = self.steps.eager_steps, self.reader.at_once
        fitted = self.fitted if eager else ()
        layers = tuple(kind for model in fitted for kind in keras_backend.not_compiled(model))
        return Dispatch(
            steps=self.steps.steps * at_once,
            steps_per_dispatch=at_once,
            eager_steps=eager,
            eager_location=(
                (bindings.only_call(*layers) or self.jits.eager_location) if eager else None
            ),
            run_eagerly=any(getattr(model, "run_eagerly", False) for model in fitted),
            not_compiled=layers,
            eager_forward=self.eager.facts() if not eager else None,
        )

    def step_times(self) -> StepTimes | None:
        """The times of the steps, on this machine."""
        at_once, rest = self.reader.at_once, self.jits.rest
        # Of steps that were waited for, what lies between two is the host's own.
        pairs = self.jits.gaps.pairs_ms if self.rehearsed else []
        times = [gap + took for gap, took in pairs] or self.steps.times_ms
        of_others = self.steps.eager_steps and self.jits.kept.step is not None
        if not times or of_others:  # an eager loop's are not those of the step of jax.jit
            return None
        made = rest.input_ms if rest is not None and pairs else None
        return StepTimes(
            step_ms=tuple(took / at_once for took in times),
            input_wait_ms=tuple(gap / at_once for gap, _ in pairs) or None,
            source="job",
            made_alone_ms=made / at_once if made is not None else None,
        )

    def programs(self, jax: Library) -> CompiledPrograms:
        """What JAX compiled until now."""
        jits, step = self.jits, self.jits.kept.step
        return CompiledPrograms(
            count=jits.compilations,
            spent_s=jits.compiling_s,
            of_step=step.record.traces if step is not None else 0,
            cache_folder=_cache_folder(jax.config),
        )

    def saved(self) -> Checkpoints:
        """What the job saves with, and fetches of what is shared out."""
        return Checkpoints(self.checkpoints.facts(), gathered=self.fetches.gathered())

    def loop(self) -> TrainingLoop:
        """What was seen around the step."""
        beside = self.beside.observation
        of_input = beside.watches.loop.state.facts() if beside is not None else ()
        setup = beside.watches.loop.setup if beside is not None else None
        return TrainingLoop(
            dispatches=self.steps.steps,
            fetches=self.fetches.facts(),
            trained_in_evaluation=self.jits.evaluates_in_training_mode,
            fits=tuple(setup.fit_data) if setup is not None else (),
            schedules=(setup.schedules() if setup is not None else ()) or self._schedules(),
            pauses=self.pauses.facts(),
            monitors=self.monitors.facts(),
            frozen=(*self.jits.state.facts(), *(replace(s, of_input=True) for s in of_input)),
        )

    def _schedules(self) -> tuple[FitSchedule, ...]:
        """Those of a job whose steps are all known."""
        step = self.jits.kept.step
        if not self.whole or step is None:
            return ()
        record = step.record
        calls = (record.calls + record.forwarded) // max(record.starts, 1)
        with self.fetches.apart():
            return self.rates.facts(calls * self.reader.at_once)


def _cache_folder(config: object) -> str | None:
    """Where JAX keeps its programs; a folder is of no use where the cache is switched off."""
    on = getattr(config, "jax_enable_compilation_cache", True)
    return (on and getattr(config, "jax_compilation_cache_dir", None)) or None
