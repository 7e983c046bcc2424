"""All watches of a job, each connected with the ones that it needs."""

from collections.abc import Callable
from typing import Any

from tpudiag.script_run import InterventionKind
from tpudiag.sources.job.points import Args, Kwargs, Library, interventions
from tpudiag.sources.job.process.protocol import JobSpec, Recorder
from tpudiag.sources.job.tensorflow.devices import tpu_stubs
from tpudiag.sources.job.tensorflow.devices.full_replicas import FullReplicas
from tpudiag.sources.job.tensorflow.devices.same_numbers import SameNumbers
from tpudiag.sources.job.tensorflow.devices.tpu import announce
from tpudiag.sources.job.tensorflow.devices.tpu_system import CpuReplicas, TpuSystem
from tpudiag.sources.job.tensorflow.graphs.lowering import LoweringWatch
from tpudiag.sources.job.tensorflow.input.iterators import release_apart
from tpudiag.sources.job.tensorflow.input.pipelines import PipelineWatch
from tpudiag.sources.job.tensorflow.shortening.heavy_functions import HeavyFunctions
from tpudiag.sources.job.tensorflow.shortening.real_checkpoints import RealCheckpoints
from tpudiag.sources.job.tensorflow.shortening.whole_script import WholeScript
from tpudiag.sources.job.tensorflow.watches.checkpoints import CheckpointWatch
from tpudiag.sources.job.tensorflow.watches.functions import FunctionWatch
from tpudiag.sources.job.tensorflow.watches.keras import KerasWatch
from tpudiag.sources.job.tensorflow.watches.setup_calls import watch_tf1
from tpudiag.sources.job.tensorflow.watches.strategies import StrategyWatch
from tpudiag.sources.job.tensorflow.watches.training import GradientWatch
from tpudiag.sources.job.tensorflow.watches.training_loop import LoopWatch
from tpudiag.sources.job.tensorflow.watches.variables import VariableWatch

REST_S = 60.0


class Watches:
    """The watches by name; None where the job does not need one."""

    def __init__(
        self,
        tf: Library,
        spec: JobSpec,
        recorder: Recorder,
        script_path: Callable[[object], object],
        on_hard_end: Callable[[], None],
        on_heavy: Callable[[str], None],
    ) -> None:
        """`script_path` returns the script's own path of a redirected file.

        `on_hard_end` is called on a thread of its own, where the time for the rest of the script is
        over and it does not end; `on_heavy` with the description of a function too heavy to run.
        """
        self.full_replicas: FullReplicas | None = None
        self.replicas: CpuReplicas | None = None
        # First: subclasses of our replacement classes are hooked like the originals.
        if spec.rehearse:
            self.replicas = _stand_in_for_tpu(tf, spec, recorder)
            self.full_replicas = FullReplicas(tf)
        else:
            announce(recorder)
        self.gradients = GradientWatch(tf)
        self.functions = FunctionWatch(tf)
        self.strategies = StrategyWatch(tf, self.functions)
        self.lowering: LoweringWatch | None = None
        if spec.lower_to:
            self.lowering = LoweringWatch(tf, self.gradients, recorder)
            self.functions.after_training = self.lowering.trained_alone
        self.pipelines = PipelineWatch(tf)
        self.variables = VariableWatch(tf, write=spec.requests < 0)
        in_place = spec.rehearse and spec.isolation == "none"
        self.real_checkpoints = RealCheckpoints() if in_place else None
        self.checkpoints = CheckpointWatch(script_path)
        self.checkpoints.watch_tensorflow(tf)
        self.whole: WholeScript | None = None
        self.heavy: HeavyFunctions | None = None
        if spec.rehearse and spec.requests < 0:
            self.whole = WholeScript(
                tf,
                spec.rest_s or REST_S,
                self.functions,
                self.strategies,
                self.variables,
                steps_seen=lambda: self.gradients.taken + self.strategies.runs,
                on_hard_end=on_hard_end,
            )
            self.heavy = HeavyFunctions(tf, on_heavy)
            self.functions.call = self.heavy.call
            self.heavy.predicted = self.whole.epochs.predicts
        self.tf1 = watch_tf1()
        self.keras = KerasWatch(tf)
        if self.lowering is not None:
            self.lowering.steps_per_dispatch = self.keras.steps_per_execution
        self.loop = LoopWatch(tf, self.gradients)
        self.numbers = SameNumbers(tf, spec.seed) if spec.seed >= 0 else None
        self._connect()

    def _connect(self) -> None:
        self.gradients.on_traced_gradient = self._mark_training
        self.functions.before_call = self._calling
        self.variables.on_made = self.loop.variable_made
        self.strategies.before_eager_run = self.pipelines.feeds.calling
        self.loop.optimizers = lambda: self.keras.optimizers
        self.loop.state.methods = self.keras.own_methods
        if self.whole is not None:
            self.whole.forward.on_answer = self.loop.pauses.answered
        if self.numbers is not None:
            self.variables.on_trained = self.numbers.made
            self.loop.results.on_step = self.numbers.step_done

    def _calling(self, args: Args, kwargs: Kwargs) -> None:
        self.keras.calling()
        self.pipelines.feeds.calling(args, kwargs)

    def watch_keras(self, keras: Library, package: str, rehearse: bool) -> None:
        """Hook a Keras that the job imported."""
        self.keras.watch(keras, package)
        if rehearse and package == "keras":
            self.keras.adapt_to_cpu_replicas(keras)
        if self.lowering is not None:
            self.lowering.lines.watch(keras, self.keras)
        if self.whole is not None:
            self.whole.epochs.watch_keras(keras)
        ours: Any = (self.real_checkpoints, self.checkpoints, self.full_replicas, self.heavy)
        for each in filter(None, (self.gradients, *ours)):
            each.watch_keras(keras)
        self.loop.watch_keras(keras, package)

    def _mark_training(self) -> None:
        if self.functions.current is not None:
            self.functions.current.trains = True


def _stand_in_for_tpu(tf: Library, spec: JobSpec, recorder: Recorder) -> CpuReplicas:
    fewer = interventions.allowed(InterventionKind.REPLICAS)
    replicas, hosts = (spec.replicas, spec.hosts) if fewer else (spec.real_replicas, 1)
    made = tpu_stubs.install(
        tf,
        TpuSystem(replicas, hosts, spec.devices_per_chip),
        spec.real_replicas,
        on_resolver=lambda name: recorder.put(tpu_named=name),
        recorder=recorder,
    )
    release_apart(tf)
    return made
