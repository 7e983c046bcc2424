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
            r"Semaphore \(?.{0,60}?nonzero value upon exit|every DMA is awaited",
            "A hand-written kernel (Pallas, Mosaic; it stands after `HLO:`) ended with a semaphore that is not zero: a copy that was started and not awaited, or a signal without its wait. The kernel is wrong, or got inputs that it does not stand (lengths or offsets that do not grow, a size outside its grid), not the hardware.",
            "copy = pltpu.make_async_copy(source, target, semaphore); copy.start(); copy.wait()      # each start its wait, in each branch and on the last turn of the grid\npallas_call(..., interpret=pltpu.InterpretParams())                                          # the kernel on a CPU: finds what is left over\n# a library's kernel: its inputs (lengths, page tables, cumulative starts) in order, or another release of it; its option for the plain operation",
            "INTERNAL: Core halted unexpectedly: INTERNAL: Accelerator device halted prematurely, perhaps due to an on-device check-failure. Node 0 halted unexpectedly at tag:pc TensorCoreSequencer:20:0xa (from TensorCoreSequencer:20:0x13a): Semaphore (scratch argument 3) has a nonzero value upon exit from a Mosaic kernel. Make sure every DMA is awaited, and every semaphore signal is paired with a wait.",
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
    ),
    "E539": (
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
}
