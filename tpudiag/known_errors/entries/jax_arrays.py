# ruff: noqa: E501  (texts of other programs stay as they are)
"""Arrays of JAX on a TPU: their layout over devices and hosts, their shapes, types and trees."""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E945",
        family="donation-unused",
        phase=Phase.COMPILING,
        level="warning",
        patterns=(
            r"[Ss]ome donated buffers were not usable(?:: (?P<buffers>[\w\[\],() ]{1,300}))?",
        ),
        cause="Arguments that were given away to a jitted step (donate_argnums) could not be used for its results: no result has their shape, type and sharding. Old and new lie in HBM side by side: nothing for a small array, a second copy of parameters and optimizer state where the train state is meant.",
        details=("They are {buffers}.",),
        fix="""\
step = jax.jit(step, donate_argnums=(0,))      # the old state alone: what the step does not return (a batch, the targets) is not donated
print(jax.tree.map(lambda a: (a.shape, a.dtype, a.sharding), state))      # before and after one step: one shape, type (float32 or bfloat16) and sharding
jax.jit(step, donate_argnums=(0,), in_shardings=(shardings, None), out_shardings=(shardings, None))""",
        evidence="recalled",
        example="UserWarning: Some donated buffers were not usable: float32[1024,1024], float32[1024].",
    ),
    KnownError(
        id="E522",
        family="array-sharding",
        phase=Phase.TRACING,
        patterns=(
            r"implies that the global size of its dimension",
            r"global size of its dimension .{0,60}?should be divisible",
            r"implies that array axis \d{1,2} is partitioned",
            r"is incompatible with its sharding annotation",
            r"incompatible devices for jitted computation",
            r"Resource axis: ?(?P<axis>\w{1,30}) .{0,400}?not found in mesh",
            r"requires a non-empty mesh in context",
            r"[Cc]ontext mesh .{0,300}?(?:should match|must match|cannot be empty)",
            r"Mesh requires the ndim of its first argument",
            r"is only valid for values of rank at least (?P<rank>\d{1,2})",
            r"[Ss]harding passed to (?:pjit|jit|jax\.jit) does not match the sharding",
            r"Passing non-trivial shardings for numpy inputs",
            r"Shardings passed to .{1,40}? should have the same mesh",
            r"shard_map .{0,60}?(?:in_specs|out_specs|specs) (?:argument )?.{0,200}?(?:must|divisible|pytree|None)",
            r"shard_map requires a ",
            r"applied to (?:args|the function output)\[?.{0,60}?\]? .{0,200}?evenly (?:divisible|divide)",
            r"A single NamedSharding spec specification can map every mesh axis to at most one positional dimension",
            r"Please set a mesh via `?jax\.set_mesh",
            r"pmap got inconsistent sizes",
            r"[Ss]harded dimension must be equal to the number of devices",
            r"pmap wrapped function must be passed",
            r"unbound axis name: ?(?P<axis>\w{1,30})",
            r"with_sharding_constraint.{0,200}?(?:not allowed|can only refer|acts as an assert|incompatible)",
            r"axis_?name .{1,60}? not found in mesh",
            r"not evenly divisible by the corresponding mesh axis",
            r"[Mm]esh axis types? .{0,60}?(?:mismatch|must|incompatible)",
            r"device_put's second argument must be",
            r"pmap.{0,80}?leading axis",
            r"pmap requires (?:a )?mapped axis",
            r"is incompatible with mesh_shape=",
            r"backend or device is specified on jit, then",
            r"Mesh context manager should not be used with jit",
            r"Missing required keyword argument: '(?:in|out)_sharding'",
            r"Mesh shape of the input .{1,60}? does not match the mesh shape",
            r"Expected shard shape .{1,40}? doesn't match",
            r"is incompatible with its layout annotation",
            r"is non-uniform on dim=",
            r"supported only for unsharded arrays",
            r"When making an array from single-device arrays",
            r"NamedSharding new mesh .{1,80}? does not match",
        ),
        cause="A JAX array cannot be laid out over the devices as its PartitionSpec (or pmap, shard_map) says: a dimension that the mesh's axis does not divide (a batch, a last smaller batch, a vocabulary), an axis name that no mesh in force has, or fewer dimensions than the spec names.",
        details=("The axis is {axis}.", "The array needs rank {rank}."),
        fix="""\
print(dict(mesh.shape), x.shape, spec)                   # each dimension must be a multiple of the product of its axes
with jax.set_mesh(mesh): y = step(x)                     # a bare PartitionSpec needs a mesh in force; or NamedSharding(mesh, P("data"))
batch = per_device_batch * jax.device_count()            # a multiple; drop or pad the last batch: drop_remainder=True
x = jnp.pad(x, ((0, -len(x) % mesh.shape["model"]), (0, 0)))     # an odd vocabulary or head count: pad it""",
        evidence="recalled",
        example="ValueError: One of pjit arguments was given the sharding of NamedSharding(mesh={'data': 8}, spec=P('data',)), which implies that the global size of its dimension 0 should be divisible by 8, but it is equal to 30 (full shape: (30, 128))",
        near_miss="sharding of params: NamedSharding(mesh={'data': 8}, spec=P('data',))",
    ),
    KnownError(
        id="E523",
        family="device-count",
        phase=Phase.BUILDING,
        patterns=(
            r"number of devices in physical mesh .{0,40}? does not match",
            r"Number of slices \d{1,4} must equal the product",
            r"create_device_mesh cannot create contiguous submeshes",
            r"len\(shards\) ?= ?\d{1,5} must equal len\(devices\)",
            r"Attempted to execute with \d{1,4} argument lists when local device count is",
            r"Only \d{1,4} computations? per replica supported, (?P<wanted>\d{1,5}) requested",
            r"Expected \d{1,5} per-device arrays",
            r"Cannot construct multi slice device assignment",
            r"Constructed mesh contains a \"hole\"",
            r"one device per chip \(\"megacore\" mode\)",
            r"must be >= the product of mesh_shape",
            r"argument to `device_put_replicated",
            r"Device .{1,60}? does not have attribute .{1,20}?process_is_granule",
        ),
        cause="The program is laid out for another number or arrangement of devices than the slice has: a mesh, a pmap or a device assignment written for another slice, or for one host of several; or a JAX that is newer than the runtime it talks to (a TPU Node, which takes one computation a call).",
        details=("{wanted} are wanted.",),
        fix="""\
python -c "import jax; print(jax.process_count(), jax.device_count(), jax.local_device_count(), jax.devices()[0].coords)"
mesh = jax.make_mesh((jax.device_count() // 2, 2), ("data", "model"))    # from what is there, not from a constant
# several slices: mesh_utils.create_hybrid_device_mesh(per_slice_shape, dcn_shape), the product of dcn_shape = number of slices
# Colab's old TPU Node: choose a runtime with a TPU VM (v5e-1), and pip install -U 'jax[tpu]'""",
        citations=("jax-ml/jax#14552",),
        example="XlaRuntimeError: UNIMPLEMENTED: Only 1 computation per replica supported, 8 requested.",
    ),
    KnownError(
        id="E524",
        family="array-of-all-hosts",
        phase=Phase.EXECUTING,
        patterns=(
            r"spans non-addressable \(non process local\) devices",
            r"represents addressable devices, but got",
            r"For a cross-host reshard in multi-controller JAX",
            r"host local inputs to pjit",
            r"each dimension should match either global or process shape",
            r"non-addressable (?:shards|devices|arrays?)",
            r"not (?:fully )?addressable (?:by|from) (?:this|the current) process",
            r"Gathering global non-fully-addressable arrays only supports tiled",
            r"Provided devices do not have any local devices",
        ),
        cause="With several hosts an array of all of them is used as if this process held it: each process has its own part only, so it cannot be printed, turned into NumPy, closed over by a function or put on devices of another host.",
        fix="""\
from jax.experimental import multihost_utils
whole = multihost_utils.process_allgather(x, tiled=True)              # the whole array, on every host
mine = [shard.data for shard in x.addressable_shards]                  # this host's part
batch = jax.make_array_from_process_local_data(sharding, local_batch)  # each host gives its part of the global batch
step(params, batch)                                                    # arrays as arguments of the jitted function, not caught from outside""",
        evidence="recalled",
        example="RuntimeError: Fetching value for `jax.Array` that spans non-addressable (non process local) devices is not possible.",
    ),
    KnownError(
        id="E525",
        family="array-donated",
        phase=Phase.EXECUTING,
        patterns=(
            r"Array has been deleted with shape",
            r"buffer has been deleted or donated",
            r"Buffer passed to Execute\(\) .{0,60}?has been deleted or donated",
            r"Attempt to (?:donate|use) (?:a buffer|the same buffer).{0,120}?Execute",
            r"previously donated in the same call",
            r"Donation requested for invalid buffer",
        ),
        cause="An array is used after its memory was given away: it was donated to a jitted step (donate_argnums), deleted, or the same array stands twice among the arguments.",
        fix="""\
state = train_step(state, batch)             # take what the step returns; the old state is gone
eval_params = jax.tree.map(jnp.copy, state.params)     # what must outlive the step: a copy, before it
jax.jit(step)                                # without donate_argnums: does the error go? then an old reference is used
# after a failed step (out of memory) the donated state is gone too: restore the checkpoint""",
        evidence="recalled",
        example="RuntimeError: Array has been deleted with shape=float32[1024,1024].",
    ),
    KnownError(
        id="E526",
        family="processes-not-initialised",
        phase=Phase.INITIALISING,
        patterns=(
            r"distributed\.initialize\(\) must be called before",
            r"coordinator_(?:bind_)?address should be defined",
            r"Number of processes must be defined",
            r"process id of the current process must be defined",
            r"distributed\.initialize should only be called once",
            r"(?:process_id|num_processes) must be (?:a )?(?:nonnegative|positive)",
            r"JAX distributed (?:client|service) (?:is )?not (?:initialized|running)",
            r"Config key \w{1,20}:(?:local|global)_topology.{0,40}?already exists",
            r"Distributed JAX not initialized",
        ),
        cause="The processes of a slice are not joined: jax.distributed.initialize comes after JAX already looked for devices, is called twice (or by two processes with one process_id), or does not know the coordinator and the number of processes (outside Cloud TPU and GKE they have to be given).",
        fix="""\
import jax
jax.distributed.initialize()                 # first of all: before jax.devices(), before any array or import that makes one; once
jax.distributed.initialize("HOST0:1234", num_processes=4, process_id=rank)      # where nothing can be detected
gcloud compute tpus tpu-vm ssh NAME --zone=ZONE --worker=all --command="python train.py"    # the same program on every host""",
        evidence="recalled",
        example="RuntimeError: jax.distributed.initialize() must be called before any JAX calls that might initialise the XLA backend.",
    ),
    KnownError(
        id="E527",
        family="not-an-array",
        phase=Phase.TRACING,
        patterns=(
            r"is not a valid JAX (?:array )?type",
            r"Cannot interpret value of type .{1,120}? as an abstract array",
            r"Error interpreting argument to .{1,200}? as (?:an abstract array|a JAX value)",
            r"String arrays can only be sharded to CPU",
            r"Only arrays of numeric types are supported by JAX",
            r"Non-hashable static arguments",
            r"Static argument .{0,80}? non-hashable",
            r"unhashable type: '(?:jaxlib|DynamicJaxprTracer|ArrayImpl|Array|DeviceArray)",
            r"static_arg(?:nums|names).{0,120}?(?:must|cannot|invalid|intersect|positional)",
            r"Jitted function has (?:invalid argnames|.{1,60}?but only accepts)",
            r"None is not a valid value for jnp\.array",
            r"Unexpected input type for array:",
        ),
        cause="A jitted function of JAX takes arrays and trees of arrays: strings, None in the wrong place, tensors of TensorFlow, modules and functions are none; what is static must be hashable and named as such.",
        fix="""\
for batch in dataset.as_numpy_iterator(): step(state, {"image": batch["image"], "label": batch["label"]})    # arrays alone, no strings
jax.jit(apply, static_argnames=("deterministic", "config"))      # flags, sizes, hashable settings; arrays never
jax.jit(functools.partial(step, model))                             # an object: bound, not passed""",
        evidence="recalled",
        example="TypeError: Argument 'b'image_1.png'' of type <class 'bytes'> is not a valid JAX type.",
        yields_to=("E261",),
    ),
    KnownError(
        id="E528",
        family="trees-differ",
        phase=Phase.TRACING,
        patterns=(
            r"carry (?:input|output).{0,200}?(?:must have|have) (?:equal|the same|identical) ?type",
            r"body_fun output and input must have identical types",
            r"true_fun and false_fun output must have identical types",
            r"branch \d and \d outputs? must have",
            r"tree prefix of the corresponding",
            r"(?:Custom node|Tuple arity|Dict key|List arity|Arity|Node arity) (?:type |data )?mismatch",
            r"[Pp]ytree (?:structure|for).{0,200}?(?:mismatch|differ|do not match|does not match|error)",
            r"Too (?:many|few) leaves",
            r"tree structures? .{0,60}?(?:do not match|differ|mismatch)",
            r"must have the same tree structure",
            r"trees? .{0,40}?identical structure",
            r"branches must have equal (?:output )?types",
            r"branches must .{0,20}?same pytree structure",
        ),
        cause="Two trees of arrays that must be alike are not: what a loop or a branch returns against what it takes, an optimizer's state against the parameters, a specification against its value; or a leaf changes its type on the way (int32 to float32, weak types, bfloat16 to float32).",
        fix="""\
print(jax.tree.structure(a)); print(jax.tree.structure(b))                 # what differs: a missing key, a tuple for a list, FrozenDict for dict
print(jax.tree.map(lambda x: (x.shape, x.dtype), carry))                    # before and after the body
carry = jnp.zeros((), jnp.float32)                                          # not 0.0 or 0: a leaf keeps its type through scan, while_loop, cond
opt_state = tx.init(params)                                                  # anew, where the parameters changed""",
        evidence="recalled",
        example="TypeError: scan body function carry input and carry output must have equal types (e.g. shapes and dtypes of arrays), but they differ",
        yields_to=("E535", "E461"),
    ),
    KnownError(
        id="E529",
        family="shape-conflict",
        phase=Phase.TRACING,
        patterns=(
            r"got incompatible shapes for broadcasting: ?(?P<left>\([\d, ]{0,40}\)), ?(?P<right>\([\d, ]{0,40}\))",
            r"incompatible shapes for broadcasting",
            r"dot_general requires (?:contracting|batch) dimensions to have the same shape",
            r"Cannot concatenate arrays with shapes that differ",
            r"lhs feature dimension size divided by feature_group_count must equal",
            r"requires arguments to have equal (?:shapes|ranks)",
            r"reshape total size must be unchanged",
            r"vmap got inconsistent sizes for array axes",
            r"vmap .{0,40}?in_axes must be",
            r"was requested to map its argument along axis",
            r"axis (?P<axis>-?\d{1,3}) is out of bounds for array of dimension (?P<rank>\d{1,2})",
            r"[Cc]annot select an axis to squeeze out",
            r"size of label '\w' for operand \d .{0,60}?does not match",
            r"cannot reshape array of shape (?P<left>\([\d, ]{0,40}\)).{0,40}?into shape (?P<right>\([\d, ]{0,40}\))",
            r"Too many indices: array is \d",
            r"Zero-dimensional arrays cannot be concatenated",
            r"array split does not result in an equal division",
            r"boolean index did not match shape of indexed array",
            r"Rank mismatch for .{1,60}?: expected",
        ),
        cause="Arrays that meet have shapes that do not fit: other sizes, another number of dimensions, or a batch dimension on one side only.",
        details=("They are {left} and {right}.", "Axis {axis} of an array with {rank} dimensions."),
        fix="""\
print(jax.eval_shape(f, x, y))                              # shapes without running; print(x.shape) works inside jit too
x = x[:, None]; y = jnp.broadcast_to(y, x.shape)            # say which dimension is meant
jax.vmap(f, in_axes=(0, None))                              # mapped over the first argument, the second one as it is""",
        rivals=(
            Rival(
                cause="one side holds the global batch or all devices (a leading device axis of pmap), the other one device's part",
                look_for="the sizes differ by the number of devices",
                decide="print(jax.device_count(), jax.local_device_count(), x.shape)",
            ),
            Rival(
                cause="the model and the data simply differ: length, channels, classes, heads",
                look_for="the sizes are those of a configuration",
                decide="jax.eval_shape on a CPU: JAX_PLATFORMS=cpu python train.py",
            ),
        ),
        evidence="recalled",
        example="TypeError: add got incompatible shapes for broadcasting: (8, 128), (16, 128).",
    ),
)
