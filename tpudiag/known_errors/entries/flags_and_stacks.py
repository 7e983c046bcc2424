# ruff: noqa: E501  (texts of other programs stay as they are)
"""Flags that are read too early or defined twice, and packages on JAX that are of another age than it."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase, Rival

_ON_JAX = r"packages/(?P<package>flax|chex|optax|orbax|haiku|jaxopt|distrax|rlax|brax|equinox|numpyro|diffrax|clu|t5x|seqio|maxtext|jmp|optimum)/"

ERRORS = (
    KnownError(
        id="E911",
        family="flags-not-parsed",
        phase=Phase.INITIALISING,
        patterns=(
            r"Trying to access flag -{1,2}(?P<flag>[\w-]{1,60}) before flags were parsed",
            r"UnparsedFlagAccessError",
        ),
        cause="The flags of absl (tf.flags) are read although nobody has parsed the command line in this process: only app.run(main) does so. The code is called from a notebook or from a script of your own, runs at import, or in a process that was spawned.",
        details=("The flag is {flag}.",),
        fix="""\
from absl import app; app.run(main)                              # a script: main() only through it (tf.compat.v1.app.run of older code)
from absl import flags; flags.FLAGS(["notebook"])                # a notebook or another caller: every flag at its default, before the first one is read
flags.FLAGS.mark_as_parsed(); flags.FLAGS.data_dir = "gs://..."  # the same, then set by hand; again in each spawned process""",
        rivals=(
            Rival(
                cause="a library reads a flag of its own (bert-tensorflow 1.0.2 and later: preserve_unused_tokens; cloud_tpu_client: runtime_oom_exit and hbm_oom_exit, which a TPU pod's preemption watcher reads), and the program never parsed any",
                look_for="a flag that your program does not define; the last frames in site-packages (bert/tokenization.py, cloud_tpu_client/client.py)",
                decide=r"grep -rn 'flags\.\|app.run' train.py | head",
                fix="import sys; from absl import flags; flags.FLAGS(sys.argv[:1])      # once, at the start of the program\npip install bert-tensorflow==1.0.1                                   # preserve_unused_tokens: the last release without it",
                cues=(
                    r"access flag --preserve_unused_tokens",
                    r"access flag --(?:runtime_oom_exit|hbm_oom_exit)",
                    r"packages/[\w./-]{1,120}\.py.{0,300}?FLAGS\.\w{1,40}.{0,700}?before flags were parsed",
                ),
            ),
            Rival(
                cause="the program reads its flag outside main, while it is imported, or main is called directly",
                look_for="FLAGS.name at the top level of one of your files; `main()` in place of `app.run(main)`",
                decide=r"grep -n 'FLAGS\.' *.py | head; grep -n 'app.run\|main(' *.py",
                fix="def main(argv): ...      # everything that reads FLAGS\nif __name__ == '__main__': app.run(main)",
            ),
        ),
        citations=(
            "google-research/text-to-text-transfer-transformer#680",
            "wshuyi/demo-chinese-text-binary-classification-with-bert#20",
        ),
        example="absl.flags._exceptions.UnparsedFlagAccessError: Trying to access flag --data_dir before flags were parsed.",
    ),
    KnownError(
        id="E912",
        family="flag-defined-twice",
        phase=Phase.INITIALISING,
        patterns=(
            r"The flag '(?P<flag>[\w-]{1,60})' is defined twice",
            r"absl\.flags\._exceptions\.DuplicateFlagError",
        ),
        cause="The same flag of absl is defined a second time in one process: a file with flags was imported under two names (as `official.x` and as `x`, as script and as module), two files define a flag of the same name, or a cell of a notebook ran again.",
        details=("The flag is {flag}.",),
        fix="""\
# a notebook: restart the kernel; or, before the cell that defines them:
from absl import flags
for name in list(flags.FLAGS): delattr(flags.FLAGS, name)
# a program: import the file under one name only (PYTHONPATH with the repository's root alone); the message names both files""",
        citations=("googlecolab/colabtools#143",),
        example="absl.flags._exceptions.DuplicateFlagError: The flag 'logtostderr' is defined twice. First from object_detection/train.py, Second from train.py.",
    ),
    KnownError(
        id="E913",
        family="jax-stack",
        phase=Phase.INSTALLING,
        patterns=(
            rf"{_ON_JAX}.{{0,700}}?module 'jax[\w.]{{0,60}}' has no attribute '(?P<name>\w{{1,60}})'",
            rf"{_ON_JAX}.{{0,700}}?cannot import name '(?P<name>\w{{1,60}})' from '(?:partially initialized module ')?jax",
            rf"{_ON_JAX}.{{0,700}}?No module named 'jax\.(?P<name>[\w.]{{1,60}})'",
            rf"{_ON_JAX}.{{0,700}}?'Config' object has no attribute '(?P<name>\w{{1,60}})'",
            r"'Config' object has no attribute '(?P<name>define_bool_state|jax_\w{1,50})'",
        ),
        cause="A package that builds on JAX is of another age than the JAX that is installed: it asks JAX for a name that is not there yet, or no more. pip leaves an old one where it is when another one is upgraded alone, and Colab's old TPU runtime held JAX at 0.3.25.",
        details=("The package is {package}.", "It asks for {name}."),
        fix="""\
pip list | grep -iE "^(jax|jaxlib|libtpu|flax|optax|chex|orbax|dm-haiku|clu)"
pip install -U "jax[tpu]" flax optax chex orbax-checkpoint      # all of one day; then restart the kernel
pip install "jax==0.3.25" "jaxlib==0.3.25" "flax<0.6.5" "chex<0.1.6" "optax<0.1.5"      # an old TPU Node runtime that cannot take a newer JAX""",
        useless="To change the one name in the package's file: the next one fails.",
        citations=(
            "google/flax#3239",
            "kingoflolz/mesh-transformer-jax#221",
            "google-research/scenic#816",
        ),
        example="""\
File "/usr/local/lib/python3.10/dist-packages/flax/core/frozen_dict.py", line 50, in <module>
    @jax.tree_util.register_pytree_with_keys_class
AttributeError: module 'jax.tree_util' has no attribute 'register_pytree_with_keys_class'""",
        near_miss="AttributeError: module 'jax.tree_util' has no attribute 'register_pytree_with_keys_class'",
        yields_to=("E172", "E615"),
    ),
    KnownError(
        id="E914",
        family="beam-pipeline",
        phase=Phase.READING,
        kind=Kind.BROAD,
        patterns=(
            r"using Apache Beam, yet no Beam Runner or PipelineOptions",
            r"yet no Beam Runner",
            r"got an unexpected keyword argument '(?P<name>\w{1,60})' \[while running '(?P<step>[^']{1,80})'",
            r"has no attribute '(?P<name>\w{1,60})' \[while running '(?P<step>[^']{1,80})'",
            r"\[while running '(?P<step>[^']{1,80})'\]",
        ),
        cause="The data set is prepared by Apache Beam, and its pipeline fails or has nothing to run on: c4, wikipedia, wiki40b and the like are too large for one process.",
        details=("The step of the pipeline is {step}.",),
        fix="""\
tfds.load("NAME", data_dir="gs://tfds-data/datasets", download=False)      # prepared already? then nothing needs Beam (try_gcs=True)
tfds build NAME --data_dir=gs://BUCKET/tfds --beam_pipeline_options="runner=DataflowRunner,project=PROJECT,job_name=prepare,region=REGION,staging_location=gs://BUCKET/bin,temp_location=gs://BUCKET/tmp,requirements_file=/tmp/beam_requirements.txt"
config = tfds.download.DownloadConfig(beam_options=beam.options.pipeline_options.PipelineOptions())      # a small one, here: builder.download_and_prepare(download_config=config)""",
        rivals=(
            Rival(
                cause="no runner was given",
                look_for="`no Beam Runner or PipelineOptions() has been provided`",
                decide="python -c 'import apache_beam; print(apache_beam.__version__)'",
                cues=(r"no Beam Runner or PipelineOptions",),
            ),
            Rival(
                cause="Dataflow's workers have another release of the packages than the machine that starts the job (tensorflow-datasets, apache-beam, numpy)",
                look_for="a name or argument that is missing `[while running ...]`, though the same code works where it is started",
                decide="pip freeze | grep -iE 'tensorflow-datasets|tfds|apache-beam'; cat /tmp/beam_requirements.txt",
                fix='echo "tensorflow-datasets[NAME]==$(pip show tensorflow-datasets | sed -n "s/^Version: //p")" > /tmp/beam_requirements.txt      # the very release that starts the job',
                cues=(
                    r"(?:unexpected keyword argument|has no attribute|No module named|cannot import name) ?'[\w.]{1,60}'.{0,40}?\[while running",
                ),
            ),
            Rival(
                cause="one element of the data, or the worker (memory, disk, quota), failed",
                look_for="another error before `[while running`; Dataflow's log of that step",
                decide="gcloud dataflow jobs list --region=REGION --status=active",
            ),
        ),
        citations=(
            "tensorflow/datasets#1136",
            "google-research/text-to-text-transfer-transformer#468",
        ),
        example="ValueError: Trying to generate a dataset using Apache Beam, yet no Beam Runner or PipelineOptions() has been provided.",
    ),
)
