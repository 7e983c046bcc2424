"""Reads the traced step: its matrix products, calls of the host, constants and arguments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import prod
from typing import Any, cast

from tpudiag.model import Location
from tpudiag.signals import (
    Batch,
    MatrixOp,
    ShardedStep,
    StepArgument,
    StepConstant,
    StepOp,
    StepOps,
    TensorSeen,
)
from tpudiag.sources.job.jax.jitted import StepCall
from tpudiag.sources.job.jax.signatures import argument_name
from tpudiag.sources.job.tensorflow.points import user_lines

MEBIBYTE = 2**20
CALLBACKS = frozenset(
    ("pure_callback", "io_callback", "debug_callback", "debug_print", "outside_call")
)
"""Primitives that call back to the host."""


@dataclass(frozen=True)
class _Seen:
    """An equation of the step, and how often it runs in one."""

    equation: Any
    times: int
    local: bool
    """Within shard_map or jax.pmap: its shapes are those of one device."""


class TracedStep:
    """The training step of a job, traced once more from the call that ran."""

    def __init__(self, jax: Any, call: StepCall) -> None:
        self._jax, self.call = jax, call
        args, kwargs = call.arguments
        self.traced: Any = call.jitted.trace(*args, **kwargs)
        closed: Any = self.traced.jaxpr
        self._constants = tuple(closed.consts)
        self._equations = tuple(_equations(closed.jaxpr, 1, False))
        # Older releases (0.4.30) name none: no product is known to be one of the forward pass then.
        self._names_transforms = any("jvp(" in _scope(seen.equation) for seen in self._equations)
        self._results = Counter((a.shape, str(a.dtype)) for a in closed.out_avals)
        self.arguments = self._arguments()
        self.devices = max((argument.devices for argument in self.arguments), default=1)

    def batch(self) -> Batch | None:
        """The batch, by the leading dimension that most of the step's data have."""
        data = self._data()
        sizes = Counter(a.shape[0] for a in data)
        if not sizes:
            return None
        if self.call.jitted.mapped:
            each = [a.shape[1] for a in data if len(a.shape) > 1 and a.parts == self.devices]
            return Batch(each[0] * self.devices, each[0], self.devices) if each else None
        size = sizes.most_common(1)[0][0]
        first = next(a for a in data if a.shape[0] == size)
        parts = first.first_dimension_parts
        return Batch(size, size // parts, parts)

    def _data(self) -> list[StepArgument]:
        """What the step gets anew each time: no state, and nothing that it may overwrite."""
        data = [a for a in self.arguments if not a.state and a.shape]
        return [a for a in data if not (a.resent or a.donated)] or data

    def with_batch(self, size: int) -> tuple[Any, dict[str, Any]]:
        """The arguments of its call with another global batch."""
        batch, tree = self.batch(), self._jax.tree_util
        old = batch.global_batch if batch is not None else 0
        of_mapped = self.call.jitted.mapped
        names = {a.name for a in self._data()}

        def changed(path: Any, leaf: Any) -> Any:
            shape = tuple(getattr(leaf, "shape", None) or ())
            if argument_name(tree, path, self.call.jitted.names) not in names:
                return leaf
            if of_mapped and shape[:2] == (self.devices, old // self.devices):
                shape = (self.devices, size // self.devices, *shape[2:])
            elif shape[:1] == (old,) and not of_mapped:
                shape = (size, *shape[1:])
            else:
                return leaf
            sharding = getattr(leaf, "sharding", None)
            return self._jax.ShapeDtypeStruct(shape, leaf.dtype, sharding=sharding)

        arguments: tuple[Any, dict[str, Any]] = tree.tree_map_with_path(
            changed, self.call.arguments
        )
        return arguments

    def inputs(self) -> tuple[TensorSeen, ...]:
        """What the step gets beside its own state."""
        return tuple(TensorSeen(a.name, a.dtype, a.shape) for a in self.arguments if not a.state)

    def sharded(self) -> ShardedStep:
        """Where its arguments lie, and which of them it may overwrite."""
        return ShardedStep(
            function=self.call.record.name,
            location=self.call.record.location,
            called_at=self.call.record.called_at,
            devices=self.devices,
            here=self._jax.device_count(),
            arguments=self.arguments,
            unusable=self._unusable(),
            mapped=self.call.jitted.mapped,
        )

    def _unusable(self) -> tuple[str, ...]:
        """Donated arguments that no result of their shape and dtype can take the place of."""
        left = Counter(self._results)
        left.subtract(Counter((a.shape, a.dtype) for a in self.arguments if a.donated))
        return tuple(a.name for a in self.arguments if a.donated and left[a.shape, a.dtype] < 0)

    def matrix_ops(self, batch: Batch | None) -> tuple[MatrixOp, ...]:
        """Its products, on one device."""
        found = (self._product(seen, batch) for seen in self._equations)
        return tuple(op for op in found if op is not None)

    def operations(self) -> StepOps:
        """What calls the host, and large constants."""
        found = tuple(
            StepOp(str(e.primitive), _scope(e), True, _line(e))
            for e in (seen.equation for seen in self._equations)
            if str(e.primitive) in CALLBACKS
        )
        large = sorted(filter(None, map(_constant, self._constants)), key=lambda c: -c.bytes)
        return StepOps(len(self._equations), found, large_constants=tuple(large))

    def _arguments(self) -> tuple[StepArgument, ...]:
        """The arrays that the step gets."""
        tree = self._jax.tree_util
        leaves = tree.tree_flatten_with_path(self.call.arguments)[0]
        donated = _donated(self._jax, self.traced)
        names = self.call.jitted.names
        found: list[StepArgument] = []
        for path, leaf in leaves:
            if getattr(leaf, "shape", None) is None:
                continue
            key = tree.keystr(path)
            places = self.call.jitted.donates or ()
            mapped_away = key.startswith("[0]") and getattr(path[1], "idx", None) in places
            sharding = getattr(leaf, "sharding", None)
            shape = tuple(map(int, leaf.shape))
            shard = tuple(sharding.shard_shape(shape)) if sharding is not None else shape
            devices = len(sharding.device_set) if sharding is not None else 1
            if self.call.jitted.mapped and shape and shape[0] <= self._jax.device_count():
                devices, shard = shape[0], (1, *shape[1:])
            found.append(
                StepArgument(
                    name=argument_name(tree, path, names),
                    dtype=str(leaf.dtype),
                    shape=shape,
                    bytes=prod(shape) * getattr(leaf.dtype, "itemsize", 4),
                    state=key in self.call.state,
                    donated=key in donated or mapped_away,
                    devices=devices,
                    first_dimension_parts=shape[0] // shard[0] if shape and shard[0] else 1,
                    parts=prod(shape) // max(prod(shard), 1) if prod(shape) else 1,
                    placed=sharding is not None or self.call.jitted.mapped,
                    resent=key in self.call.resent,
                )
            )
        return tuple(found)

    def _product(self, seen: _Seen, batch: Batch | None) -> MatrixOp | None:
        """One product as the MXU sees it; None of other equations."""
        equation = seen.equation
        kind = str(equation.primitive)
        if kind == "dot_general":
            sizes = _dot(equation)
        elif kind == "conv_general_dilated":
            sizes = _convolution(equation)
        else:
            return None
        many, rows, contraction, columns = sizes
        scope = _scope(equation)
        parts = batch.global_batch // batch.per_replica_batch if batch is not None else 1
        whole = batch.global_batch if batch is not None else 0
        # The jaxpr has the shapes of all devices together: those made of the batch are shared out.
        if seen.local:
            pass
        elif whole and rows % whole == 0:
            rows //= parts
        elif whole and contraction % whole == 0:
            contraction //= parts
        elif whole and many % whole == 0:
            many //= parts
        return MatrixOp(
            op=kind,
            name=scope or kind,
            dtype=str(equation.invars[0].aval.dtype),
            rows=rows,
            contraction=contraction,
            columns=columns,
            flops=2 * many * rows * contraction * columns * seen.times,
            batch=many,
            location=_line(equation),
            forward=self._names_transforms and "transpose(" not in scope,
        )


def _equations(jaxpr: Any, times: int, local: bool) -> Iterator[_Seen]:
    """All equations, those within others with them; those of a scan as often as it runs."""
    for equation in jaxpr.eqns:
        yield _Seen(equation, times, local)
        one = local or str(equation.primitive) in ("shard_map", "xla_pmap")
        inner = times * int(equation.params.get("length", 1) or 1)
        for value in equation.params.values():
            for part in _parts(value):
                within = getattr(part, "jaxpr", part)
                if hasattr(within, "eqns"):
                    yield from _equations(within, inner, one)


def _parts(value: Any) -> tuple[Any, ...]:
    """A parameter of an equation, or its parts."""
    if isinstance(value, (tuple, list)):
        return tuple(cast("Iterable[Any]", value))
    return (value,)


def _dot(equation: Any) -> tuple[int, int, int, int]:
    """Products, rows, contraction and columns of a dot_general."""
    (left_c, right_c), (left_b, right_b) = equation.params["dimension_numbers"]
    left, right = (variable.aval.shape for variable in equation.invars[:2])
    many = prod(left[i] for i in left_b)
    contraction = prod(left[i] for i in left_c)
    rows = prod(s for i, s in enumerate(left) if i not in (*left_c, *left_b))
    columns = prod(s for i, s in enumerate(right) if i not in (*right_c, *right_b))
    return many, rows, contraction, columns


def _convolution(equation: Any) -> tuple[int, int, int, int]:
    """The same of a convolution: output positions, kernel x input channels, output channels."""
    numbers = equation.params["dimension_numbers"]
    kernel = equation.invars[1].aval.shape
    result = equation.outvars[0].aval.shape
    columns = kernel[numbers.rhs_spec[0]]
    rows = prod(result) // max(result[numbers.out_spec[1]], 1)
    return 1, rows, prod(kernel) // max(columns, 1), columns


def _donated(jax: Any, traced: Any) -> frozenset[str]:
    """The arguments that the step may overwrite, by their path."""
    info = getattr(traced, "args_info", None)
    if info is None:
        return frozenset()
    leaves = jax.tree_util.tree_flatten_with_path(info)[0]
    return frozenset(
        jax.tree_util.keystr(path) for path, leaf in leaves if getattr(leaf, "donated", False)
    )


def _constant(value: Any) -> StepConstant | None:
    """An array that is part of the program; None of one that is no matter."""
    size = int(getattr(value, "nbytes", 0) or 0)
    if size < MEBIBYTE:
        return None
    shape = tuple(map(int, value.shape))
    return StepConstant(f"{value.dtype}{list(shape)}", size, shape, None)


def _line(equation: Any) -> Location | None:
    """The innermost line of the job's that made an equation."""
    traceback = getattr(equation.source_info, "traceback", None)
    for frame in getattr(traceback, "frames", ()):
        location = user_lines.of(frame.file_name, frame.line_num)
        if location is not None:
            return location
    return None


def _scope(equation: Any) -> str:
    """The transformations and scopes that an equation stands in."""
    return str(getattr(equation.source_info, "name_stack", ""))
