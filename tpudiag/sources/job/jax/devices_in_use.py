"""What the devices of a mesh do in the step: axes that shard nothing, sums over devices."""

from collections import Counter
from collections.abc import Iterable, Iterator
from math import prod
from typing import Any

from tpudiag.model import Location
from tpudiag.signals import ReducedInLoop, StepArgument, StepMesh
from tpudiag.sources.job.jax.equations import Seen
from tpudiag.sources.job.jax.jitted import StepCall
from tpudiag.sources.job.jax.programs import Equation, line
from tpudiag.sources.job.points import bindings

SUMS = ("psum", "all_reduce", "reduce_scatter")
MATTERS = 0.2
"""Of the bytes of the state: sums of that much, in its shapes, are those of gradients."""


def mesh(jax: Any, call: StepCall) -> StepMesh | None:
    """The mesh that the arguments of the step are shared out over."""
    largest = _largest(jax, call)
    if largest is None:
        return None
    numbers = {device: number for number, device in enumerate(jax.devices())}
    return StepMesh(
        axes=tuple(map(str, largest.axis_names)),
        sizes=tuple(int(size) for size in largest.devices.shape),
        devices=tuple(numbers.get(device, 0) for device in largest.devices.flat),
        placed_by_jax=call.jitted.watch.mesh_made,
        location=bindings.only_call("Mesh", "make_mesh", "DeviceMesh"),
    )


def placed(
    sharding: Any, mapped: tuple[Any, Any] | None, shape: tuple[int, ...]
) -> tuple[int, tuple[int, ...], tuple[str, ...]]:
    """The devices of an argument, its part on one, and the axes of the mesh that share it out.

    What the job put nowhere lies where the step's shard_map wants it.
    """
    if sharding is not None:
        axes = tuple(_axes(getattr(sharding, "spec", None) or ()))
        return len(sharding.device_set), tuple(sharding.shard_shape(shape)), axes
    if mapped is None:
        return 1, shape, ()
    mesh, spec = mapped
    by_dimension = spec.items() if hasattr(spec, "items") else enumerate(spec)
    given = {n: tuple(_axes(each)) for n, each in by_dimension}
    parts = (prod(mesh.shape[axis] for axis in given.get(n, ())) for n in range(len(shape)))
    shard = tuple(size // each for size, each in zip(shape, parts, strict=True))
    return int(mesh.size), shard, tuple(axis for each in given.values() for axis in each)


def idle_axes(jax: Any, call: StepCall, seen: Iterable[Seen]) -> tuple[tuple[str, int], ...]:
    """Axes of the mesh, with their sizes, along which neither arguments nor anything is split."""
    largest = _largest(jax, call)
    if largest is None:
        return ()
    leaves = jax.tree_util.tree_leaves((call.arguments, call.jitted.out_shardings))
    used = {axis for leaf in leaves for axis in _axes(getattr(leaf, "sharding", leaf))}
    for each in seen:
        for name, value in each.equation.params.items():
            if any(word in name for word in ("sharding", "specs", "names", "axes", "axis")):
                used.update(_axes(value))
    axes = {str(a): int(n) for a, n in zip(largest.axis_names, largest.devices.shape, strict=True)}
    if used - axes.keys():
        return ()  # another mesh over the devices shares out the step
    return tuple((axis, size) for axis, size in axes.items() if size > 1 and axis not in used)


def gathered(
    found: Iterable[tuple[StepArgument, Equation]], data: Iterable[StepArgument]
) -> tuple[str, Location | None] | None:
    """The largest of the step's data, where most of them are gathered whole on each device."""
    sizes = {each.name: each.bytes for each in data}
    own = [(argument, equation) for argument, equation in found if argument.name in sizes]
    if 2 * sum(argument.bytes for argument, _ in own) <= sum(sizes.values()):
        return None
    largest, equation = max(own, key=lambda each: each[0].bytes)
    return largest.name, line(equation)


def unsummed(seen: Iterable[Seen]) -> tuple[str, ...]:
    """Axes over which no array is summed; all that have names where there is none such."""
    axes: dict[str, bool] = {}
    for each in seen:
        about, name = each.equation.params, str(each.equation.primitive)
        axes |= {axis: axes.get(axis, False) for axis in each.place.sizes or ()}
        if name.startswith(SUMS) and any(shape for shape, _ in each.made):
            axes |= dict.fromkeys(_axes(about.get("axes", about.get("axis_name", ()))), True)
    named = [axis for axis in axes if axis.isidentifier() and not axis.startswith("_")]
    return tuple(axis for axis in named if not axes[axis]) or tuple(named)


def reduced_in_loop(
    seen: Iterable[Seen], steps: int, state: Counter[tuple[int, ...]]
) -> ReducedInLoop | None:
    """Sums of gradients over the devices that a loop within one step takes in each turn."""
    loops = [
        each
        for each in seen
        if str(each.equation.primitive).startswith(SUMS) and each.place.times > steps
    ]
    sums = [(each, shape, prod(shape) * n) for each in loops for shape, n in each.made]
    known = [(each, size) for each, shape, size in sums if shape and state[shape]]
    size = sum(size for _, size in known)
    if not known or size < MATTERS * sum(state.values()):
        return None
    turns = max(each.place.times for each, _ in known) // steps
    return ReducedInLoop(size, turns, line(known[0][0].equation))


def _largest(jax: Any, call: StepCall) -> Any:
    """The largest mesh that an argument lies on."""
    leaves = jax.tree_util.tree_leaves(call.arguments)
    shardings = (getattr(leaf, "sharding", None) for leaf in leaves)
    meshes = [found for s in shardings if (found := getattr(s, "mesh", None)) is not None]
    return max(meshes, key=lambda each: each.size, default=None)


def _axes(value: Any) -> Iterator[str]:
    """The names of axes in a sharding, a PartitionSpec, or whatever holds some of them."""
    if isinstance(value, str):
        yield value
    elif hasattr(value, "spec"):
        yield from _axes(value.spec)
    elif hasattr(value, "values"):
        for each in value.values():
            yield from _axes(each)
    elif hasattr(value, "__iter__") and not hasattr(value, "shape"):
        for each in value:
            yield from _axes(each)
