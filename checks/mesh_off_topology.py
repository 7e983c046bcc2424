from itertools import product
from math import prod

from tpudiag.hardware import Target, coordinates
from tpudiag.model import Evidence, Finding, Framework, Judgement, Severity, check
from tpudiag.signals import Signals, StepMesh

from ._need import by_library, need

_MAKE = (
    "devices = mesh_utils.create_device_mesh(({sizes},))  # of jax.experimental\n"
    "mesh = Mesh(devices, ({names},))  # of jax.sharding: along the links"
)
_MAKE_BY_KERAS = (
    "devices = mesh_utils.create_device_mesh(({sizes},))  # of jax.experimental: along the links\n"
    "names = [f'tpu:{{each.id}}' for each in devices.flat]\n"
    "mesh = keras.distribution.DeviceMesh(({sizes},), [{names}], names)"
)


@check("TPU705", Severity.INFO, frameworks=(Framework.JAX,))
def mesh_off_topology(signals: Signals) -> Judgement:
    """The axes of the mesh do not lie along the links of the slice.

    ## What it sees
    The mesh over which the step's arguments are sharded, and where its devices are in the target's
    slice: axes whose devices are not adjacent, in a mesh made of jax.devices() by reshape, and axes
    that shard the model over several hosts. TPU702 reports devices that are left out.

    ## Why it costs
    Collectives along an axis run between its devices. If other devices lie in between, each hop
    takes several links, and the groups of the axis share them. Hosts that share one part of the
    batch must all feed the same examples.

    ## What to do
    ```python
    devices = mesh_utils.create_device_mesh((4, 4))   # not np.array(jax.devices()).reshape(4, 4)
    mesh = Mesh(devices, ("data", "model"))
    ```

    ## Source
    https://docs.jax.dev/en/latest/jax.experimental.mesh_utils.html; the order of the devices of
    libtpu's topologies
    """
    step = need(signals.sharding, "a training step of jax.jit")
    mesh = need(step.mesh, "a mesh of the step")
    target = need(signals.target, "the target", "name it: `--for v5e-16`")
    places = need(coordinates(target), f"a slice of the shape of {target.name}")
    if mesh.devices and max(mesh.devices) >= len(places):
        need(None, "each device of the slice")
    of_model = {axis for each in step.state for axis in each.axes}
    of_data = {axis for each in step.data for axis in each.axes}
    for number, axis in enumerate(mesh.axes):
        if mesh.sizes[number] < 2 or axis not in of_model | of_data:
            continue
        groups = _groups(mesh, number)
        seen = Evidence(f"axis {axis}", mesh.sizes[number], "devices")
        apart = max(_box([places[n] for n in group], target) / len(group) for group in groups)
        if apart > 1 and not mesh.placed_by_jax:
            yield Finding(
                f"the {mesh.sizes[number]} devices of a group of axis {axis!r} lie apart in "
                f"{target.name}: their bounding box has {apart:.2g} times the chips.",
                by_library(signals, _MAKE_BY_KERAS, _MAKE).format(
                    sizes=", ".join(map(str, mesh.sizes)), names=", ".join(map(repr, mesh.axes))
                ),
                (seen, Evidence("chips in the midst of a group, times its own", round(apart, 1))),
                mesh.location or step.location,
            )
        hosts = max(len({n * target.hosts // len(places) for n in group}) for group in groups)
        if hosts > 1 and axis not in of_data and not mesh.placed_by_jax:
            yield Finding(
                f"axis {axis!r} shares out the model over {hosts} hosts: all of them must feed the "
                "same examples, and data sharded by jax.process_index() gives each its own.",
                f"an axis of at most {len(places) // target.hosts} (the devices of a host), or\n"
                "jax.make_array_from_callback(shape, sharding, read)  # each device its examples",
                (seen, Evidence("hosts of a group", hosts, "hosts", 1)),
                mesh.location or step.location,
            )
        yield seen


def _groups(mesh: StepMesh, axis: int) -> list[list[int]]:
    strides = [prod(mesh.sizes[n + 1 :]) for n in range(len(mesh.sizes))]
    others = [range(1) if n == axis else range(size) for n, size in enumerate(mesh.sizes)]
    firsts = (sum(i * s for i, s in zip(at, strides, strict=True)) for at in product(*others))
    turns = range(mesh.sizes[axis])
    return [[mesh.devices[first + n * strides[axis]] for n in turns] for first in firsts]


def _box(places: list[tuple[int, ...]], target: Target) -> int:
    axes = range(len(places[0]))
    sides = (max(p[n] for p in places) - min(p[n] for p in places) + 1 for n in axes)
    return prod(sides) * min(target.hardware.devices_per_chip, len(places))
