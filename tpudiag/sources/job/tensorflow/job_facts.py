"""Sends what the watches recorded: the facts that grow while the job runs."""

from collections.abc import Callable

from tpudiag.signals import Checkpoints, Dispatch, StepTimes, TensorFlowImport, VariableSeen
from tpudiag.sources.job.points import Library, barrier
from tpudiag.sources.job.points.steps import StepWatch
from tpudiag.sources.job.process.protocol import Recorder
from tpudiag.sources.job.tensorflow.watch_order import Watches
from tpudiag.sources.job.tensorflow.watches.setup_calls import tf2_enabled


def tensorflow_import(tf: Library, took_s: float) -> TensorFlowImport:
    """The imported TensorFlow and its current switches."""
    return TensorFlowImport(
        succeeded=True,
        version=str(tf.__version__),
        tf2_behavior=tf2_enabled(),
        eager=bool(tf.compat.v1.executing_eagerly_outside_functions()),
        took_s=took_s,
    )


def send(
    recorder: Recorder,
    watches: Watches,
    steps: StepWatch,
    imported: Callable[[], TensorFlowImport],
    send_each: Callable[..., None] = barrier.send_each,
) -> None:
    """Send everything recorded so far."""
    recorder.put(
        steps=_step_times(steps),
        cut_to_steps=steps.cut_to,
        unprofiled_step_ms=tuple(steps.times_ms),
        strategy_replicas=watches.strategies.most_replicas,
        hook_defects=barrier.defects(),
    )
    send_each(
        recorder.put,
        functions=watches.functions.facts,
        pipelines=lambda: watches.pipelines.own() or None,
        variables=lambda: _variables(watches),
        tf1=lambda: tuple(watches.tf1.values()),
        keras=watches.keras.facts,
        precision=watches.keras.precision,
        checkpoints=lambda: Checkpoints(
            watches.checkpoints.facts(), looked_for=watches.checkpoints.looked_for
        ),
        tensorflow=imported,
        dispatch=lambda: _dispatch(watches, steps),
        loop=watches.loop.facts,
    )


def _step_times(steps: StepWatch) -> StepTimes | None:
    times_ms = tuple(steps.profiled_ms or steps.times_ms)
    if not times_ms:
        return None
    return StepTimes(step_ms=times_ms, input_wait_ms=None, source="job, under tf.profiler")


def _variables(watches: Watches) -> tuple[VariableSeen, ...]:
    watches.variables.trains(v for call in watches.gradients.calls for v in call.sources)
    return watches.variables.facts()


def _dispatch(watches: Watches, steps: StepWatch) -> Dispatch | None:
    if not steps.steps:
        return None
    eager_location = watches.strategies.eager_location or watches.gradients.eager_location
    keras = watches.keras
    at_once = max(steps.steps_per_dispatch, keras.steps_per_execution())
    return Dispatch(
        steps=steps.steps,
        steps_per_dispatch=at_once,
        ran_singly=at_once > steps.steps_per_dispatch == 1,
        eager_steps=steps.eager_steps,
        eager_location=eager_location if steps.eager_steps else None,
        run_eagerly=bool(getattr(keras.fit_model, "run_eagerly", False)),
        compiled_at=keras.line_of(keras.fit_model),
        made_eager_at=watches.functions.made_eager_at,
    )
