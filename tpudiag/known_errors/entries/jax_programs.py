# ruff: noqa: E501  (texts of other programs stay as they are)
"""Programs of JAX on a TPU: gradients, variables of Flax, checkpoints of Orbax, kernels of Pallas."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E530",
        family="gradient-function",
        phase=Phase.TRACING,
        patterns=(
            r"grad(?:ient)? (?:only defined for|can only work on) (?:functions with )?scalar",
            r"requires (?:real|numerical|real- or complex)-?valued (?:inputs|outputs)",
            r"jvp called with different primal and tangent",
            r"linearized function called on tangent",
            r"custom_(?:vjp|jvp) .{0,80}?(?:must|mismatch|inconsistent|expected)",
            r"differentiating with respect to argnums",
            r"cotangent (?:tree|type) does not match",
            r"Reverse-mode differentiation does not work for lax\.while_loop",
        ),
        cause="jax.grad is asked for a gradient that does not exist as written: of a loss that is no single number, with respect to integers, through a while_loop of unknown length, or through a rule of your own whose parts do not fit.",
        fix="""\
loss = jnp.mean(per_example)                                # one number; jax.value_and_grad(f, has_aux=True) for (loss, aux)
jax.grad(f, argnums=0, allow_int=False)                      # with respect to the float parameters, not labels or steps
jax.lax.scan(body, init, xs)                                 # or fori_loop with constant bounds, in place of while_loop""",
        evidence="recalled",
        example="TypeError: grad requires real- or complex-valued inputs (input dtype that is a sub-dtype of np.inexact), but got int32.",
    ),
    KnownError(
        id="E531",
        family="flax-variables",
        phase=Phase.BUILDING,
        patterns=(
            r"flax\.errors\.(?P<name>\w{4,60})",
            r"ScopeParam(?:NotFound|Shape)Error",
            r"Scope(?:Collection|Variable)NotFound",
            r"ModifyScopeVariableError",
            r"(?:InvalidRng|NameInUse|SetAttributeFrozenModule|SetAttributeInModuleSetup|CallCompactUnboundModule|AssignSubModule)Error: ",
            r"(?:Could not find|Initializer expected to generate shape .{0,60}? for) parameter ?(?:named)?",
            r"needs PRNG for \"(?P<rng>\w{1,20})\"",
            r"Can't (?:access|call|query|use|store|check) .{1,60}? on unbound modules",
            r"must be initialized in `?setup\(\)",
        ),
        cause="A Flax module does not get the variables or random keys that it asks for: parameters of another configuration (or wrapped in {'params': ...} once too often or too seldom), a collection that is not mutable, a missing key for dropout, or a module called without init and apply.",
        details=("Flax calls it {name}.", "The key is that of {rng}."),
        fix="""\
variables = model.init({"params": key, "dropout": key2}, x, train=False)
logits, updates = model.apply({"params": params, "batch_stats": stats}, x, train=True, rngs={"dropout": key2}, mutable=["batch_stats"])
print(jax.tree.map(jnp.shape, variables["params"]))         # compare with the checkpoint: names, sizes, one "params" too many?
module = module.bind(variables)                              # to call methods outside apply""",
        evidence="recalled",
        example='flax.errors.ScopeParamNotFoundError: Could not find parameter named "kernel" in scope "/Dense_0".',
    ),
    KnownError(
        id="E535",
        family="checkpoint-mismatch",
        phase=Phase.SAVING,
        patterns=(
            r"restore item and on-disk value metadata tree structures do not match",
            r"Structure mismatch: Target path (?P<key>[\w./'\[\]()]{1,80}) not found",
            r"Requested shape: .{0,60}? is not compatible with the stored shape",
            r"target dict keys and state dict keys do not match",
            r"Item \"(?P<key>\w{1,40})\" was (?:not )?found in the checkpoint",
            r"does not match with any registered handler",
            r"(?:Missing|Unexpected|Extra) keys? .{0,80}?checkpoint",
            r"Unknown key: .{1,80}? Available keys:",
            r"TypeHandler lookup failed",
            r"Make sure to specify kwarg name `?args=?`?",
            r"Expected .?\"compressor\" of",
        ),
        cause="The Orbax (Flax) checkpoint does not hold what it is restored into: another tree of names, other shapes, another item or handler than it was saved with, or written by another release of Orbax and TensorStore.",
        details=("It is {key}.",),
        fix="""\
meta = ocp.StandardCheckpointer().metadata(path); print(jax.tree.map(lambda m: m.shape, meta))      # what it holds
abstract = jax.eval_shape(init_state); state = ocp.StandardCheckpointer().restore(path, abstract)   # the same tree: names, shapes
manager.restore(step, args=ocp.args.Composite(state=ocp.args.StandardRestore(abstract)))              # items by the names they were saved under
pip install orbax-checkpoint==THE_RELEASE_THAT_SAVED_IT""",
        citations=("google/orbax#324",),
        example="ValueError: User-provided restore item and on-disk value metadata tree structures do not match",
    ),
    KnownError(
        id="E536",
        family="checkpoint-of-other-devices",
        phase=Phase.SAVING,
        patterns=(
            r"Device .{1,40}? was not found in jax\.local_devices",
            r"available devices are different from the devices used to save",
            r"Topology mismatch detected",
            r"[Ss]harding .{0,60}?(?:cannot be None|should be specified).{0,120}?(?:restor|deserializ|jax\.Array)",
            r"deserializ\w{1,4} .{0,60}?[Ss]harding .{0,40}?(?:must|should|None)",
        ),
        cause="The checkpoint was saved from other devices (a GPU, another slice, more hosts) and is restored with the layout of those: the devices that it names are not here.",
        fix="""\
sharding = jax.sharding.NamedSharding(mesh, P())               # of the devices that are here
abstract = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=sharding), jax.eval_shape(init_state))
state = ocp.StandardCheckpointer().restore(path, abstract)      # the abstract tree says where each array goes
restore_args = ocp.checkpoint_utils.construct_restore_args(abstract)     # with PyTreeRestore: restore_args=
# plain NumPy on a machine without any of them: ocp.RestoreArgs(restore_type=np.ndarray) for each leaf""",
        citations=("google/orbax#2473",),
        example="ValueError: Device cuda:0 was not found in jax.local_devices().",
    ),
    KnownError(
        id="E537",
        family="checkpoint-not-whole",
        phase=Phase.SAVING,
        patterns=(
            r"\.zarray\b",
            r"(?:NOT_FOUND|FAILED_PRECONDITION|DATA_LOSS).{0,40}?Error (?:opening|reading|writing).{0,20}?\"?zarr",
            r"Found incomplete checkpoint",
            r"No structure could be identified for the checkpoint",
            r"Requested directory for restore does not exist",
            r"Metadata file \(named .{1,40}?\) does not exist",
            r"Checkpoint structure file does not exist",
            r"commit_success\w{0,10} .{0,60}?(?:not found|missing|does not exist)",
            r"Checkpoint path should be absolute",
            r"Destination .{1,200}? already exists\.",
            r"checkpoint .{0,200}?(?:incomplete|not finalized|tmp directory)",
            r"orbax-checkpoint-tmp",
            r"directory that is not a previous checkpoint",
        ),
        cause="The checkpoint's directory is not one that Orbax can read or write: a step that was never finished or was copied without its marker file, another format (Flax's msgpack, another Orbax), a relative or local path where all hosts need one bucket, or a target that exists already.",
        fix="""\
gcloud storage ls gs://BUCKET/run/checkpoints/STEP/          # _CHECKPOINT_METADATA, default/; no `.orbax-checkpoint-tmp-` in its name
manager = ocp.CheckpointManager("gs://BUCKET/run/checkpoints"); print(manager.all_steps())     # an absolute path, the same for all hosts
manager.wait_until_finished()                                  # before the program ends: saving runs in the background
checkpointer.save(path, state, force=True)                     # over one that exists
flax.training.checkpoints.restore_checkpoint(path, target)     # one that flax.training.checkpoints wrote""",
        rivals=(
            Rival(
                cause="written by another program: Flax's older format, another release of Orbax or TensorStore",
                look_for="`zarr`, `.zarray`, `driver` in the message; files named checkpoint_N",
                decide="gcloud storage ls PATH; pip list | grep -iE 'orbax|flax|tensorstore'",
                cues=(r"\.zarray", r"\"?zarr\"? ?driver", r"msgpack"),
                families=("checkpoint-mismatch",),
            ),
            Rival(
                cause="never finished: the job was stopped or preempted while it saved, or the copy lost its marker",
                look_for="`tmp`, `incomplete`, `commit_success`",
                decide="gcloud storage ls PATH",
                cues=(r"incomplete", r"checkpoint-tmp", r"commit_success"),
            ),
        ),
        citations=("cgarciae/ciclo#12", "google/orbax#394"),
        example="FileNotFoundError: File not found: model/checkpoint_3/.zarray. In many cases, this results from copying a checkpoint without using the `-a` flag.",
        yields_to=("E535",),
    ),
    KnownError(
        id="E538",
        family="kernel-over-devices",
        phase=Phase.TRACING,
        patterns=(
            r"Mosaic kernels? cannot be automatically partitioned",
            r"wrap the call in a shard_map",
            r"Cannot use communication in pallas_call without shard_map",
        ),
        cause="A hand-written kernel (Pallas, Mosaic: mostly flash attention) is called in a program that the compiler splits over several chips, and the compiler cannot split a kernel.",
        fix="""\
attention = jax.shard_map(flash_attention, mesh=mesh, in_specs=P("data", "model"), out_specs=P("data", "model"), check_vma=False)
# a library: its option for the plain attention (attention="dot_product", attn_implementation="eager"), or a release that wraps its kernel
# one chip needs nothing of it: that it works there proves nothing""",
        citations=("erfanzar/EasyDeL#149",),
        example="NotImplementedError: Mosaic kernels cannot be automatically partitioned. Please wrap the call in a shard_map or xmap.",
    ),
    KnownError(
        id="E539",
        family="kernel-refused",
        phase=Phase.COMPILING,
        kind=Kind.BROAD,
        patterns=(
            r"Mosaic failed to compile(?: TPU kernel)?:? ?(?P<why>[\w -]{4,80})",
            r"Mosaic failed to compile",
            r"Expected a tiled memref",
            r"is a Triton-specific primitive",
            r"NotImplementedError: unsupported layout change",
            r"pallas/(?:mosaic/|pallas_call).{0,1500}?(?:Error|Exception): ",
            r"dma_descriptor\w{0,20}\.cc.{1,160}?Check failed: .{1,160}",
            r"Unimplemented primitive in Pallas TPU lowering.{0,60}?: ?(?P<primitive>\w{2,30})",
            r"Unimplemented primitive in Pallas",
            r"Target does not support (?:this|\w{2,30})",
            r"Internal TPU kernel compiler error",
            r"unsupported operand shapes or layouts",
            r"Loads (?:and stores )?are only allowed on VMEM",
            r"Can only (?:load|store) scalars (?:from|to) SMEM",
            r"Cannot (?:store|swap) scalars to VMEM",
            r"Cannot do int indexing on TPU",
            r"Can only use \(\)-shaped and slice indexing",
            r"current TPU does not have SparseCores",
            r"Mesh has \d{1,4} \w{0,3}cores, but the current TPU chip",
            r"Block size must divide tiling",
            r"dimension_semantics must be",
            r"program id was requested but no grid",
            r"keys? .{0,12}?not support for Pallas PRNG keys",
            r"must be loaded from SMEM",
            r"custom barrier config was not provided",
        ),
        cause="A hand-written kernel (Pallas, Mosaic; also inside libraries, for attention) asks for an operation, type or layout that this TPU generation or this release of the kernel compiler does not have.",
        details=("It says: {why}.", "The operation is {primitive}."),
        fix="""\
pip install -U "jax[tpu]"                                  # many operations and layouts came with later releases
x = x.astype(jnp.float32)                                    # v5p, v5e and older compare, round and divide no bfloat16 in a kernel
# blocks: the last two dimensions multiples of (8, 128), (16, 128) for bfloat16, or equal to the array's
# an operation that Pallas lacks (cumsum, sort, gather): before or after the kernel, or written with loops and dots
# a library's kernel: its option for the plain operation in place of it; paged_attention and its like are for TPU v4 and later""",
        citations=("jax-ml/jax#24415", "jax-ml/jax#30104", "jax-ml/jax#32991"),
        example="INTERNAL: Mosaic failed to compile TPU kernel: Not implemented: Non-trivial layouts unsupported",
    ),
    KnownError(
        id="E694",
        family="buffer-mismatch",
        phase=Phase.EXECUTING,
        patterns=(
            r"Executable expected shape (?P<expected>\w{2,5}\[[\d,]{0,40}\]).{0,20}? for argument (?P<parameter>\d{1,6}) but ?got incompatible shape (?P<got>\w{2,5}\[[\d,]{0,40}\])",
            r"Executable expected (?:parameter|argument|shape)",
        ),
        cause="A compiled JAX step is fed with an array that is laid out over the devices in another way than when it was compiled: mostly its own output of the step before, whose sharding the compiler chose, or the whole batch where each process has to give its part.",
        details=("Argument {parameter} is {got}, and {expected} is expected.",),
        fix="""\
step = jax.jit(step, in_shardings=(state_sharding, batch_sharding), out_shardings=(state_sharding, None))      # what goes out comes in again
state = jax.lax.with_sharding_constraint(state, state_sharding)                                                  # at the end of the step
batch = jax.make_array_from_process_local_data(batch_sharding, local_batch)                                      # several hosts: the part of each
pip install -U jax jaxlib                                                                                         # 0.4.5 and older had bugs of it""",
        citations=("google/flax#2904",),
        example="Execution of replica 0 failed: INVALID_ARGUMENT: Executable expected shape f32[512,32,1024]{2,1,0} for argument 0 but got incompatible shape f32[512,256,1024]{2,1,0}",
    ),
    KnownError(
        id="E695",
        family="shape-conflict",
        phase=Phase.TRACING,
        patterns=(
            r"InconclusiveDimensionOperation",
            r"Cannot divide evenly the sizes of shapes (?P<left>\([\d, ]{0,60}\)) and (?P<right>\([\d, ]{0,60}\))",
        ),
        cause="A reshape in JAX asks for sizes whose product is not that of the array (or for sizes that are only known when it runs).",
        details=("The array is {left}, and {right} is asked for.",),
        fix="""\
print(x.shape)                                        # works inside jit: shapes are known there
x = x.reshape(x.shape[0], -1)                         # -1 for what follows from the rest
x = jnp.broadcast_to(x[:, None], (x.shape[0], n))     # where one value for each row is meant: repeat it, a reshape makes none""",
        citations=("huggingface/diffusers#1746",),
        example="jax.core.InconclusiveDimensionOperation: Cannot divide evenly the sizes of shapes (8,) and (8, 4)",
    ),
    KnownError(
        id="E696",
        family="array-sharding",
        phase=Phase.TRACING,
        patterns=(r"ShardingTypeError: ?(?P<what>[^\n]{3,80})?", r"Split axis cannot be sharded"),
        cause="The mesh has explicit axes (AxisType.Explicit): shardings are part of an array's type there, and this operation cannot tell which sharding its result has.",
        fix="""\
mesh = jax.make_mesh((8,), ("data",), axis_types=(jax.sharding.AxisType.Auto,))      # Auto: the compiler decides, as before
y = jnp.reshape(x, shape, out_sharding=P("data", None))                                # or say it, where the operation takes out_sharding
x = jax.sharding.reshard(x, P(None, None))                                             # or take the axis whole before""",
        citations=("jax-ml/jax#29867",),
        example="ShardingTypeError: Split axis cannot be sharded. Got old_spec=PartitionSpec(None, 's', None)",
    ),
    KnownError(
        id="E697",
        family="checkpoint-of-other-devices",
        phase=Phase.SAVING,
        level="warning",
        patterns=(
            r"(?:Couldn't find|Could not find|No) sharding info (?:under|in|found in) (?:the )?RestoreArgs",
            r"Populating sharding info from sharding file",
        ),
        cause="Orbax was not told how to lay out the arrays, and takes the layout that was saved: harmless on the same devices, an error on others.",
        fix="""\
abstract = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=sharding), state)      # the layout of the devices that are here
state = checkpointer.restore(path, abstract)
# the same slice as when it was saved: nothing to do""",
        citations=("google/orbax#1110",),
        example="UserWarning: Couldn't find sharding info under RestoreArgs. Populating sharding info from sharding file.",
    ),
)
