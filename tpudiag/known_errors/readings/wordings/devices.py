# ruff: noqa: E501  (sentences and what is pasted stay in one piece)
"""Wordings of devices, kernels and compilers' checks, and of services that lend a TPU."""

from __future__ import annotations

from .wording import Wording, Wordings

DEVICES: Wordings = {
    "E01": (
        Wording(
            r"COLAB_(?:TPU_ADDR|ADDR_TPU)",
            "COLAB_TPU_ADDR was set by Colab's old TPU runtime (a TPU Node), in the notebook's own process alone. It is not there in a GPU or CPU runtime, in an ssh session or another process, and no longer in any runtime: Colab's and Kaggle's TPU of today is in the machine itself and has no address.",
            'resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")      # TensorFlow: in place of "grpc://" + os.environ["COLAB_TPU_ADDR"]\npip install -U "jax[tpu]"; python -c "import jax; print(jax.devices())"          # JAX: no jax.tools.colab_tpu.setup_tpu(), nor its line in a notebook\n# Runtime, Change runtime type: a TPU (v5e-1, v6e-1) where one is wanted; else delete the lines that ask for it',
            "KeyError: 'COLAB_TPU_ADDR'",
        ),
    ),
    "E59": (
        Wording(
            r"Failed to assign a backend|No backend with (?:TPU|GPU) available",
            "Colab has no machine of that kind free just now (or none for this account's plan): nothing is wrong with the notebook.",
            "# try again some minutes or hours later; Runtime, Change runtime type: another TPU (v5e-1, v6e-1), or a CPU to work on the code meanwhile\n# Manage sessions: end the other sessions of this account; keep data and checkpoints in Drive or gs://, not on the machine",
            "Failed to assign a backend. No backend with TPU available. Would you like to use a runtime with no accelerator?",
        ),
    ),
    "E10": (
        Wording(
            r"schecklt: ?Invalid logical",
            "The program on the TPU addresses a chip that its group of devices does not have: an executable that was compiled for other devices (from the persistent compilation cache, on a mesh that does not begin at the first chip) runs on these.",
            "JAX_ENABLE_COMPILATION_CACHE=false python train.py; rm -rf \"$JAX_COMPILATION_CACHE_DIR\"      # compiled anew for these devices\nmesh = Mesh(jax.devices()[:2], ('data',))                                                   # groups of chips from the first one, or TPU_VISIBLE_CHIPS for each process\npip install -U jax libtpu",
            "schecklt: Invalid logical z",
        ),
        Wording(
            r"Semaphore \(?.{0,60}?nonzero value upon exit|every DMA is awaited",
            "A hand-written kernel (Pallas, Mosaic; it stands after `HLO:`) ended with a semaphore that is not zero: a copy that was started and not awaited, or a signal without its wait. The kernel is wrong, or got inputs that it does not stand (lengths or offsets that do not grow, a size outside its grid), not the hardware.",
            "copy = pltpu.make_async_copy(source, target, semaphore); copy.start(); copy.wait()      # each start its wait, in each branch and on the last turn of the grid\npallas_call(..., interpret=pltpu.InterpretParams())                                          # the kernel on a CPU: finds what is left over\n# a library's kernel: its inputs (lengths, page tables, cumulative starts) in order, or another release of it; its option for the plain operation",
            "INTERNAL: Core halted unexpectedly: INTERNAL: Accelerator device halted prematurely, perhaps due to an on-device check-failure. Node 0 halted unexpectedly at tag:pc TensorCoreSequencer:20:0xa (from TensorCoreSequencer:20:0x13a): Semaphore (scratch argument 3) has a nonzero value upon exit from a Mosaic kernel. Make sure every DMA is awaited, and every semaphore signal is paired with a wait.",
        ),
    ),
    "E522": (
        Wording(
            r"incompatible devices for jitted computation.{0,400}? device ids \[(?P<first>[\d, ]{1,80}?)\]? ?(?:\.{3}\]? ?)?on platform (?P<one>[TGC]PU).{1,300}? device ids \[(?P<second>[\d, ]{1,80}?)\]? ?(?:\.{3}\]? ?)?on platform (?P<other>(?!(?P=one))[TGC]PU)",
            "One compiled call gets arrays of two kinds of devices: <<one>> (ids <<first>>) and <<other>> (ids <<second>>). Something was made or kept on the other one: under jax.default_device, jax.devices('cpu'), a checkpoint restored to the host, or a mesh of the other platform.",
            "x = jax.device_put(x, NamedSharding(mesh, PartitionSpec()))      # what is on the wrong one, before the call\nprint(jax.tree.map(lambda a: a.sharding, args))                    # where each argument is\nwith jax.set_mesh(mesh): key = jax.random.key(0)                   # arrays made under the mesh that the program uses; not under jax.default_device(cpu)",
            "ValueError: Received incompatible devices for jitted computation. Got argument key of _randint with shape key<fry>[] and device ids [0, 1] on platform GPU and jit's context mesh with device ids [0] on platform CPU",
        ),
        Wording(
            r"incompatible devices for jitted computation.{0,400}? device ids \[(?P<first>[\d, ]{1,80}?)\].{1,400}? device ids \[(?P<second>[\d, ]{1,80}?)\]",
            "One compiled call gets arrays on different sets of devices: ids <<first>>, and ids <<second>>. What was made before the mesh or distribution was set (or restored, or built by a library on the first device) lies on one device, the rest on all. The order of the ids counts as well.",
            "x = jax.device_put(x, NamedSharding(mesh, PartitionSpec()))      # copies to all devices what lies on one\nkeras.distribution.set_distribution(keras.distribution.DataParallel())      # Keras: before the model, the optimizer and its metrics are made\nprint(jax.tree.map(lambda a: a.sharding, args))                    # where each argument is; one mesh for all of the program",
            "ValueError: Received incompatible devices for jitted computation. Got argument state[0][0] of f with shape float32[3] and device ids [0, 1, 2, 3, 6, 7, 4, 5] on platform TPU and sharding_constraint inside jit with device ids [0] on platform TPU",
        ),
    ),
    "E565": (
        Wording(
            r"AssertionError: (?P<size>\d{1,3}) is not divisible by (?P<parts>\d{1,6})",
            "<<size>> does not divide by <<parts>>: a batch, a number of heads, layers or devices is split over <<parts>> parts of equal size, and is no multiple.",
            "global_batch = PER_REPLICA_BATCH * <<parts>>      # a batch: a multiple of <<parts>>, drop_remainder=True\n# heads, layers: a number of parts (tensor_parallel_size, the mesh's axis) that divides <<size>>; print both at the line that the traceback names",
            "AssertionError: 17 is not divisible by 4",
        ),
        Wording(
            r"AssertionError: (?P<size>\d{4,9}) is not divisible by (?P<parts>\d{1,6})",
            "<<size>> does not divide by <<parts>>: a dimension (the vocabulary, which fine-tuning often made longer by a few words; heads, hidden or intermediate size, the batch) is split over <<parts>> devices or groups in equal parts, and is no multiple.",
            "model.resize_token_embeddings(pad_to_multiple_of=128)      # a vocabulary: padded once, saved, then loaded on the TPU\n# heads or hidden size: a tensor parallelism (tensor_parallel_size, mesh) that divides it: 1, 2, 4; a batch: the next multiple of <<parts>>",
            "AssertionError: 32001 is not divisible by 8",
        ),
    ),
    "E75": (
        Wording(
            r"libtpu.{0,200}?(?:/opt/homebrew|/System/Volumes)",
            "No failure: this is a Mac, which has no TPU; JAX looks for one by the way and goes on with the processor (or Metal). What fails stands in another line.",
            "JAX_PLATFORMS=cpu python train.py      # says no more of it; what fails on a Mac with jax-metal: pip uninstall -y jax-metal, on the processor",
            "Unable to initialize backend 'tpu': INTERNAL: Failed to open libtpu.so: dlopen(libtpu.so, 0x0001): tried: 'libtpu.so' (no such file), '/opt/homebrew/lib/libtpu.so' (no such file)",
        ),
    ),
    "E98": (
        Wording(
            r"RET_CHECK failure \([\w/.-]{0,120}?xla/service/(?P<name>cpu|gpu)/(?P<place>[\w./]{1,80}:\d{1,6})\)",
            "The compiler for the <<name>> failed a check of its own (<<place>>): a bug of that release of jaxlib or TensorFlow with this program, not a fault of the script, and not the TPU's compiler. This part of the program ran on the <<name>>: meant so, or the TPU was not found.",
            'python -c "import jax; print(jax.devices())"; python -c "import tensorflow as tf; print(tf.config.list_logical_devices())"      # is it meant to run there?\npip install -U jax jaxlib        # or -U tensorflow: another release of the compiler\nx = x.copy()                       # a layout that it cannot take (FFT, custom calls behind a transpose): a copy or an optimisation barrier before it; report it',
            "XlaRuntimeError: INTERNAL: RET_CHECK failure (external/xla/xla/service/cpu/ir_emitter.cc:1144) LayoutUtil::IsMonotonicWithDim0Major(operand->shape().layout())",
        ),
    ),
    "E400": (
        Wording(
            r"(?:TensorArray\w{0,4}(?:_\d{1,4})?:\d'? .{0,30}?(?:loop|not compatible|initial shape)|shape invariant specified for '?TensorArray)",
            "A shape invariant is given for a TensorArray: what the loop carries is its handle, a scalar of no shape, not the array that stack() makes of it. The invariant of the stacked shape never fits.",
            "tf.while_loop(cond, body, [i, rows], shape_invariants=[i.shape, tf.TensorShape(None)])      # or no invariants at all\nrows = tf.TensorArray(tf.float32, size=STEPS, element_shape=[BATCH, 32])                    # its elements' shape stands here",
            "ValueError: Input tensor 'TensorArrayV2_1:0' enters the loop with shape (None, None, 32), but has shape () after one iteration.",
        ),
    ),
    "E495": (
        Wording(
            r"tpu_client_extension\.TpuClient' object has no attribute '(?P<name>\w{1,40})'",
            "JAX talks to Colab's old TPU Node through its tpu_driver client here, which knows less than the client of a TPU VM: it has no `<<name>>` (memory profile, some statistics).",
            'pip install -U "jax[tpu]"; python -c "import jax; print(jax.__version__, jax.devices())"      # on a TPU VM (Colab and Kaggle of today): jax.profiler.save_device_memory_profile works\nprint(jax.jit(step).lower(*args).compile().memory_analysis())                                     # what a program needs, without it',
            "AttributeError: 'jaxlib.tpu_client_extension.TpuClient' object has no attribute 'heap_profile'",
        ),
        Wording(
            r"'XLAShardedTensor' object has no attribute '(?P<name>global_tensor)'",
            "The tensor is an XLAShardedTensor that an operation returned (of one that was sharded before): it has the class and not the tensor inside, so that mark_sharding, which unwraps it, fails. Sharding is marked a second time, or on a result.",
            "xs.mark_sharding(x, mesh, spec)                     # in place, on the plain tensor, once: do not go on with what it returns\nx = x.global_tensor if isinstance(x, XLAShardedTensor) else x      # right after mark_sharding, before any operation\npip install -U torch torch_xla                       # one release of both",
            "AttributeError: 'XLAShardedTensor' object has no attribute 'global_tensor'",
        ),
    ),
    "E492": (
        Wording(
            r"requires arguments to have (?:equal|the same) dtypes, got (?P<one>\w{4,10}), (?P<other>float32|bfloat16|float16|float64|int32|int64|bool)",
            "An operation of jax.lax gets <<one>> and <<other>>: it does not convert by itself, as jnp does. With a model in bfloat16 some value stayed float32: a constant, a table (of a scheduler, positions), a state that was made without its type.",
            "jnp.where(mask, x, y.astype(x.dtype))                     # jnp in place of jax.lax, or one type at the place that the traceback names\nparams = jax.tree.map(lambda p: p.astype(jnp.bfloat16), params); state = jax.tree.map(lambda s: s.astype(jnp.bfloat16) if s.dtype == jnp.float32 else s, state)",
            "lax.select requires arguments to have the same dtypes, got bfloat16, float32. (Tip: jnp.where is a similar function that does automatic type promotion on inputs).",
        ),
        Wording(
            r"(?:Expected|passed to parameter).{0,120}? got (?:tf\.)?(?P<name>Ragged|Sparse)Tensor",
            "A <<name>>Tensor was given to an operation that takes dense tensors only: rows of unequal length (or sparse ones) have no single array behind them. In Keras, operations on such an input are mostly not built to pass it on, and a TPU's step takes dense tensors alone.",
            "x = ragged.to_tensor(default_value=0, shape=[None, LENGTH])      # padded to one length, in dataset.map; sparse: tf.sparse.to_dense(x)\ny = tf.ragged.map_flat_values(f, ragged)                          # an operation on each value, which keeps the rows; inside a keras.layers.Lambda or a layer of your own\nmask = tf.sequence_mask(ragged.row_lengths(), LENGTH)             # which places are filled",
            "TypeError: Expected bool passed to parameter 'condition' of op 'SelectV2', got tf.RaggedTensor(values=Tensor(\"Placeholder:0\", shape=(None,), dtype=bool)) of type 'RaggedTensor' instead.",
        ),
        Wording(
            r"'MergeSummary' Op have types \[bool",
            "The summaries are those of TensorFlow 2 (tf.summary.scalar writes at once and returns whether it did: a bool), and they are merged as in TensorFlow 1, where a summary is a string.",
            "import tensorflow.compat.v1 as tf; tf.disable_v2_behavior()      # a script of TensorFlow 1: all of it by compat.v1, tf.summary too\nwith writer.as_default(step=step): tf.summary.scalar('loss', loss)      # TensorFlow 2: nothing to merge, nothing to run",
            "TypeError: Tensors in list passed to 'inputs' of 'MergeSummary' Op have types [bool, bool, bool] that do not match expected type [string].",
        ),
    ),
    "E215": (
        Wording(
            r"slice index (?P<number>[1-4]) of dimension 0 out of bounds(?!.{0,300}?(?:MultiDeviceIterator|IteratorGetNext|RemoteCall))",
            "Mostly the length of axis <<number>> is asked for (tf.shape(x)[<<number>>], x.shape[<<number>>]) of a tensor that has fewer axes: its batch (or time) axis is missing. Single examples come where a batch is wanted: a dataset or serving input that is not batched, a placeholder of one example.",
            "dataset = dataset.batch(batch_size, drop_remainder=True); print(dataset.element_spec)      # a batch axis in front\ntf.io.parse_example(serialized, spec)                         # serving: of a batch of strings [None], and features that keep that axis; or tf.expand_dims(x, 0)",
            "ValueError: slice index 1 of dimension 0 out of bounds.",
        ),
    ),
    "E539": (
        Wording(
            r"`?(?P<name>\w{2,30})`? is a Triton-specific primitive",
            "The kernel uses <<name>> of Pallas for GPUs (Triton), by itself or by pl.load and pl.store with arrays of indices; on a TPU (Mosaic) blocks are read by slices.",
            "x = x_ref[...]; x = x_ref[pl.ds(start, size), :]      # slices in place of pl.load(ref, (indices, ...)); jnp operations on what was read\n# gathers by an array of indices: on whole blocks with jnp.take where it is supported, by a one-hot product, or outside the kernel\npallas_call(..., interpret=pltpu.InterpretParams())     # tries the kernel on a CPU",
            "RuntimeError: `broadcast_to` is a Triton-specific primitive. Please consider using `jnp.broadcast_to` instead.",
        ),
        Wording(
            r"Failed to verify layout for Mosaic kernel (?P<name>operand|result) (?P<number>\d{1,3}).{0,300}?expected (?P<wanted>\{.{1,40}?\}), got (?P<got>\{.{1,40}?\})",
            "The compiler lays <<name>> <<number>> of the kernel out otherwise (<<got>>) than the kernel was written and lowered for (<<wanted>>): the kernel was lowered by one release (jax) and is compiled by another (the libtpu of torch_xla), or its block of that array is not whole tiles of (8, 128).",
            'pip list | grep -iE "jax|libtpu|torch"                          # jax of the release that this torch_xla names: pip install "torch_xla[pallas]"\n# blocks whose last two dimensions are multiples of (8, 128), (16, 128) for bfloat16, or the whole array; scalars and indices as scalar prefetch, not as blocks',
            "INVALID_ARGUMENT: Mosaic failed to compile TPU kernel: Failed to verify layout for Mosaic kernel operand 3: XLA layout does not match MLIR layout for an operand of shape f32[16,3072]: expected {1,0:T(128)S(1)}, got {1,0:T(8,128)S(1)}",
        ),
    ),
    "E518": (
        Wording(
            r"ImportError: .{0,200}?libtensorflow_(?P<name>cc|framework)\.so\.\d{1,3}: ?(?:u|$)",
            "A compiled part of TensorFlow looks for a symbol that libtensorflow_<<name>>.so of this environment does not have: files of two releases or packages (tensorflow, tensorflow-cpu, tensorflow-intel, a nightly, one in ~/.local or LD_LIBRARY_PATH) lie over each other.",
            'pip list | grep -iE "^tensorflow|^tf.nightly"; pip uninstall -y tensorflow tensorflow-cpu tensorflow-tpu tf-nightly tensorflow-intel\nrm -rf "$(python -c "import sysconfig; print(sysconfig.get_paths()[\'purelib\'])")/tensorflow"      # what pip left\npip install --no-cache-dir tensorflow-tpu      # one of them; or a fresh virtual environment; unset LD_LIBRARY_PATH',
            "ImportError: /venv/lib/python3.11/site-packages/tensorflow/python/platform/../../libtensorflow_cc.so.2: undefined symbol: _ZN6google",
        ),
    ),
    "E13": (
        Wording(
            r"preprocessing layers?|layers/preprocessing/|Random(?:Crop|Rotation|Translation|Zoom|Flip|Height|Width|Contrast|Brightness)",
            "Layers that prepare or augment images are part of the model: on a TPU their random sizes and offsets must be known when the step is compiled, and are not.",
            "augment = keras.Sequential([keras.layers.RandomFlip(), keras.layers.RandomZoom(0.1)])\ndataset = dataset.map(lambda x, y: (augment(x, training=True), y), num_parallel_calls=tf.data.AUTOTUNE)      # in the dataset: on the host's processors\nmodel = keras.Sequential([keras.Input((224, 224, 3)), backbone, head])                                       # and out of the model",
            "[TPU, keras preprocessing layer] Some Op must be a compile-time constant.",
        ),
    ),
    "E265": (
        Wording(
            r"TrainEvalPipelineConfig\" has no field named \"(?:syntax|package|import|message|option)\"",
            "The file that was given as the pipeline's configuration is its schema (pipeline.proto, which defines the fields), not a configuration (a .config with model { ... }, train_config { ... }).",
            "--pipeline_config_path=models/NAME/pipeline.config      # the one that lies beside the checkpoint in the model zoo, or object_detection/configs/tf2/NAME.config; its PATH_TO_BE_CONFIGURED filled in",
            'google.protobuf.text_format.ParseError: 1:1 : Message type "object_detection.protos.TrainEvalPipelineConfig" has no field named "syntax".',
        ),
    ),
    "E119": (
        Wording(
            r"No such file or directory: '(?P<name>gsutil|gcloud|kubectl|docker|git|ffmpeg|dot|bazel|cmake|make|gcc|g\+\+|wget|curl|unzip|numactl|lsof|tpu-info|xdg-open)'",
            "<<name>> is a program, not a file of yours: the script calls it, and it is not installed on this machine or not on its PATH.",
            "which <<name>> || (sudo apt-get update && sudo apt-get install -y <<name>>)      # gsutil and gcloud: pip install gsutil, or Google's Cloud CLI; in a notebook with ! before it\npip install 'torch_xla[tpu]'                      # env-setup.py of PyTorch/XLA (the only reason for gsutil in old notebooks) was for TPU Nodes: delete it",
            "FileNotFoundError: [Errno 2] No such file or directory: 'gsutil'",
        ),
        Wording(
            r"No such file or directory: '(?P<name>nvidia-smi|nvcc|rocm-smi)'",
            "A library asks for <<name>>, the tool of a GPU: it takes this machine for one with a GPU, because it did not see the TPU (torch_xla missing, of another release than torch, or not importable), or it only knows GPUs.",
            'python -c "import torch_xla; print(torch_xla.device())"; python -c "import tensorflow as tf; print(tf.config.list_logical_devices())"      # which of them sees the TPU?\npip list | grep -iE "^torch|accelerate|libtpu"      # torch and torch_xla of one release; then: accelerate launch --tpu train.py\nexport PJRT_DEVICE=TPU                              # before the notebook\'s first import',
            "FileNotFoundError: [Errno 2] No such file or directory: 'nvidia-smi'",
        ),
    ),
    "P03": (
        Wording(
            r"tpu\.experimental' has no attribute 'HardwareFeature'",
            "tensorflow-recommenders is newer than this TensorFlow: its TPU embedding asks for tf.tpu.experimental.HardwareFeature, which came with TensorFlow 2.9: the name was not removed, this release does not have it yet.",
            'pip install "tensorflow-recommenders==0.6.0"      # with TensorFlow 2.6 to 2.8\npip install -U tensorflow tensorflow-recommenders   # or TensorFlow 2.9 and later',
            "AttributeError: module 'tensorflow.compat.v2.tpu.experimental' has no attribute 'HardwareFeature'",
        ),
    ),
    "E582": (
        Wording(
            r"program_shape\.parameters_size\(\) == po_data->parameters_data\.size\(\)",
            "A check inside PyTorch/XLA: the compiled graph has another number of inputs than the data that were gathered for it. A fault of that release, met where tensors of several devices, threads or processes come into one graph (callbacks and metrics that keep tensors, a tensor of another process, data loaders' threads).",
            "pip install -U torch torch_xla                                  # one release of both\nloss_value = loss.detach().item()                               # what is kept over steps: numbers, or .cpu(), no tensors of the device\nxmp.spawn(fn)                                                   # one device for each process, and xm.mark_step() (torch_xla.sync()) once each step",
            "RuntimeError: torch_xla/csrc/tensor.cpp:1534 : Check failed: program_shape.parameters_size() == po_data->parameters_data.size() (1276 vs. 1274)",
        ),
    ),
    "E593": (
        Wording(
            r"marked dead because the detector has missed too many heartbeats|actor is dead because its node has died",
            "A machine of the Ray cluster is gone, or its Ray process did not answer for long: preempted or stopped, out of memory, or so busy (a long compilation that holds Python, a full disk) that its heartbeats came too late. What ran there is lost.",
            "ray status; gcloud compute tpus tpu-vm list --zone=ZONE      # is the machine there, and READY? PREEMPTED: delete it, the autoscaler makes another\ndmesg -T | grep -iE 'oom|killed process'; tail -50 /tmp/ray/session_latest/logs/raylet.err      # on that machine\n@ray.remote(max_restarts=3, max_task_retries=3)                      # and checkpoints in gs://, to go on from",
            "The node with node id: 8f20 and ip: 10.128.0.103 has been marked dead because the detector has missed too many heartbeats from it. This can happen when a raylet crashes unexpectedly or has lagging heartbeats.",
        ),
    ),
    "E114": (
        Wording(
            r"An error occurred during the runtime of your JAX program",
            "A check that Equinox placed in the program (eqx.error_if: an index out of range, no free page, an input that is refused) failed on the device. Under plain jax.jit its message is lost here; it stands further above in the log, or comes with equinox.filter_jit.",
            'step = equinox.filter_jit(step)                    # in place of jax.jit: then the check\'s own message is shown\nEQX_ON_ERROR=breakpoint python train.py            # stops where the check fails; EQX_ON_ERROR=nan goes on\ngrep -nE "EqxRuntimeError|error_if|Error: " train.log | head',
            "An error occurred during the runtime of your JAX program! Unfortunately you do not appear to be using `equinox.filter_jit` (perhaps you are using `jax.jit` instead?)",
        ),
        Wording(
            r"stream did not block host until done; was already in an error state",
            "The stream of the device was in error already when this line was written: the operation that failed stands further above in the log (memory, a compilation, a collective, the runtime of the device), and this only waits for its end. Where nothing stands above it, an earlier run left the device so: restart its runtime.",
            'grep -nE "RESOURCE_EXHAUSTED|Failed|Check failed|Compilation|nrt_|INTERNAL" train.log | head      # the first of them\n# AWS Neuron writes it too: there the lines of nrt_ and neuronx-cc above it',
            "OP_REQUIRES failed at tpu_execute_op.cc:266 : INTERNAL: stream did not block host until done; was already in an error state",
        ),
        Wording(
            r"Reraising captured error",
            "TPUEstimator says here that it raises again what one of its threads met: the error itself stands above as `Error recorded from training_loop` (or infeed), and at the end of the traceback that follows; this text holds neither.",
            'grep -nE "Error recorded from|Compilation failure|Ran out of memory|Error: " train.log | head      # the first is the cause\ntail -5 train.log                                                                                       # and the last line of the traceback names it',
            "WARNING:tensorflow:Reraising captured error",
        ),
    ),
    "E99": (
        Wording(
            r"Constant folding an instruction is taking|constant-folding is inherently a trade-off|displaying the full instruction incurs",
            "No failure: XLA computes a part of the program that only depends on constants while it compiles, and a large one (an array that the function closes over, zeros, iota or a mask of full size, a pooling over ones) takes seconds. It costs compile time once, and nothing later.",
            "step = jax.jit(lambda table, x: f(table, x))      # large arrays as arguments, not closed over (TensorFlow: a tf.Variable or an input, not tf.constant)\nXLA_FLAGS=--xla_disable_hlo_passes=constant_folding python train.py      # where it takes minutes\njax.config.update('jax_compilation_cache_dir', '/tmp/jax_cache')                # compiled once for all runs",
            "E external/xla/xla/service/slow_operation_alarm.cc:65] Constant folding an instruction is taking > 1s: reduce-window.16",
        ),
    ),
    "E234": (
        Wording(
            r"start-iap-tunnel\).{0,80}?(?:4003|failed to connect to backend)",
            "The tunnel (IAP) was opened, and nothing answers at port 22 behind it: the firewall does not let the tunnel's addresses (35.235.240.0/20) in, the machine still starts or is gone, or its sshd hangs for want of memory.",
            "gcloud compute firewall-rules create allow-iap-ssh --network=NETWORK --allow=tcp:22 --source-ranges=35.235.240.0/20\ngcloud compute instances describe NAME --zone=ZONE --format='value(status)'                     # RUNNING? wait a minute after its start\ngcloud compute tpus tpu-vm describe NAME --zone=ZONE --format='value(state,health)'              # a TPU VM: READY?",
            "ERROR: (gcloud.compute.start-iap-tunnel) Error while connecting [4003: 'failed to connect to backend'].",
        ),
        Wording(
            r"kex_exchange_identification",
            "The machine (or what stands before it) hung up before ssh began: its sshd still starts, is overloaded (memory full, too many logins at once with --worker=all), refuses this address, or the tunnel ends nowhere.",
            "gcloud compute tpus tpu-vm describe NAME --zone=ZONE --format='value(state,health)'      # READY? a minute after its start try again\ngcloud compute tpus tpu-vm ssh NAME --zone=ZONE --worker=all --batch-size=8 --command=\"hostname\"      # fewer at once\ngcloud compute tpus tpu-vm stop NAME --zone=ZONE && gcloud compute tpus tpu-vm start NAME --zone=ZONE      # one that no longer answers (not a slice of several hosts: recreate it)",
            "kex_exchange_identification: Connection closed by remote host",
        ),
    ),
    "E240": (
        Wording(
            r"libcuda\.so\.1: cannot open shared object",
            "libcuda.so.1 belongs to NVIDIA's driver: the TensorFlow that is installed is a build for GPUs, and this machine (a TPU's host, a CPU machine) has no such driver.",
            "pip list | grep -iE tensorflow; pip uninstall -y tensorflow-gpu tensorflow\npip install tensorflow-tpu      # on a TPU VM; a TPU Node's client, a CPU machine: pip install tensorflow==VERSION (tensorflow-gpu's number)\nnvidia-smi                        # a GPU machine: the driver is missing, not a package of pip",
            "ImportError: libcuda.so.1: cannot open shared object file: No such file or directory",
        ),
        Wording(
            r"_pywrap_tensorflow_internal\.so: cannot open shared object",
            "TensorFlow's own compiled part is not where the package looks: the installation is not whole (interrupted, disk full, copied from elsewhere), or Python imports another `tensorflow` (its source folder, a build of your own whose links are gone).",
            "cd /; python -c \"import importlib.util as u; print(u.find_spec('tensorflow').origin)\"      # whose is it? not from its source folder\npip uninstall -y tensorflow tensorflow-cpu tensorflow-tpu; pip install --no-cache-dir tensorflow-tpu",
            "ImportError: _pywrap_tensorflow_internal.so: cannot open shared object file: No such file or directory",
        ),
        Wording(
            r"libflatbuffers\.so",
            "conda's TensorFlow was built against another release of flatbuffers than the one in this environment: conda updated one of both.",
            "conda install -c conda-forge --force-reinstall tensorflow flatbuffers      # or a fresh environment from one channel\npip install tensorflow                                                       # pip's build brings its own",
            "ImportError: libflatbuffers.so.2: cannot open shared object file: No such file or directory",
        ),
    ),
    "E121": (
        Wording(
            r"No matching devices found for '/job:(?P<job>\w{1,30})/[\w:/]{0,60}?TPU_SYSTEM",
            "The program looks for the TPU in a job called `<<job>>`, and the cluster that answered has no TPU there: the job is called otherwise (`worker` or `tpu_worker` by TPUClusterResolver, `localhost` on a TPU VM; a name that the script sets itself), the program spoke with its own process and not with the TPU, or the TPU did not come up.",
            "resolver = TPUClusterResolver(tpu=NAME); print(resolver.cluster_spec().as_dict(), resolver.master())      # the jobs that there are, and the address\nrun_config = RunConfig(cluster=resolver, tpu_config=TPUConfig(...))      # delete tpu_job_name, and a job name of one's own for training or evaluation\n# a run on a CPU or GPU: --use_tpu=False",
            "InvalidArgumentError: No matching devices found for '/job:train_tpu_worker/replica:0/task:0/device:TPU_SYSTEM:0'",
        ),
        Wording(
            r"assigned to /job:(?P<job>\w{1,30})/(?:replica:\d{1,4}/)?task:\d{1,4}/device:GPU.{0,40}? but available devices are \[ ?/job:(?P<here>(?!(?P=job)/)\w{1,30})",
            "The operation belongs to a GPU of job `<<job>>`, and this session only has devices of job `<<here>>`: it was opened in this process alone, not at the server of that job. The GPU is not what is missing: the name of the job, or the session's address, is another.",
            "session = tf.compat.v1.Session(server.target, config=config)      # the server of that job; its --tf_master or --job as the script's own launcher gives it\ntf.config.set_soft_device_placement(True)                            # or all in this process: job localhost, and no device strings with /job:",
            "Cannot assign a device for operation fprop/mlp: node fprop/mlp was explicitly assigned to /job:local/replica:0/task:0/device:GPU:0 but available devices are [ /job:localhost/replica:0/task:0/device:CPU:0, /job:localhost/replica:0/task:0/device:GPU:0 ].",
        ),
        Wording(
            r"assigned to (?:/job:\w{1,30}/replica:\d{1,4}/task:\d{1,4})?/device:GPU:\d{1,3}.{0,20}? but available devices are|incompatible device '(?:/job:\w{1,30}/replica:\d{1,4}/task:\d{1,4})?/(?:device:)?GPU:\d",
            "The script puts operations on a GPU (with tf.device('/gpu:0'), a GPU strategy, a graph that was saved on one), and this session has none, or the operation has no kernel for it. On a TPU nothing is placed by hand: the strategy does it.",
            "tf.config.set_soft_device_placement(True)                                    # TensorFlow 2: what a device cannot do runs on the CPU\nsession = tf.compat.v1.Session(config=tf.compat.v1.ConfigProto(allow_soft_placement=True))      # TensorFlow 1\n# delete `with tf.device('/gpu:0')`; importing a graph: tf.import_graph_def(graph, ...) with clear_devices=True\nprint(tf.config.list_physical_devices())                                     # a GPU machine without GPU here: driver and CUDA of this release are missing (XLA_GPU alone: cuDNN or CUDA not found)",
            "Cannot assign a device for operation MatMul: {{node MatMul}} was explicitly assigned to /device:GPU:0 but available devices are [ /job:localhost/replica:0/task:0/device:CPU:0 ]. Make sure the device specification refers to a valid device.",
        ),
        Wording(
            r"assigned to /job:(?P<job>\w{1,30})/(?:replica:\d{1,4}/)?task:(?P<task>\d{1,4})/device:CPU.{0,40}? but available devices are \[ ?/job:(?P<here>\w{1,30})",
            "The operation belongs to task <<task>> of job `<<job>>`, and this session only has devices of job `<<here>>`: it was opened in this process alone, not at the address of the cluster or TPU (an empty master), or that task is not in its cluster.",
            "session = tf.compat.v1.Session(resolver.master(), config=config)            # TensorFlow 1, TPUEstimator: RunConfig(cluster=resolver) or master=resolver.master()\ntf.config.experimental_connect_to_cluster(resolver)                        # TensorFlow 2, before any tensor; then tf.config.list_logical_devices()\nserver = tf.distribute.Server(cluster, job_name=JOB, task_index=INDEX)     # a cluster of one's own: every task started, and the session at server.target",
            "Cannot assign a device for operation input_pipeline_task0/TensorSliceDataset: {{node input_pipeline_task0/TensorSliceDataset}} was explicitly assigned to /job:worker/task:0/device:CPU:0 but available devices are [ /job:localhost/replica:0/task:0/device:CPU:0 ].",
        ),
    ),
}
