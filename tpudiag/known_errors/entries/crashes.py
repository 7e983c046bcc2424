# ruff: noqa: E501  (texts of other programs stay as they are)
"""Crashes in native code."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="P79",
        family="cpu-instructions",
        phase=Phase.INSTALLING,
        patterns=(
            r"Illegal (?:hardware )?instruction {0,8}\(core dumped\)",
            r"Fatal Python error: Illegal instruction",
            r"Illegal hardware instruction",
            r"signal SIGILL",
            r"was built using \w{2,8} instructions, which your CPU",
        ),
        cause="The processor does not know an instruction of the program: a wheel of TensorFlow, jaxlib or NumPy needs AVX and the CPU (an old one, a Celeron, an emulated or a virtual one that hides it) has none, or a package was compiled with -march=native on another machine.",
        fix="""\
grep -m1 -ow avx /proc/cpuinfo || echo "no AVX here"                     # a TPU VM has it: there it is a package built elsewhere
python -X faulthandler -c "import tensorflow"                             # which library
pip install --force-reinstall --no-cache-dir "tensorflow==RELEASE"          # the wheel instead of a build of your own
docker run --platform linux/amd64 IMAGE; qemu-system-x86_64 -cpu host         # no emulated CPU without AVX; or run it on the TPU VM""",
        citations=(
            "tensorflow/tensorflow#17411",
            "tensorflow/tensorflow#45744",
            "tensorflow/tensorflow#62342",
        ),
        example="Illegal instruction (core dumped)",
    ),
    KnownError(
        id="E183",
        family="crash-in-native-code",
        phase=Phase.ANY,
        kind=Kind.CONSEQUENCE,
        patterns=(
            r"Fatal Python error: (?:Segmentation fault|Aborted|Illegal instruction|Bus error)",
            r"(?:Segmentation fault|Aborted|Illegal instruction|Bus error) {1,8}\(core dumped\)",
            r"\*\*\* (?:SIG(?:SEGV|ABRT|ILL|BUS)) received",
            r"Check failure stack trace",
            r"terminate called after throwing an instance of",
            r"free\(\): invalid (?:pointer|size|next size)",
            r"double free or corruption",
            r"corrupted (?:double-linked list|size vs\. prev_size)",
            r"malloc\(\): (?:invalid|corrupted|unaligned|memory corruption)",
            r"munmap_chunk\(\): invalid pointer",
        ),
        cause="The process crashed in native code; this line is only the end. The reason stands in the lines before it (`F ...`, `Check failed`, a frame), or the crash says none.",
        fix="""\
grep -nE " F |Check failed|Fatal|already in use|libtpu" LOG | head        # the first is the reason
python -X faulthandler train.py                                           # names the Python line that crashed
pip list 2>/dev/null | grep -iE "tensorflow|libtpu|jax|torch|numpy|protobuf"       # one TensorFlow, one libtpu, and versions that fit""",
        rivals=(
            Rival(
                cause="the compiler crashed on this program: a fault of that release of libtpu (or of the framework's compiler)",
                look_for="`xla::`, `Hlo`, `jellyfish`, `Compiler` in the frames",
                decide="tpudiag check train.py --for v5e-8   # does it crash here as well? then another libtpu, and report it",
                cues=(r"xla::(?:jellyfish|HloPass|HloComputation|cpu|gpu)::", r"DeepseaCompiler"),
                families=("compiler-bug",),
            ),
            Rival(
                cause="two packages that bring TensorFlow or libtpu, or versions that do not fit",
                look_for="it crashes at import or at the first call of the TPU",
                decide='pip list | grep -iE "tensorflow|libtpu|jax|torch"',
            ),
            Rival(
                cause="a custom operation or another compiled package built for other versions",
                look_for="the last frame is in its .so",
                decide="python -X faulthandler train.py",
            ),
            Rival(
                cause="the TPU is held by another process, or the runtime gave up",
                look_for="`already in use`, `Check failed` a few lines above",
                decide="sudo lsof -w /dev/accel* /dev/vfio/*",
            ),
        ),
        evidence="recalled",
        example="Segmentation fault (core dumped)",
        yields_to=("P79",),
    ),
    KnownError(
        id="E114",
        family="consequence",
        phase=Phase.ANY,
        kind=Kind.CONSEQUENCE,
        patterns=(
            r"(?:recorded from \w{1,20}|RuntimeError): ?Session is closed",
            r"Error recorded from (?:infeed|outfeed)",
            r"Error occurred during infeed/outfeed",
            r"Reraising captured error",
            r"Step was cancelled by an explicit call to",
            r"CancelledError: (?:Loop execution|Function|RPC|Step|Operation|Request) was cancelled",
            r"Loop execution was cancelled",
            r"(?:RecvAsync|SendAsync|Iterator|RunGraph|Rendezvous|PartialRunGraph|GetNext)\w{0,8} (?:is|was|has been) cancelled",
            r"\(\d{1,2}\) Cancelled: ",
            r"errors_impl\.CancelledError",
            r"poisons their output tensors",
            r"Engine core initialization failed\. See root cause above",
            r"See root cause above",
            r"Error reported to Coordinator",
            r"has no attribute '_from_compatible_tensor_list'",
            r"RuntimeError: Error while creating shape",
            r"Exception thrown from user defined Python function in dataset",
            r"Aborting process to work around deadlock",
            r"stream did not block host until done",
            r"An error occurred during the runtime of your JAX program",
            r"RPC cancelled, not running TPU program",
            r"CancelledError: RPC Request was cancelled",
        ),
        cause="This line only follows from another error: the program ended elsewhere, and what was under way was cancelled. The first error of the log, before this line, is the cause.",
        fix="""\
grep -nE "Error|Check failed|FATAL|Compilation failure|Out of range" LOG | head -20      # the earliest that is not "Cancelled"
tpudiag explain --log LOG""",
        citations=(
            "kaiyinzhou/BERT-NER#71",
            "tensorflow/tpu#96",
        ),
        example="ERROR:tensorflow:Error recorded from outfeed: Session is closed.",
    ),
)
