"""The layout of a JAX step on its devices: arguments, shards, donation."""

from tpudiag.model import Location
from tpudiag.records import dataclass


@dataclass(frozen=True, kw_only=True)
class StepArgument:
    """An array argument of the training step."""

    name: str
    """Its name in the step, e.g. `params['dense']['kernel']`."""
    dtype: str
    shape: tuple[int, ...]
    """Of all devices together."""
    bytes: int
    """Likewise."""
    state: bool
    """It was a result of the step before: parameters, the optimizer's moments."""
    donated: bool
    """The step may overwrite it."""
    devices: int
    """That it lies on."""
    parts: int
    """Different parts of it: 1 where every device has all of it."""
    example_parts: int
    """Parts along the dimension of its examples: mostly the first."""
    placed: bool
    """The job put it where it is; else jax.jit places it, as the program has it."""
    resent: bool = False
    """The same NumPy array at each call, sent to the device each time."""
    counts_steps: int = 0
    """1 where its second dimension counts the examples, and the first steps of a call or times."""
    axes: tuple[str, ...] = ()
    """Of the mesh, along which it is shared out."""

    @property
    def own_bytes(self) -> int:
        """On one device."""
        return self.bytes // max(self.parts, 1)

    def __str__(self) -> str:
        return f"{self.name} {self.dtype}{list(self.shape)}"


@dataclass(frozen=True, kw_only=True)
class StepMesh:
    """A mesh, its devices by their number in jax.devices()."""

    axes: tuple[str, ...]
    sizes: tuple[int, ...]
    devices: tuple[int, ...]
    """The last axis runs fastest."""
    placed_by_jax: bool = False
    """JAX itself puts the devices of a TPU in order (jax.make_mesh), which CPUs do not show."""
    location: Location | None = None
    """The line that makes it, where there is one such."""


@dataclass(frozen=True, kw_only=True)
class StepWork:
    """One device's work in a step, from its equations alone.

    An upper bound: the compiler fuses operations and frees unused results.
    """

    flops: int
    """Of its products."""
    recomputed_flops: int
    """Of them those that jax.checkpoint computes again for the backward pass."""
    recomputed_at: Location | None
    made_bytes: int
    """All arrays that it makes, as if none were ever freed."""
    moved_bytes: int
    """Its operations' reads and writes, in whole tiles, as if none were fused."""


@dataclass(frozen=True)
class SentAgain:
    """The same NumPy array that a line sends to the devices before each step."""

    bytes: int
    steps: int
    """Before which it was sent."""
    of_steps: int
    location: Location


@dataclass(frozen=True)
class UnmatchedLayout:
    """A key of Keras' LayoutMap that is the path of no variable."""

    key: str
    rank: int
    """Dimensions of what it is the layout of."""
    location: Location


@dataclass(frozen=True)
class ReducedInLoop:
    """Sums over the devices in each iteration of a loop within one step."""

    bytes: int
    """In one turn, of arrays as large as those of the state."""
    turns: int
    location: Location | None


@dataclass(frozen=True, kw_only=True)
class ShardedStep:
    """The training step and the devices that it ran on."""

    function: str
    location: Location | None
    called_at: Location | None = None
    """The line of the job's that calls it."""
    fed_at: Location | None = None
    """The line before it that makes its batch."""
    devices: int
    """That its arguments lie on."""
    here: int
    """Devices that there are."""
    arguments: tuple[StepArgument, ...]
    unusable: tuple[str, ...] = ()
    """Donated arguments without a result of the same shape and dtype to reuse them."""
    held: tuple[int, int] = (0, 0)
    """Earlier calls where the job has large results of each still, and the bytes of these."""
    one_array_twice: bool = False
    """An array of its state was given to it in two places, and cannot be donated in both."""
    sent_again: tuple[SentAgain, ...] = ()
    mapped: bool = False
    """It is of jax.pmap: the first dimension of each argument is that of the devices."""
    work: StepWork | None = None
    mesh: StepMesh | None = None
    idle_axes: tuple[tuple[str, int], ...] = ()
    """Axes of the mesh, and their sizes, along which nothing is sharded."""
    reduced_in_loop: ReducedInLoop | None = None
    gathered: tuple[str, Location | None] | None = None
    """The largest of its data, where most of them are gathered whole on each device, and where."""
    of_keras: bool = False
    """Keras, whose backend is JAX, computes in it."""
    unmatched: tuple[UnmatchedLayout, ...] = ()
    by_fit: bool = False
    """Keras' fit runs its steps."""
    read_at: Location | None = None
    """The job's own code by which that reads its data."""
    makes_batch: bool = False
    """It draws its batch itself, of all examples or at random."""

    @property
    def state(self) -> tuple[StepArgument, ...]:
        """What goes from each step to the next."""
        return tuple(argument for argument in self.arguments if argument.state)

    @property
    def data(self) -> tuple[StepArgument, ...]:
        """What it gets beside."""
        return tuple(argument for argument in self.arguments if not argument.state)

    @property
    def whole(self) -> bool:
        """Whether the job placed all of its data, and all of its state, whole on each device.

        What jax.jit places by itself, the compiler may share out, and so what a step makes of a
        shared index, say.
        """
        mesh = self.mesh
        if mesh is not None and len(self.idle_axes) < sum(size > 1 for size in mesh.sizes):
            return False
        data = [argument for argument in self.data if argument.shape]
        return bool(data) and all(
            argument.placed and argument.devices > 1 and argument.parts == 1
            for argument in (*data, *self.state)
        )


@dataclass(frozen=True, kw_only=True)
class CompiledPrograms:
    """The programs that JAX compiled in the observed part of a job."""

    count: int
    spent_s: float
    """In compilations for this machine."""
    of_step: int
    """Of them those of the training step."""
    cache_folder: str | None
    """Where JAX keeps programs for the next start; None where it keeps none."""
