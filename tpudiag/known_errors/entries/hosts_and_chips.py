# ruff: noqa: E501  (texts of other programs stay as they are)
"""Hosts of a slice that do not all take part, and chips that libtpu does not find as it expects them."""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Phase

ERRORS = (
    KnownError(
        id="E681",
        family="hosts-missing",
        phase=Phase.INITIALISING,
        patterns=(
            r"Invalid system configuration: (?P<wanted>\d{1,3}x\d{1,3}(?:x\d{1,3})?) host topology with \d{1,4} missing hosts, but (?P<got>\d{1,5}) hosts in total",
            r"Invalid system configuration:",
        ),
        cause="The TPU is a slice of several hosts, and the program was started on (or given the address of) fewer of them.",
        details=("The slice's hosts are {wanted}; {got} took part.",),
        fix="""\
gcloud compute tpus tpu-vm describe NAME --zone=ZONE --format="value(acceleratorType,networkEndpoints[].ipAddress)"      # how many hosts it has
gcloud compute tpus tpu-vm ssh NAME --zone=ZONE --worker=all --command="PJRT_DEVICE=TPU python3 train.py"                # on each of them
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="NAME", zone="ZONE")      # TensorFlow: the slice's name, not the address of one host
gcloud compute tpus tpu-vm create NAME --zone=ZONE --accelerator-type=v3-8 --version=VERSION                             # or a TPU of one host""",
        citations=("pytorch/xla#3042", "huggingface/transformers#9533"),
        example="Internal: Invalid system configuration: 2x4 host topology with 0 missing hosts, but 1 hosts in total.",
    ),
    KnownError(
        id="E682",
        family="chips-not-as-expected",
        phase=Phase.INITIALISING,
        patterns=(
            r"GetChip\(.{1,12}?\)->location\(\)",
            r"runtime/hal/tpu_hal\.cc:\d{1,6}",
            r"TPU initialization failed:.{0,40}?RET_CHECK failure",
            r"Failed to (?:enumerate|discover|find) (?:the )?TPU (?:chips|devices|system)",
        ),
        cause="libtpu found chips in another order or number than it expects on this machine: a libtpu release with that bug, fewer chips passed to the container (or TPU_VISIBLE_CHIPS) than the topology says, or a machine that came up in part.",
        fix="""\
ls /dev/accel* /dev/vfio/*; env | grep -E "TPU_|CLOUD_TPU"      # as many chips as the topology has (2x2: 4)? no left-over variables
pip install -U "jax[tpu]"                                        # or the release before: brings another libtpu; tensorflow-tpu brings its own
docker run --privileged --net=host IMAGE                          # all chips of the host, in a container
gcloud compute tpus tpu-vm delete NAME --zone=ZONE                # then create it again: another machine""",
        citations=("jax-ml/jax#37230",),
        example="JaxRuntimeError: INTERNAL: TPU initialization failed: TPU_RET_CHECK failure (learning/45eac/tpu/runtime/hal/tpu_hal.cc:229) GetChip(i)->location().index_on_host() == i (0 vs. 1)",
    ),
)
