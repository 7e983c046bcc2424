# ruff: noqa: E501  (texts of other programs stay as they are)
"""What the compiler says when it gives up."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E97",
        family="compile-abort",
        phase=Phase.COMPILING,
        kind=Kind.CONSEQUENCE,
        patterns=(
            r"xla_tpu_programs\.size\(\) > 0",
            r"tpu_compile_succeeded_assert",
            r"TPU compilation failed",
            r"Compilation of \d{1,24} with session name .{0,60}?and failed",
            r"tpu_compile_op_common\.cc:\d{1,5}\] .{0,80}?(?:failed|cancelled)",
        ),
        cause="The step did not compile for the TPU; this line is only the consequence. The reason stands in an earlier line, or in the worker's own log.",
        fix="""\
grep -nE "Compilation failure|unsupported|Ran out of memory|dynamic dimension|RESOURCE_EXHAUSTED" LOG | head     # the first is the reason
tpudiag explain --log LOG
tpudiag check train.py --for v5e-8        # compiles the step for the TPU with no TPU, and names the line
# then: unsupported op (augmentation, strings) -> dataset.map; memory -> smaller batch, bfloat16; shapes -> drop_remainder=True""",
        rivals=(
            Rival(
                cause="an operation that the TPU does not have (image augmentation such as RandomRotation, strings, Python) is in the step",
                look_for="`Detected unsupported operations`",
                decide="tpudiag check train.py --for v5e-8",
                fix="dataset = dataset.map(augment, num_parallel_calls=tf.data.AUTOTUNE)",
                cues=(r"Random(?:Rotation|Zoom|Translation|Contrast)",),
                families=(
                    "unsupported-op",
                    "augmentation-in-step",
                    "python-in-step",
                    "placeholder-in-step",
                    "summary-in-step",
                ),
            ),
            Rival(
                cause="the program does not fit the TPU's memory",
                look_for="a large batch or model; `Ran out of memory`",
                decide="half the batch: does it compile?",
                families=("hbm-at-compile-time", "on-chip-scratch"),
            ),
            Rival(
                cause="a dimension is not known (the last batch, sequences), or shapes do not fit",
                look_for="it fails at the end of an epoch, or in evaluation",
                decide="grep -n drop_remainder train.py",
                cues=(
                    r"which is not implemented",
                    r"compile time",
                ),
                families=(
                    "dynamic-dimension",
                    "constant-shape",
                    "shape-conflict",
                    "tensor-list-size",
                ),
            ),
        ),
        citations=(
            "tensorflow/tpu#943",
            "TensorSpeech/TensorFlowASR#214",
            "Lightning-AI/pytorch-lightning#17435",
            "tensorflow/tensorflow#50980",
        ),
        example="2021-07-31 23:14:08.520294: F tensorflow/core/tpu/kernels/tpu_program_group.cc:86] Check failed: xla_tpu_programs.size() > 0 (0 vs. 0)",
    ),
    KnownError(
        id="E98",
        family="compiler-bug",
        phase=Phase.COMPILING,
        kind=Kind.BROAD,
        patterns=(
            r"RET_CHECK failure \((?P<place>[\w/.-]{1,160}:\d{1,6})\)",
            r"Internal(?:Error)?: .{0,40}?hlo_\w{1,40}\.cc",
            r"Check failed: .{0,160}?hlo\W",
            r"\] Check failed: fusion\w{0,20}",
            r"(?:fusion|hlo|emitter|layout|buffer_assignment|lowering|jellyfish|deepsea)\w{0,40}\.cc:\d{1,6}\] Check failed",
            r"\] RET_CHECK failure",
            r"during context \[(?:pre|post)-optimization\]",
            r"minor_to_major field contains \d{1,2} elements, but shape is rank",
            r"hlo_verifier\.cc",
            r"instruction shouldn't change layout",
            r"already has a layout constraint .{1,120}?cannot add incompatible constraint",
            r"layout_\w{3,30}\.cc:\d{1,5}",
        ),
        cause="The TPU compiler failed a check of its own: a bug of this compiler version with this program, not a fault of the script.",
        details=("The check is in {place}.",),
        fix="""\
pip install "tensorflow-tpu==ANOTHER_VERSION"          # another TensorFlow and libtpu: often mended, or not yet broken
# change the shapes or the layer that the message names (sizes that are multiples of 8 and 128), halve the batch
XLA_FLAGS=--xla_dump_to=/tmp/hlo python train.py       # report it with the HLO dump""",
        citations=("tensorflow/tpu#456",),
        example="Compilation failure: RET_CHECK failure (third_party/tensorflow/compiler/xla/service/hlo_instruction.cc:1982) ShapeUtil::CompatibleIgnoringFpPrecision(shape(), new_producer->shape())",
    ),
    KnownError(
        id="E99",
        family="slow-compile",
        phase=Phase.COMPILING,
        level="warning",
        patterns=(
            r"Very slow compile",
            r"slow_operation_alarm",
            r"constant-folding is inherently a trade-off",
            r"[Cc]ompilation is taking (?:a )?(?:long|very long|more)",
            r"The operation took (?P<time>\d{1,3}m[\d.]{1,12}s|\d{1,3}h)",
        ),
        cause="XLA compiles for minutes: the program is large, mostly a Python loop that was unrolled into the graph. It is no failure; once compiled the steps run at their speed, unless the function is compiled again for each new shape.",
        details=("It took {time}.",),
        fix="""\
for i in tf.range(layers):              # tf.while_loop, tf.scan: one body, compiled once, not a Python `for`
    ...
dataset = dataset.batch(global_batch, drop_remainder=True)     # fewer shapes, fewer compilations
jax.config.update('jax_compilation_cache_dir', '/tmp/jax_cache')  # JAX: compiled once for all runs
# a run that compiles at each step: tpudiag check train.py names the function that is traced again""",
        citations=("google-deepmind/tapnet#53",),
        example="E external/xla/xla/service/slow_operation_alarm.cc:65] Very slow compile? If you want to file a bug, run with envvar XLA_FLAGS=--xla_dump_to=/tmp/foo",
    ),
    KnownError(
        id="E101",
        family="too-many-parameters",
        phase=Phase.COMPILING,
        patterns=(
            r"Computation requires more parameters \((?P<has>\d{1,6})\) than supported \(limit (?P<limit>\d{1,6})\)",
        ),
        cause="The compiled program takes more separate inputs than this runtime can pass: many small variables or tensors each as an argument of its own.",
        details=("It has {has} parameters, the limit is {limit}.",),
        fix="""\
# fewer arguments: a newer runtime (TPU VM, PJRT) packs them; stack small tensors into one;
# run several steps in one program (steps_per_execution) only after that
<<tpu_install>>""",
        citations=("pytorch/xla#1963",),
        example="Computation requires more parameters (546) than supported (limit 236)",
    ),
    KnownError(
        id="E169",
        family="compilation-refused",
        phase=Phase.COMPILING,
        kind=Kind.BROAD,
        patterns=(
            r"Compilation failure: (?P<why>[\w ,.:;'()<>=/-]{4,160})",
            r"tpu_compilation_cache_external\.cc:\d{1,5}\] (?!TPU host|Received|Before|After)(?P<why>[\w ,.:;'<>=/-]{4,120}?)(?:\d{2,7} ?tpu_|[IWEF]\d{4} |\d{4}-\d\d-|[%@{(])",
            r"tpu_compilation_cache_external\.cc:\d{1,5}\] (?!TPU host|Received|Before|After)",
            r"\{\{function_node \w{3,60}\}\} (?P<why>[\w ,.:;'()<>=/-]{4,160}).{0,900}?TPUReplicate/_compile",
            r"TPUReplicate/_compile/_\d",
            r"Compilation failure: ",
            r"during context \[(?:pre-optimization|post-optimization|hlo)",
            r"XLA compilation (?:failed|error)",
        ),
        cause="The TPU's compiler refused the step, and says why.",
        details=("It says: {why}.",),
        fix="""\
tpudiag check train.py --for v5e-8        # compiles the step for the TPU with no TPU, and names the user's line
tf.function(step, jit_compile=True)       # on any machine: XLA for the CPU refuses most of it too
# shapes: drop_remainder=True and no None in element_spec; types: tf.cast; an op the TPU lacks: dataset.map""",
        rivals=(
            Rival(
                cause="shapes that do not fit or are not known",
                look_for="sizes, `<=`, `dimension` after these words",
                decide="print(dataset.element_spec)",
                fix="dataset = dataset.batch(global_batch, drop_remainder=True)     # and no None in element_spec",
                cues=(
                    r"dimension",
                    r"32\[<=\d",
                    r"dynamic (?:shape|size|slice|reshape|index|indices|dim|batch)",
                    r"shapes? (?:do(?:es)? not|must|mismatch)",
                ),
                families=(
                    "dynamic-dimension",
                    "shape-conflict",
                    "constant-shape",
                    "tensor-list-size",
                    "unknown-shape",
                ),
            ),
            Rival(
                cause="types that do not fit",
                look_for="f32, bf16, s64, u8 after these words",
                decide="the same step with the policy float32",
                cues=(r"data types?\b", r"element types?\b"),
                families=("type-not-on-tpu", "types-do-not-match", "sixty-four-bit"),
            ),
            Rival(
                cause="an operation that the TPU does not have",
                look_for="`unsupported`, an operation's name",
                decide="tpudiag check train.py --for v5e-8",
                cues=(r"unsupported",),
                families=(
                    "unsupported-op",
                    "placeholder-in-step",
                    "python-in-step",
                    "augmentation-in-step",
                    "summary-in-step",
                    "host-op-in-condition",
                ),
            ),
            Rival(
                cause="it does not fit the memory: HBM, or the on-chip memory of a kernel",
                look_for="`Ran out of memory`, `Aborting compilation early`",
                decide="tpudiag check train.py --for v5e-8     # what the program needs",
                cues=(r"Ran out of memory",),
                families=("hbm-at-compile-time", "on-chip-scratch"),
            ),
            Rival(
                cause="a bug of the compiler",
                look_for="`RET_CHECK`, `file a bug`",
                decide="the same step with another release of libtpu",
                cues=(r"RET_CHECK", r"file a bug"),
                families=("compiler-bug",),
            ),
        ),
        evidence="recalled",
        example="InvalidArgumentError: Compilation failure: something that is new here",
        yields_to=(
            "E98",
            "E84",
            "E89",
            "E109",
            "E199",
            "E198",
        ),
    ),
)
