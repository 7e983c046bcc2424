"""The tf.data pipelines as built, and the gains of their fixes."""

from tpudiag.model import Location
from tpudiag.records import dataclass
from tpudiag.signals.step import TensorSeen


@dataclass(frozen=True, kw_only=True)
class DatasetOp:
    """One transformation of a tf.data pipeline; None where the op has no such setting."""

    kind: str
    """Op type without version, e.g. `ParallelMap`, `Prefetch`, `TensorSlice`."""
    parallelism: int | None = None
    """-1 is AUTOTUNE."""
    buffer_size: int | None = None
    batch_size: int | None = None
    drop_remainder: bool | None = None
    count: int | None = None
    stateful: bool = False
    """Its function holds random or other stateful ops."""
    same_draws: Location | None = None
    """The line in its function that draws by a constant seed: the same for each element."""
    python: bool = False
    """Its function calls back into Python."""
    costly: bool = False
    """Its function does more than casts, scaling and reshaping."""
    reads_files: bool = False
    """It reads the files that the op before it names, one after the other."""
    opens_files: bool = False
    """It opens files, in whatever way."""
    pads: bool = False
    """It pads examples that differ to one shape."""
    gives_unknown: bool = False
    """A dimension of its elements is unknown."""
    batch_named: tuple[str, ...] = ()
    """Names that the user's code had for the batch size where it was set, e.g. `args.batch`."""
    global_batch_named: int | None = None
    """The value of the one name for a global batch that the user's code had there."""
    elements: int | None = None
    """Its elements in one pass; None where unknown or endless."""
    element_bytes: int | None = None
    """Size of one of them; None where a dimension is unknown."""
    host_bytes: int | None = None
    """An element's host memory; for ops that hold elements."""
    seeded: bool = False
    """Whether a shuffle has a given seed."""
    keeps_order: bool = False
    """Whether a shuffle has the same order in each pass."""
    in_file: bool = False
    """A cache lies in a file."""
    inside_library: bool = False
    """A library's function that the user called made it, e.g. `make_csv_dataset`."""
    parallel_by_itself: bool = False
    """A serial map that tf.data makes parallel when it optimises the pipeline: a stateless one."""
    location: Location | None = None

    @property
    def repeats(self) -> bool:
        """Whether it gives its elements more than once."""
        return self.kind == "Repeat" and self.count not in (0, 1)

    @property
    def endless(self) -> bool:
        """Whether it gives them for ever."""
        return self.repeats and (self.count is None or self.count < 0)


_ONE_FOR_ONE = frozenset(("Map", "ParallelMap", "MapAndBatch"))
TAKES_APART = frozenset(("Unbatch", "FlatMap", "Interleave", "ParallelInterleave"))
"""Ops with one output per input, as one example per file; and ops that split elements."""
NO_WORK = frozenset(
    ("Options", "Model", "MaxIntraOpParallelism", "PrivateThreadPool", "Rebatch", "Take", "Repeat")
)
"""Ops allowed after the last prefetch: settings, and ops that pass elements on unchanged."""


@dataclass(frozen=True)
class FilesRead:
    """The files that a pipeline opens: how many, and the first of their paths."""

    count: int
    paths: tuple[str, ...]


@dataclass(frozen=True)
class PartsApart:
    """Files of the same names in two places that are zipped in different orders."""

    files: int
    first: tuple[str, str]
    """Two that belong together."""
    shuffled: bool
    """By the pipeline; else they are listed so."""
    location: Location | None = None


@dataclass(frozen=True, kw_only=True)
class AutotuneChoice:
    """A setting that tf.data's AUTOTUNE chose while the pipeline ran alone on this machine."""

    transformation: str
    setting: str
    """parallelism or buffer_size."""
    built_with: int | None
    """The script's value: -1 is AUTOTUNE; None where tf.data added it by itself."""
    chosen: int
    held_bytes: int
    """What the transformation held when it was looked at."""
    location: Location | None = None


@dataclass(frozen=True)
class InputSpeed:
    """The gain of a pipeline fix: measured alone on this machine, in turns."""

    fix: str
    """parallel calls, parallel reads, cache, prefetch (with a consumer as slow as the pipeline), or
    AUTOTUNE in the place of static values."""
    before_examples_per_s: float
    after_examples_per_s: float
    slowest_before_examples_per_s: float | None = None
    """The slowest turn as built: turns differ on a shared machine."""
    others: float | None = None
    """The share of this machine's cores that other processes took meanwhile."""


@dataclass(frozen=True)
class InputCost:
    """The cost of a pipeline as built: run alone on this machine for a moment."""

    examples: int
    seconds: float
    cpu_seconds: float
    """Of the whole process meanwhile, which did nothing else."""
    read_bytes: int | None = None
    """Read from files and sockets; None where the system does not provide it."""
    cores: int | None = None
    """That the process might use."""
    serial_seconds: float | None = None
    """The longest part that runs on one thread, one element after the other; None where TensorFlow
    does not show it."""
    python_seconds: float | None = None
    """Of generators and maps in Python that run so."""

    @property
    def serial_s_per_example(self) -> float | None:
        """What one core must do for an example, whatever there are; None where not known."""
        return self.serial_seconds / self.examples if self.serial_seconds else None

    @property
    def python_s_per_example(self) -> float | None:
        """Of this, in Python."""
        return self.python_seconds / self.examples if self.python_seconds else None

    @property
    def cpu_s_per_example(self) -> float:
        """CPU time of one example."""
        return self.cpu_seconds / self.examples

    @property
    def examples_per_second(self) -> float:
        """As built, on this machine."""
        return self.examples / self.seconds


@dataclass(frozen=True)
class UnmixedLabel:
    """A label whose share of a batch differs between batches in a row, far beyond chance."""

    label: str
    least: float
    most: float
    batches: int


@dataclass(frozen=True)
class PaddedLength:
    """Sequences of whole numbers (tokens) that are filled up to a width that none of them needs."""

    width: int
    longest: int
    """Of the sequences seen, without the padding."""
    examples: int
    """Seen."""


@dataclass(frozen=True, kw_only=True)
class Pipeline:
    """A tf.data pipeline that the training loop reads: its ops from source to end."""

    ops: tuple[DatasetOp, ...]
    elements: tuple[TensorSeen, ...]
    location: Location | None = None
    distributed: bool = False
    trains: bool = True
    """It feeds the training step."""
    passes: int = 1
    """How often the loop has started to read it (epochs)."""
    auto_shard_policy: str | None = None
    files: FilesRead | None = None
    per_replica: bool = False
    """Made by a function for distribute_datasets_from_function, with per-replica batches."""
    replicas: int | None = None
    """Replicas of the strategy that distributes it."""
    debugged: Location | None = None
    """The line that put tf.data into its debug mode, which leaves out prefetch and parallel calls;
    None where it is in none."""
    prefetched_by_itself: bool = False
    """tf.data puts a prefetch at its end when it optimises the pipeline."""
    speeds: tuple[InputSpeed, ...] = ()
    autotuned: tuple[AutotuneChoice, ...] = ()
    cost: InputCost | None = None
    """None where it was not run alone."""
    shapes: tuple[tuple[tuple[int, ...], ...], ...] = ()
    """Those of a batch's tensors behind their first dimension, where all batches that were looked
    at had the same, or a few in turn (buckets)."""
    unmixed: UnmixedLabel | None = None
    """None where the labels of these batches were mixed, or not read."""
    padded: PaddedLength | None = None
    """None where the batches looked at have no sequences, or some fill their width."""
    apart: PartsApart | None = None

    @property
    def serial(self) -> bool:
        """Whether it stays on about one core whatever the host has: no part of it is parallel."""
        return self.held_up or not any(op.kind.startswith("Parallel") for op in self.ops)

    @property
    def held_up(self) -> bool:
        """Whether a part of it does its work on one core."""
        return any(
            op.python or op.reads_files or op.kind in ("Map", "Interleave") or op.parallelism == 1
            for op in self.ops
        )

    @property
    def python_in_parallel(self) -> bool:
        """Whether parallel calls go into Python, where they wait for each other."""
        return any(op.python and op.kind.startswith("Parallel") for op in self.ops)

    @property
    def handed_per_example(self) -> float:
        """How often an example is passed to another thread: once per parallel part and per Python
        part, less often after the batch."""
        return sum(self._handed())

    @property
    def handed_out_per_example(self) -> float:
        """How often the busiest passing thread does so; 0 where none does."""
        return max(self._handed(), default=0.0)

    def _handed(self) -> list[float]:
        """For each part that passes elements to other threads, how many make an example."""
        handed: list[float] = []
        size = 1
        for op in self.ops:
            size = max(size, op.batch_size or 1)
            if op.python or op.kind.startswith("Parallel") or op.kind == "MapAndBatch":
                handed.append(1 / size)
        return handed

    @property
    def examples_per_element(self) -> int:
        """The batch that one element is; 1 where it is not known to be one."""
        return next((op.batch_size for op in reversed(self.ops) if op.batch_size), 1)

    @property
    def worth_caching(self) -> int | None:
        """The last op that is costly and the same in every pass, None where none is.

        Behind a shuffle it still does the same to each element, but no longer to each batch.
        """
        place = None
        shuffled = False
        for number, op in enumerate(self.ops):
            shuffled |= op.kind == "Shuffle" and not self.names_files(number)
            # A cache past this place would give the first pass's draws, or its batches, for ever.
            if op.stateful or (shuffled and op.batch_size):
                break
            if op.kind == "Cache":
                return None
            if op.costly and not op.python and op.location is not None:
                place = number
        return place

    @property
    def elements_to_cache(self) -> int:
        """Elements of the whole pipeline that one pass over the costly ops makes."""
        costly = self.worth_caching
        elements = self.ops[costly].elements if costly is not None else None
        # Rounded up: the last batch of a pass may be short.
        return -(-(elements or 0) // self.examples_per_element)

    @property
    def ends_ahead(self) -> bool:
        """Whether it ends in a prefetch whose buffer is left to AUTOTUNE."""
        last = next((op for op in reversed(self.ops) if op.kind not in NO_WORK), None)
        return last is not None and last.kind == "Prefetch" and last.buffer_size in (-1, None)

    def names_files(self, number: int) -> bool:
        """Whether an op gives names of files that a later one opens, each of many examples."""
        after = self.ops[number + 1 :]
        apart = any(op.kind in TAKES_APART for op in after)
        return any(op.opens_files and (apart or op.kind not in _ONE_FOR_ONE) for op in after)
