from collections.abc import Iterator

from tpudiag.model import Evidence, Finding, Framework, Judgement, Location, Severity, check
from tpudiag.signals import ShardedStep, Signals

from ._need import by_library, need
from .batch_multiple import better_batch

# Not jax.make_mesh, by which new releases refuse programs that do not say how each product lies.
_MESH = "mesh = Mesh(jax.devices(), ('data',))  # from jax.sharding, as P: PartitionSpec\n"
_SHARD = f"{_MESH}batch = jax.device_put(batch, NamedSharding(mesh, P({{}}'data')))"
_SECOND = "  # of arrays whose second dimension is that of the examples: P(None, 'data')"
_SHARD_DRAWN = (
    f"{_MESH}# in the step, where it draws its batch:\n"
    "batch = jax.lax.with_sharding_constraint(batch, NamedSharding(mesh, P('data')))"
)
_SHARD_BY_KERAS = (
    "keras.distribution.set_distribution(keras.distribution.DataParallel())  # before the model"
)


@check("TPU702", Severity.ERROR, frameworks=(Framework.JAX,))
def batch_not_sharded(signals: Signals) -> Judgement:
    """The devices do not share the batch: one works, or each does all of it.

    ## What it sees
    The number of devices that hold the step's arguments, the number of parts into which the batch
    is sharded over them, and whether a shard_map gathers the parts again before it computes; the
    axes of the mesh along which neither an argument nor anything within the step is sharded; an
    input that is split along another dimension than its examples, though its labels are not.

    ## Why it costs
    A slice of eight chips is paid for, and the step takes as long as on one.

    ## What to do
    ```python
    mesh = Mesh(jax.devices(), ("data",))
    batch = jax.device_put(batch, NamedSharding(mesh, P("data")))
    ```

    ## Source
    https://docs.jax.dev/en/latest/distributed_data_loading.html
    """
    step = need(signals.sharding, "a training step of jax.jit")
    if step.here < 2:
        need(None, "a second device", "rehearse the job for a slice: `--for v5e-8`")
    draws = signals.numerics is None or signals.numerics.draws
    holds = signals.step_ops is not None and signals.step_ops.large_constants
    if step.makes_batch and signals.batch is None and not (draws or holds):
        need(None, "a batch, which the step is not given, and neither draws nor holds")
    used = Evidence("devices that the step uses", step.devices, "devices", step.here)
    if step.devices < step.here:
        mesh, why, at = step.mesh, "nothing places its arguments on the others.", None
        fix = _shared_out(signals, step)
        if mesh is not None and len(mesh.devices) == step.devices > 1:
            why, at = f"its mesh has {step.devices}.", mesh.location
            if step.here % step.devices == 0:
                sizes = (mesh.sizes[0] * step.here // step.devices, *mesh.sizes[1:])
                fix = f"mesh = Mesh(np.array(jax.devices()).reshape{sizes}, {mesh.axes})"
        yield Finding(
            f"{step.function} runs on {step.devices} of {step.here} devices: {why}",
            fix,
            (used,),
            at or step.location or step.called_at,
            # A script may be meant for one chip; that each chip does the same work is never meant.
            severity=Severity.WARNING,
        )
    elif step.whole:
        along = _along_one(step)
        yield Finding(
            f"each of {step.devices} devices computes the whole batch: {along[0]}",
            along[1] or _shared_out(signals, step),
            (used, *_arrays(step)),
            step.fed_at or (step.called_at if along[1] else step.location) or step.called_at,
        )
    elif step.gathered is not None:
        yield _gathered(step, *step.gathered)
    elif step.idle_axes:
        yield _idle(signals, step)
    else:
        yield from _crossed(step)
    yield used
    yield from _arrays(step)


def _shared_out(signals: Signals, step: ShardedStep) -> str:
    """What shares out the batch, and a size of it that can be."""
    counts = {argument.counts_steps for argument in step.data if argument.shape}
    shard = _SHARD.format("None, " if counts == {1} else "") + _SECOND * (len(counts) > 1)
    fix = by_library(signals, _SHARD_BY_KERAS, _SHARD_DRAWN if step.makes_batch else shard)
    batch = signals.batch
    if batch is None or batch.global_batch % step.here == 0:
        return fix
    return f"{fix}\n{better_batch(signals, batch)}"


def _along_one(step: ShardedStep) -> tuple[str, str]:
    """Why the batch is whole, and what mends it where it lies along an axis of one device."""
    mesh = step.mesh
    sizes = dict(zip(mesh.axes, mesh.sizes, strict=True)) if mesh is not None else {}
    named = [axis for a in step.data for axis in a.axes if axis in sizes]
    if not named:
        return "its arrays are on all of them, in one part.", ""
    largest = max(sizes, key=lambda axis: sizes[axis])
    return (
        f"it is shared out along the axis {named[0]!r} of the mesh, which has one device; "
        f"{largest!r} has {sizes[largest]}.",
        f"batch = jax.device_put(batch, NamedSharding(mesh, P({largest!r})))  # not {named[0]!r}",
    )


def _gathered(step: ShardedStep, name: str, location: Location | None) -> Finding:
    """Data that are sharded, and gathered before anything is made of them."""
    return Finding(
        f"each of {step.devices} devices computes the whole batch: {name} is sharded, and gathered "
        "here before the model sees it.",
        "gather what the model makes of it, which is smaller and computed once:\n"
        "features = jax.lax.all_gather(model(params, x), axis, tiled=True)",
        tuple(_arrays(step)),
        location or step.location,
        severity=Severity.WARNING,
    )


def _crossed(step: ShardedStep) -> Iterator[Finding]:
    """Data whose examples are not what is shared out, beside data whose examples are."""
    data = [a for a in step.data if a.parts > 1 and a.counts_steps < len(a.shape)]
    along = {a.axes: a.name for a in data if a.example_parts == a.parts}
    crossed = [a for a in data if a.example_parts == 1 and a.axes in along]
    # Weights that are not trained are data, too, of other lengths than the examples.
    if crossed and len({a.shape[a.counts_steps] for a in data}) == 1:
        name, axes = crossed[0].name, crossed[0].axes
        yield Finding(
            f"{name} is split across its examples, and {along[axes]} along them: each of "
            f"{step.devices} devices holds a part of every example, and they exchange those.",
            f"NamedSharding(mesh, P({', '.join(map(repr, axes))}))  # of {name}",
            _arrays(step),
            step.fed_at or step.called_at or step.location,
            severity=Severity.WARNING,
        )


def _idle(signals: Signals, step: ShardedStep) -> Finding:
    (axis, size), *_ = step.idle_axes
    state = sum(argument.bytes for argument in step.state if argument.parts == 1)
    names = [a.name for a in sorted(step.state, key=lambda a: -a.bytes) if a.parts == 1][:3]
    of_batch = dict.fromkeys(axis for a in step.data for axis in a.axes)
    return Finding(
        f"the axis {axis!r} of the mesh shares out nothing: each {size} of the {step.devices} "
        "devices do the same work, with all of the state.",
        by_library(
            signals,
            "# a key of LayoutMap is a regular expression that variable.path must match:\n"
            "print([v.path for v in model.variables])\n"
            "# or leave the axis out, and give all devices to the batch",
            f"NamedSharding(mesh, P(None, {axis!r}))  # of the kernels, from jax.sharding\n"
            f"NamedSharding(mesh, P({(*of_batch, axis)!r}))  # or of the batch, which is then over "
            "all devices",
        ),
        (
            Evidence(f"devices along {axis!r}", size, "devices", 1),
            Evidence("state that each holds all of", state, "B"),
            *(Evidence("whole on each", name) for name in names),
        ),
        (step.mesh and step.mesh.location) or step.called_at or step.location,
    )


def _arrays(step: ShardedStep) -> tuple[Evidence, ...]:
    return tuple(
        Evidence(f"parts of {argument.name}", argument.parts, "parts", step.devices)
        for argument in [each for each in step.data if each.shape][:3]
    )
