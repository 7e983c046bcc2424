"""A training loop's activity around its step: in Python, with its data and its results."""

from typing import Literal

from tpudiag.model import Location
from tpudiag.records import dataclass

FetchKind = Literal["result", "metric", "summary", "variable", "update", "checkpoint", "batch"]
"""The kind of result that a line fetches; `update`: it sets variables one by one; `batch`: it gives
Keras one batch, which returns numbers."""


@dataclass(frozen=True, kw_only=True)
class TrainedNumbers:
    """The observed steps' results, for comparison with a run with the same seed."""

    steps: int
    losses: tuple[float | None, ...] = ()
    """Of each step with a result: the mean of its scalars; None for no number."""
    weights: tuple[float | None, ...] = ()
    """Sum and sum of magnitudes of each trainable variable after the last step."""


@dataclass(frozen=True, kw_only=True)
class FrozenState:
    """Python state frozen by a trace, whose changes the traced function never sees."""

    kind: Literal["random", "written", "read"]
    """Drawn while tracing; written by the traced code; changed outside after the trace."""
    name: str
    """As the code names it: `random.uniform`, `learning_rate`, `self.seen`."""
    function: str
    """The traced function, where that is known."""
    location: Location | None
    traced: str = ""
    """The value that the trace took."""
    now: str = ""
    """The value in Python when it was last looked at."""
    calls: int = 0
    """Calls that ran the old trace since then."""
    of_input: bool = False
    """Drawn in a function of the input pipeline, of tf.data, in a job of JAX."""


@dataclass(frozen=True)
class ResultFetch:
    """A line that fetched a result of the training step from the device after each step."""

    kind: FetchKind
    steps: int
    """Steps after which it did."""
    of_steps: int
    """Those that gave what it fetches: of a GAN's two functions, say, the one's."""
    location: Location


@dataclass(frozen=True, kw_only=True)
class RepeatedSetup:
    """A setup that should happen once and was repeated."""

    kind: Literal["tpu", "compile"]
    times: int
    location: Location | None
    """The line that did it again."""
    variables: int = 0
    """Variables that were there when it was done again."""
    changed: bool = False
    """Whether the trained model had changed in between, which justifies it."""
    fits: int = 0
    """Calls of fit so far."""


@dataclass(frozen=True, kw_only=True)
class IteratorUse:
    """A line that started to read a dataset."""

    times: int
    datasets: int
    """How many different datasets it read."""
    steps_between: float
    """Dispatches of the training step between two starts, the median."""
    cardinality: int
    """Elements of the dataset that was read last; -1 infinite, -2 unknown."""
    cached: bool
    """It holds a cache in memory."""
    start_ms: float
    """Mean time that a start took on this host."""
    asks_once: bool
    """The line takes one element of each iterator: `next(iter(...))`."""
    location: Location


@dataclass(frozen=True, kw_only=True)
class FitData:
    """What a `fit` was to iterate over, in batches of its dataset."""

    batches: int
    """In one pass over the dataset; -1 infinite, -2 unknown."""
    steps_per_epoch: int
    epochs: int
    starts_again: bool
    """This Keras starts the dataset again in the epoch after it ran out."""
    location: Location | None
    validation_unknown: bool = False
    """tf.data does not know either how many batches of validation data there are."""


@dataclass(frozen=True, kw_only=True)
class FitSchedule:
    """A learning rate schedule that falls and ends, and the `fit` that it is for."""

    name: str
    """Its class in Keras."""
    steps: int
    """After so many it has come to its end."""
    warmup: int = 0
    """Those of them before it begins to fall."""
    last_rate: float = 0.0
    """What it ends at."""
    steps_per_epoch: int
    """In a loop of the job's own all that were taken."""
    epochs: int
    """0 in a loop of the job's own."""
    calls_each: int = 1
    """Calls of the step that make one of its updates."""
    location: Location | None


@dataclass(frozen=True, kw_only=True)
class Pause:
    """A line's time outside training steps: evaluation, predictions, saving."""

    kind: Literal["evaluation", "predict", "saving"]
    times: int
    spent_ms: float
    """Without the first call, which traces and opens files."""
    training_ms: float
    """Training steps between the first time and the last."""
    location: Location | None
    eager: bool = False
    """A model was called outside any tf.function."""
    each_batch: bool = False
    """A callback of fit does it at each batch."""
    in_step_loop: bool = False
    """It stands in the body of the loop that calls the training step."""
    dispatches_between: float = 0.0
    """Calls that trained, from one time to the next."""
    examples: int = 0
    """Those that a model got at once where it was called eagerly, and after each step or nearly."""


@dataclass(frozen=True, kw_only=True)
class UndistributedInput:
    """A training step whose replicas all ran on the same tensors."""

    replicas: int
    shapes: tuple[str, ...]
    """Those of the tensors, e.g. `float32[1024, 784]`."""
    from_dataset: bool
    """A dataset that was read without distribution yields such tensors."""
    location: Location | None


@dataclass(frozen=True, kw_only=True)
class ReplicaRead:
    """A step's result of which one replica's part was taken, or a manual mean."""

    kind: Literal["first", "mean", "sum"]
    """`first`: replica 0 alone; `mean`: averaged, though it is scaled by the global batch; `sum`:
    the means of the replicas are summed."""
    replicas: int
    taken: float | None = None
    mean: float | None = None
    """Over all replicas."""
    location: Location | None = None


@dataclass(frozen=True)
class KeptMetric:
    """A metric that is read epoch after epoch and never reset, as others of its kind are."""

    name: str
    reads: int
    location: Location


@dataclass(frozen=True, kw_only=True)
class TrainedInEvaluation:
    """Layers that the evaluations which were seen call in training mode; of none of them zeros."""

    norms: int
    """Batch normalisations, whose averages it moves."""
    dropouts: int
    location: Location | None
    """The call of the model."""

    @property
    def layers(self) -> int:
        """Of both kinds."""
        return self.norms + self.dropouts


@dataclass(frozen=True)
class MetricOnScores:
    """A metric with thresholds between 0 and 1 that is given a layer's output as it is."""

    name: str
    location: Location | None


@dataclass(frozen=True, kw_only=True)
class KeptResults:
    """Results of earlier training steps that the job still holds."""

    steps: int
    """Those whose results are alive, of `of_steps` that ended before the last ones."""
    of_steps: int
    bytes: int
    """Of one step, on one replica."""
    location: Location | None
    """The line that called the step."""


@dataclass(frozen=True)
class GpuUse:
    """Code made for a GPU that ran."""

    what: str
    location: Location | None


@dataclass(frozen=True, kw_only=True)
class BatchCallback:
    """A user's batch hook that sets the learning rate by its own count of calls."""

    name: str
    counter: str
    """The attribute that counts."""
    calls: int
    location: Location


@dataclass(frozen=True)
class EndlessSum:
    """Variables that gradients are added to and that are applied, but never set back to zero."""

    variables: int
    location: Location | None
    """The line that adds to the first."""


@dataclass(frozen=True)
class Monitor:
    """A callback that acts by a metric, and the metrics that the last epoch reported to it."""

    callback: str
    metric: str
    reported: tuple[str, ...]
    """With the metric, where any epoch reported it."""
    location: Location | None = None


@dataclass(frozen=True, kw_only=True)
class TrainingLoop:
    """All observations around the training step; empty tuples where nothing was found."""

    dispatches: int
    """Calls from Python that trained."""
    frozen: tuple[FrozenState, ...] = ()
    fetches: tuple[ResultFetch, ...] = ()
    setups: tuple[RepeatedSetup, ...] = ()
    iterators: tuple[IteratorUse, ...] = ()
    fits: tuple[FitData, ...] = ()
    schedules: tuple[FitSchedule, ...] = ()
    pauses: tuple[Pause, ...] = ()
    undistributed: UndistributedInput | None = None
    replica_reads: tuple[ReplicaRead, ...] = ()
    kept_metrics: tuple[KeptMetric, ...] = ()
    trained_in_evaluation: TrainedInEvaluation | None = None
    metrics_on_scores: tuple[MetricOnScores, ...] = ()
    kept_results: KeptResults | None = None
    gpu: tuple[GpuUse, ...] = ()
    batch_callbacks: tuple[BatchCallback, ...] = ()
    monitors: tuple[Monitor, ...] = ()
    endless_sum: EndlessSum | None = None
    tpu_strategy: bool = False
    """A TPUStrategy was made."""
    unplaced: bool = False
    """No strategy of any kind was made, and nothing was placed on a TPU by its device's name."""
