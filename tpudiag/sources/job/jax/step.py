"""Reads the traced step: its matrix products, calls of the host, constants and arguments."""

from collections import Counter
from collections.abc import Collection
from functools import cached_property
from math import prod
from typing import Any

from tpudiag.signals import (
    Batch,
    LossScale,
    ShardedStep,
    StepArgument,
    StepConstant,
    StepOp,
    StepOps,
    StepWork,
    TensorSeen,
)
from tpudiag.sources.job.jax import devices_in_use, loss_scale, work
from tpudiag.sources.job.jax.equations import Equations
from tpudiag.sources.job.jax.examples import Examples
from tpudiag.sources.job.jax.jitted import StepCall
from tpudiag.sources.job.jax.programs import line
from tpudiag.sources.job.jax.signatures import argument_name, is_ref

MEBIBYTE = 2**20
NAMED = 3
"""Keys of a path to what is within an argument: args or kwargs, the argument, its own."""
CALLBACKS = "pure_callback", "io_callback", "debug_callback", "debug_print", "outside_call"
"""Primitives that call back to the host."""
_HALVED = {
    "float64": "float32", "int64": "int32", "uint64": "uint32", "complex128": "complex64",
}  # fmt: skip
"""What JAX makes of an argument on its way into the step, where its 64-bit mode is off."""


class TracedStep:
    """The training step of a job, traced once more from the call that ran."""

    def __init__(self, jax: Any, call: StepCall) -> None:
        self._jax, self.call = jax, call
        args, kwargs = call.arguments
        self.traced: Any = call.jitted.trace(*args, **kwargs)
        closed: Any = self.traced.jaxpr
        readers = {id(each): e for e in reversed(closed.jaxpr.eqns) for each in e.invars}
        self._constants = [
            (value, readers.get(id(variable)), -id(variable))
            for variable, value in zip(closed.jaxpr.constvars, closed.consts, strict=True)
        ]
        """Each with the equation that reads it first, and its number in the program."""
        leaves = jax.tree_util.tree_flatten_with_path(call.arguments)[0]
        self._leaves = [(path, jax.tree_util.keystr(path), leaf) for path, leaf in leaves]
        self._refs = {key: leaf for _, key, leaf in self._leaves if is_ref(jax, leaf)}
        made = (*closed.out_avals, *self._refs.values())
        self._results = Counter((a.shape, str(a.dtype)) for a in made)
        keys = [key for path, key, _ in self._leaves if not call.jitted.static(path)]
        self.keys = keys if len(keys) == len(closed.jaxpr.invars) else []
        """Paths of the arguments that are none of the program's own, in its order."""
        self._state = call.state if call.state is not None else self._given_again()
        like = {_below(path, leaf) for path, key, leaf in self._leaves if key in self._state}
        # Parameters beside sums of their gradients, which alone a step that accumulates gives back.
        beside = {k for path, k, leaf in self._leaves if path[2:] and _below(path, leaf) in like}
        self._kept = self._state | beside
        program = self.program = Equations(closed.jaxpr, self.numbers(self._state))
        self._examples = Examples(closed.jaxpr, self.numbers(self._kept), program.shared_out)
        self.steps, self.seen = program.steps, program.seen
        self.by_path = self._arguments()
        self.arguments = tuple(self.by_path.values())
        self.devices = max((argument.devices for argument in self.arguments), default=1)

    def numbers(self, keys: Collection[str]) -> frozenset[int]:
        """Of some arguments, by their paths, in the program."""
        return frozenset(n for n, key in enumerate(self.keys) if key in keys)

    def batch(self) -> Batch | None:
        """The batch, by the leading dimension that most data have that change with each call."""
        own = int(self.call.jitted.mapped)
        data = [a for a in self._data() if len(a.shape) > a.counts_steps + own]
        if own:
            data = [a for a in data if a.parts == self.devices]
        changing = (self.call.anew or frozenset()) - self._given_again()
        # Where none is known to, as before the first call, they are what the devices share, beside
        # weights that are not trained; or all of them.
        anew = [a for key, a in self.by_path.items() if key in changing and a in data]
        data = anew or [a for a in data if a.example_parts > 1] or data
        sizes = {a.name: self._size(a, a.counts_steps + own) for a in data}
        size, often = Counter(sizes.values()).most_common(1)[0] if data else (0, 0)
        # The arrays of a padded graph are as long as it has nodes, edges or graphs.
        if 2 * often <= len(data):
            return None
        if own:
            return Batch(size * self.devices, size, self.devices)
        split = next(a for a in data if sizes[a.name] == size).example_parts
        return Batch(size, max(size // split, 1), split)

    def _size(self, argument: StepArgument, at: int) -> int:
        """The examples of an argument, whose dimension is `at`: all, or what the step draws."""
        number = next((n for n, k in enumerate(self.keys) if self.by_path.get(k) is argument), -1)
        parts = argument.shape[0] if number in self._examples.accumulated else 1
        return self._examples.drawn.get(number, argument.shape[at] * parts)

    def _given_again(self) -> frozenset[str]:
        """What it may overwrite, or gives anew under its own name."""
        flat = self._jax.tree_util.tree_flatten_with_path
        made = flat(getattr(self.traced, "out_info", ()))[0]
        results = Counter((str(p[-1:]), tuple(r.shape), str(r.dtype)) for p, r in made if p)
        found = {*self._donated(), *self._refs}
        for path, key, leaf in self._leaves:
            shape = getattr(leaf, "shape", None)
            # An argument that is one array may be a batch, and a result of its shape what was made
            # of it.
            if shape is None or len(path) < NAMED or self.call.jitted.static(path):
                continue
            named = str(path[-1:]), tuple(shape), str(leaf.dtype)
            if results[named] > 0:
                results[named] -= 1
                found.add(key)
        return frozenset(found)

    def _data(self) -> list[StepArgument]:
        """What the step gets anew each time: no state, and nothing that it may overwrite."""
        others = (a for key, a in self.by_path.items() if key not in self._kept)
        data = [a for a in others if not _is_key(a) and prod(a.shape) > 1]
        return [a for a in data if not (a.resent or a.donated)] or data

    def data(self) -> list[Any]:
        """Shapes and shardings of the same, where the job chose one."""
        data = self._data()
        found = [leaf for _, key, leaf in self._leaves if self.by_path.get(key) in data]
        return [leaf for leaf in found if getattr(leaf, "sharding", None) is not None]

    @property
    def makes_batch(self) -> bool:
        """Whether it draws its batch itself, of all examples or at random."""
        return bool(self._examples.drawn) or not self._data()

    def with_batch(self, size: int) -> tuple[Any, dict[str, Any]]:
        """The arguments of its call with another global batch."""
        if self._examples.drawn or self._examples.accumulated:
            raise ValueError("the step makes its batch itself, of what it gets")
        batch, tree, own = self.batch(), self._jax.tree_util, int(self.call.jitted.mapped)
        each_of = self.devices if own else 1
        old = batch.global_batch // each_of if batch is not None else 0
        data = [a for a in self._data() if not own or a.parts == self.devices]

        def changed(path: Any, leaf: Any) -> Any:
            known = self.by_path.get(tree.keystr(path))
            at = known.counts_steps + own if known is not None else 0
            if known is None or known not in data or known.shape[at : at + 1] != (old,):
                return leaf
            shape = (*known.shape[:at], size // each_of, *known.shape[at + 1 :])
            sharding = getattr(leaf, "sharding", None)
            return self._jax.ShapeDtypeStruct(shape, leaf.dtype, sharding=sharding)

        made: tuple[Any, dict[str, Any]] = tree.tree_map_with_path(changed, self.call.arguments)
        return made

    def inputs(self) -> tuple[TensorSeen, ...]:
        """What the step gets beside its own state."""
        return tuple(TensorSeen(a.name, a.dtype, a.shape) for a in self.arguments if not a.state)

    def sharded(self) -> ShardedStep:
        """Where its arguments lie, and which of them it may overwrite."""
        gathered = self.program.gathered.items() if self.keys else ()
        found = ((self.by_path[self.keys[n]], equation) for n, equation in gathered)
        return ShardedStep(
            function=self.call.record.name,
            location=self.call.record.location,
            called_at=self.call.record.called_at,
            fed_at=self.call.record.made_first(self._data()) or self.call.jitted.placed_at,
            devices=self.devices,
            here=self._jax.device_count(),
            arguments=self.arguments,
            unusable=self._unusable(),
            held=self.call.record.held(),
            one_array_twice=not self._state.isdisjoint(self.call.record.twice),
            mapped=self.call.jitted.mapped,
            work=self.work,
            mesh=devices_in_use.mesh(self._jax, self.call),
            idle_axes=devices_in_use.idle_axes(self._jax, self.call, self.seen),
            gathered=devices_in_use.gathered(found, self._data()),
            makes_batch=self.makes_batch,
            reduced_in_loop=devices_in_use.reduced_in_loop(
                self.seen, self.steps, self._state_shapes()
            ),
        )

    def _state_shapes(self) -> Counter[tuple[int, ...]]:
        """Of floating state, as one device has it, with the bytes of each shape."""
        own = int(self.call.jitted.mapped)
        shapes: Counter[tuple[int, ...]] = Counter()
        for each in self.arguments:
            if each.state and "float" in each.dtype:
                shapes[each.shape[own:]] += each.bytes // (each.parts if own else 1)
        return shapes

    def _unusable(self) -> tuple[str, ...]:
        """Donated arguments that no result of their shape and dtype can take the place of."""
        left = Counter(self._results)
        left.subtract(Counter((a.shape, a.dtype) for a in self.arguments if a.donated))
        return tuple(a.name for a in self.arguments if a.donated and left[a.shape, a.dtype] < 0)

    def operations(self) -> StepOps:
        """What calls the host, and large constants."""
        found = tuple(
            StepOp(name, seen.place.scope, True, line(seen.equation), seen.place.branch)
            for seen in self.seen
            if (name := str(seen.equation.primitive)) in CALLBACKS
        )
        shapes = ((n, tuple(getattr(value, "shape", ()))) for value, _, n in self._constants)
        factors = self.program.fixed_factors(shapes)
        known = [_constant(value, reader, n in factors) for value, reader, n in self._constants]
        large = sorted(filter(None, known), key=lambda constant: -constant.bytes)
        return StepOps(len(self.seen), found, large_constants=tuple(large))

    @cached_property
    def work(self) -> StepWork:
        """What one device does in it."""
        return work.read(self.program, self.batch(), self.arguments)

    def loss_scale(self) -> tuple[LossScale, ...] | None:
        """How the loss is scaled that each device differentiates; None where that is not told."""
        batch = self.batch()
        if batch is None or batch.replicas < 2 or not any(s.place.sizes for s in self.seen):
            return None
        jaxpr, shapes = self.traced.jaxpr.jaxpr, self._state_shapes()
        found = loss_scale.read(jaxpr, batch.per_replica_batch, batch.replicas, shapes)
        return (found,) if found is not None else None

    def state_arguments(self) -> list[tuple[str, StepArgument]]:
        """What goes from one step to the next, by its path."""
        return [(key, each) for key, each in self.by_path.items() if each.state]

    def _arguments(self) -> dict[str, StepArgument]:
        """The arrays that the step gets."""
        donated = self._donated()
        leading = self.program.shared_out | self._examples.second
        parts_first = {self.keys[n] for n in leading} if self.keys else set[str]()
        mapped = {key: self.program.mapped.get(n) for n, key in enumerate(self.keys)}
        names = self.call.jitted.names
        found: dict[str, StepArgument] = {}
        for path, key, leaf in self._leaves:
            if getattr(leaf, "shape", None) is None:
                continue
            place = getattr(path[1], "idx", None)
            mapped_away = key.startswith("[0]") and place in self.call.jitted.donates
            sharding = getattr(leaf, "sharding", None)
            shape = tuple(map(int, leaf.shape))
            halved = str(leaf.dtype) in _HALVED and not self._jax.config.jax_enable_x64
            dtype = _HALVED[str(leaf.dtype)] if halved else str(leaf.dtype)
            devices, shard, axes = devices_in_use.placed(sharding, mapped.get(key), shape)
            first = int(key in parts_first)
            if self.call.jitted.mapped and shape and shape[0] <= self._jax.device_count():
                devices, shard = shape[0], (1, *shape[1:])
            found[key] = StepArgument(
                name=argument_name(self._jax.tree_util, path, names),
                dtype=dtype,
                shape=shape,
                bytes=prod(shape) * getattr(leaf.dtype, "itemsize", 4) // (1 + halved),
                state=key in self._state,
                donated=key in donated or mapped_away or key in self._refs,
                devices=devices,
                example_parts=shape[first] // shard[first] if any(shard[first : first + 1]) else 1,
                counts_steps=first,
                axes=axes,
                parts=prod(shape) // max(prod(shard), 1) if prod(shape) else 1,
                placed=sharding is not None or self.call.jitted.mapped,
                resent=key in self.call.resent,
            )
        return found

    def _donated(self) -> frozenset[str]:
        """The arguments that the step may overwrite, by their path."""
        leaves = self._jax.tree_util.tree_leaves(getattr(self.traced, "args_info", None))
        return frozenset(
            key
            for key, leaf in zip(self.keys, leaves, strict=False)
            if getattr(leaf, "donated", False)
        )


def _below(path: Any, leaf: Any) -> tuple[str, object]:
    """Where in its argument a leaf stands, and its shape."""
    return str(path[2:]), getattr(leaf, "shape", None)


def _is_key(argument: StepArgument) -> bool:
    """Whether it is a random key, of either kind."""
    of_old = argument.dtype == "uint32" and argument.shape[-1:] in ((2,), (4,))
    return of_old or argument.dtype.startswith("key<")


def _constant(value: Any, reader: Any, factor: bool) -> StepConstant | None:
    """An array that is part of the program; None of one that is no matter."""
    shape = tuple(map(int, getattr(value, "shape", ())))
    # JAX wraps an array of NumPy's in a class of its own, which tells no bytes.
    size = prod(shape) * getattr(getattr(value, "dtype", None), "itemsize", 0)
    if size < MEBIBYTE:
        return None
    where = line(reader) if reader is not None else None
    floats = "float" in str(value.dtype)
    return StepConstant(f"{value.dtype}{list(shape)}", size, shape, where, factor and floats)
