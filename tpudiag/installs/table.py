"""What runs where: one row a state of runtime, Python, TensorFlow and libtpu, each with its claims.

A claim says what was seen, by whom, when, and where to read it. What was seen here was seen
without a TPU: an import is no training. A new release is a new row, or a claim of an old one;
`python -m tests.newer_releases` says what the package index has that no row knows.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from tpudiag.records import dataclass

if TYPE_CHECKING:
    from tpudiag.signals import Runtime


class Standing(StrEnum):
    """What a claim says of a row."""

    TRAINED = "trained"
    """A TPU was found, and a step ran on it."""
    SHIPPED = "shipped"
    """A vendor's image has it, or a vendor's page offers it."""
    IMPORTED = "imported"
    """It installs and imports; whether it finds a TPU is not known."""
    DOUBTED = "doubted"
    """Somebody's job did not reach the TPU with it; others' may."""
    CONTRADICTED = "contradicted"
    """It finds no TPU."""
    BROKEN = "broken"
    """It does not import."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What was seen of a row: by whom, when (the day), and where it stands."""

    standing: Standing
    by: str
    when: str
    source: str
    what: str
    """In words, for the end of a sentence."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One state. A range holds both of its ends; an empty one is not known, or does not matter."""

    name: str
    runtime: Runtime
    packages: tuple[str, ...]
    """The distributions that bring its TensorFlow; none where there is no TensorFlow."""
    tensorflow: tuple[str, str] | None
    python: tuple[str, str]
    claims: tuple[Claim, ...]
    libtpu: tuple[str, str] | None = None
    keras: str = ""
    protobuf: str = ""
    """As the package asks for it, or as the image has it."""
    until: str = ""
    """The day from which on its image is another."""

    @property
    def standing(self) -> Standing:
        """What decides: a claim against it, then the most that was seen."""
        seen = {claim.standing for claim in self.claims}
        return next(each for each in _DECIDES if each in seen)

    @property
    def deciding(self) -> Claim:
        """The newest claim that says so; others' before our own, who had no TPU."""
        mine = (claim for claim in self.claims if claim.standing is self.standing)
        return max(mine, key=lambda claim: (claim.by != HERE, claim.when))

    @property
    def seen(self) -> str:
        """The day of its newest claim."""
        return max(claim.when for claim in self.claims)


_DECIDES = (
    Standing.BROKEN,
    Standing.CONTRADICTED,
    Standing.TRAINED,
    Standing.DOUBTED,
    Standing.SHIPPED,
    Standing.IMPORTED,
)
HERE = "tpudiag"
_TRIED = "tried in a fresh environment without a TPU"
_ANY_PYTHON = ("3.9", "3.99")
_CPU = ("tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tf-nightly", "tensorflow-intel")
_IMAGES, _IMAGES_SEEN = "https://cloud.google.com/tpu/docs/runtimes", "2025-09-11"
_USER = "Prz00124/tpu-vm-examples-2025@5c06862 README.md"
_LAST = Claim(
    standing=Standing.CONTRADICTED,
    by="Keras",
    when="2026-01-05",
    source="keras-team/keras@b56746fb87 requirements-tensorflow-tpu.txt",
    what="2.19.1 is the last TensorFlow that supports TPUs",
)
_KAGGLE_OUT = Claim(
    standing=Standing.CONTRADICTED,
    by="Kaggle",
    when="2025-09-26",
    source="Kaggle/docker-python@3e031ba tpu/requirements.in",
    what="tensorflow-tpu was taken out of the TPU image: with libtpu 0.0.17 and newer it says "
    '"No TPU platform found. Platform manager status: OK"',
)

STANDS = Row(
    name="tensorflow-tpu 2.19.1",
    runtime="own",
    packages=("tensorflow-tpu",),
    tensorflow=("2.19.1", "2.19.1"),
    python=("3.9", "3.12"),
    libtpu=("0.0.10", "0.0.10"),
    keras=">=3.5.0",
    protobuf=">=3.20.3,<6",
    claims=(
        Claim(
            standing=Standing.TRAINED,
            by="Keras",
            when="2026-05-29",
            source="keras-team/keras-rs@812d35b .github/workflows/actions.yml",
            what="its tests run on a v6e with Python 3.11 and the PJRT variables, after "
            "list_physical_devices named a TPU",
        ),
        Claim(
            standing=Standing.TRAINED,
            by="Keras",
            when="2025-09-02",
            source="keras-team/keras-io@1152d88 examples/keras_rs/md/distributed_embedding_tf.md",
            what="five epochs of fit under TPUStrategy with Python 3.10 and the PJRT variables",
        ),
        Claim(
            standing=Standing.SHIPPED,
            by="Keras",
            when=_LAST.when,
            source=_LAST.source,
            what=_LAST.what,
        ),
        Claim(
            standing=Standing.IMPORTED,
            by=HERE,
            when="2026-11-23",
            source=_TRIED,
            what="installs from the package index and imports with Python 3.10, 3.11 and 3.12",
        ),
    ),
)
"""What to install: the newest release that no vendor contradicts."""

IMAGES = Row(
    name="a TPU VM image of TensorFlow 2.13 to 2.16",
    runtime="tpu-vm",
    packages=("tensorflow", "tensorflow-tpu", "tf-nightly"),
    tensorflow=("2.13.0", "2.16.99"),
    python=("3.8", "3.11"),
    claims=(
        Claim(
            standing=Standing.SHIPPED,
            by="Google Cloud",
            when=_IMAGES_SEEN,
            source=_IMAGES,
            what="its table pairs 2.16 with libtpu.so 1.10.1 and 2.15 with 1.9.0",
        ),
        Claim(
            standing=Standing.TRAINED,
            by="a user of v3 and v5e",
            when="2025-07-04",
            source=_USER,
            what="2.16.1-se on a v3-8 and 2.16.1-pjrt on a v5e run TPUStrategy; no image does "
            "on a v6e",
        ),
    ),
)
"""The images that have a TensorFlow which imports and trains as they come."""

ROWS = (
    STANDS,
    Row(
        name="tensorflow-tpu 2.20 with a libtpu that it imports with",
        runtime="own",
        packages=("tensorflow-tpu",),
        tensorflow=("2.20.0", "2.20.99"),
        python=("3.9", "3.13"),
        libtpu=("0.0.14", "0.0.31"),
        keras=">=3.10.0",
        protobuf=">=5.28.0",
        claims=(
            _LAST,
            _KAGGLE_OUT,
            Claim(
                standing=Standing.IMPORTED,
                by=HERE,
                when="2026-11-23",
                source=_TRIED,
                what="imports with libtpu 0.0.14, 0.0.17, 0.0.30 and 0.0.31",
            ),
            Claim(
                standing=Standing.CONTRADICTED,
                by=HERE,
                when="2026-11-23",
                source=_TRIED,
                what="with the PJRT variables initialize_tpu_system ends in SIGSEGV (eight "
                "releases from libtpu 0.0.14 to 0.0.31, 0.0.18 with the same PJRT API among them), "
                "where 2.19.1 answers that there is no device",
            ),
        ),
    ),
    Row(
        name="tensorflow-tpu 2.20 with the libtpu that pip takes",
        runtime="own",
        packages=("tensorflow-tpu",),
        tensorflow=("2.20.0", "2.20.99"),
        python=("3.9", "3.13"),
        libtpu=("0.0.32", "0.0.9999"),
        keras=">=3.10.0",
        protobuf=">=5.28.0",
        claims=(
            _LAST,
            Claim(
                standing=Standing.BROKEN,
                by=HERE,
                when="2026-11-23",
                source=_TRIED,
                what="the import aborts from libtpu 0.0.32 on (0.0.52: ConfigureDistributedTpuOp_"
                "DoWork not available in this library)",
            ),
        ),
    ),
    Row(
        name="tensorflow-tpu 2.16 to 2.18 with the vendor's own libtpu",
        runtime="own",
        packages=("tensorflow-tpu",),
        tensorflow=("2.16.0", "2.18.99"),
        python=("3.9", "3.12"),
        keras=">=3.5.0",
        claims=(
            Claim(
                standing=Standing.SHIPPED,
                by="Colab",
                when="2025-03-12",
                source="googlecolab/colabtools#5174",
                what="2.18.0 installs with the vendor's own list of libtpu releases, and not from "
                "the package index",
            ),
            Claim(
                standing=Standing.DOUBTED,
                by="a user of Colab",
                when="2025-06-25",
                source="googlecolab/colabtools#5419",
                what="2.18 no longer reaches Colab's TPUs since 2025-06-24",
            ),
            Claim(
                standing=Standing.IMPORTED,
                by=HERE,
                when="2026-11-23",
                source=_TRIED,
                what="each asks for a libtpu of its own number, which the package index has not: "
                "it resolves with the vendor's list alone; without it 2.16.2, 2.17.1 and 2.18.0 "
                "import and answer that there is no TPU_SYSTEM, and 2.18.0 beside libtpu 0.0.7 or "
                "0.0.10, with the PJRT variables, that there is no device",
            ),
        ),
    ),
    Row(
        name="TensorFlow's CPU or GPU build",
        runtime="own",
        packages=_CPU,
        tensorflow=("1.0", "99"),
        python=("2.7", "3.99"),
        claims=(
            Claim(
                standing=Standing.CONTRADICTED,
                by="users of Colab",
                when="2025-04-03",
                source="googlecolab/colabtools#5203, #5228",
                what="No OpKernel was registered to support Op 'ConfigureDistributedTPU'",
            ),
            Claim(
                standing=Standing.CONTRADICTED,
                by=HERE,
                when="2026-11-23",
                source=_TRIED,
                what="a build for CPU or GPU has no operation that configures a TPU, and of 2.21 "
                "there is no other",
            ),
        ),
    ),
    Row(
        name="Kaggle's TPU image of 2024",
        runtime="kaggle",
        packages=("tensorflow",),
        tensorflow=("2.12.0", "2.16.99"),
        python=("3.8", "3.10"),
        keras=">3",
        until="2025-01-03",
        claims=(
            Claim(
                standing=Standing.SHIPPED,
                by="Kaggle",
                when="2024-08-16",
                source="Kaggle/docker-python@9587f69 tpu/config.txt",
                what="TensorFlow 2.16.1 of Cloud TPU's own wheels with libtpu.so 1.10.1",
            ),
        ),
    ),
    Row(
        name="Kaggle's TPU image of early 2025",
        runtime="kaggle",
        packages=("tensorflow-tpu",),
        tensorflow=("2.18.0", "2.18.99"),
        python=("3.10", "3.10"),
        libtpu=("2.18.0", "2.18.0"),
        until="2025-09-17",
        claims=(
            Claim(
                standing=Standing.SHIPPED,
                by="Kaggle",
                when="2025-04-07",
                source="Kaggle/docker-python@5545f99 tpu/requirements.txt",
                what="tensorflow-tpu 2.18.0 with the vendor's own list of libtpu releases",
            ),
        ),
    ),
    Row(
        name="Kaggle's TPU image since 2025-09-26",
        runtime="kaggle",
        packages=_CPU,
        tensorflow=("2.17", "99"),
        python=("3.11", "3.99"),
        libtpu=("0.0.11", "0.0.9999"),
        keras=">3",
        claims=(
            _KAGGLE_OUT,
            Claim(
                standing=Standing.CONTRADICTED,
                by="Kaggle",
                when="2026-08-12",
                source="Kaggle/docker-python@78aaa43 tpu/requirements.in",
                what="its TensorFlow is tensorflow-cpu 2.20.0 until a libtpu is found that fits; "
                "jax[tpu] and Keras 3 drive the TPU",
            ),
        ),
    ),
    Row(
        name="Colab's TPU runtime of 2024",
        runtime="colab",
        packages=("tensorflow",),
        tensorflow=("2.15.0", "2.15.99"),
        python=("3.10", "3.10"),
        keras="2.15.0",
        protobuf="3.20.3",
        until="2025-01-09",
        claims=(
            Claim(
                standing=Standing.SHIPPED,
                by="Colab",
                when="2024-09-22",
                source="googlecolab/backend-info@027438a pip-freeze.tpu.txt",
                what="TensorFlow 2.15.0 of Cloud TPU's own wheels",
            ),
        ),
    ),
    Row(
        name="Colab's TPU runtime of early 2025",
        runtime="colab",
        packages=("tensorflow", "tensorflow-tpu"),
        tensorflow=("2.17.0", "2.18.99"),
        python=("3.11", "3.11"),
        libtpu=("2.17.0", "2.18.0"),
        until="2025-03-07",
        claims=(
            Claim(
                standing=Standing.SHIPPED,
                by="Colab",
                when="2025-02-04",
                source="googlecolab/backend-info@240f832 pip-freeze.tpu.txt",
                what="tensorflow 2.18.0 beside libtpu 2.18.0",
            ),
        ),
    ),
    Row(
        name="Colab's TPU runtime since 2025-03",
        runtime="colab",
        packages=(),
        tensorflow=None,
        python=("3.11", "3.99"),
        libtpu=("0.0.7", "0.0.9999"),
        keras="3.13.2",
        protobuf="7.35.1",
        claims=(
            Claim(
                standing=Standing.CONTRADICTED,
                by="Colab",
                when="2025-03-10",
                source="googlecolab/colabtools#5164",
                what="TensorFlow is no longer installed on TPU runtimes",
            ),
            Claim(
                standing=Standing.CONTRADICTED,
                by="Colab",
                when="2026-08-19",
                source="googlecolab/backend-info@a724079 pip-freeze.tpu.txt",
                what="no TensorFlow; Python 3.13, for which 2.19.1 has no wheel; jax 0.7.2, "
                "keras 3.13.2 and libtpu 0.0.21.1 drive the TPU",
            ),
        ),
    ),
    IMAGES,
    Row(
        name="the TPU VM images of TensorFlow 2.17 and 2.18",
        runtime="tpu-vm",
        packages=("tensorflow", "tensorflow-tpu", "tf-nightly"),
        tensorflow=("2.17.0", "2.18.99"),
        python=("3.8", "3.11"),
        claims=(
            Claim(
                standing=Standing.SHIPPED,
                by="Google Cloud",
                when=_IMAGES_SEEN,
                source=_IMAGES,
                what="its table pairs 2.18.0 with libtpu.so 1.12.0 and 2.17 with 1.11",
            ),
            Claim(
                standing=Standing.DOUBTED,
                by="a user of v3 and v5e",
                when="2025-07-04",
                source=_USER,
                what="as the image comes, importing TensorFlow ends in a segmentation fault; with "
                "tensorflow-tpu and libtpu installed anew from the vendor's list 2.18.0 runs "
                "TPUStrategy on a v3-8 and a v5e",
            ),
            Claim(
                standing=Standing.DOUBTED,
                by="a user of a pod",
                when="2024-12-04",
                source="tensorflow/tensorflow#82208",
                what="importing TensorFlow ends in a segmentation fault in 2.18.0-pod-pjrt and "
                "-pod-se",
            ),
        ),
    ),
    Row(
        name="the TPU VM images of TensorFlow 2.19",
        runtime="tpu-vm",
        packages=("tensorflow", "tensorflow-tpu"),
        tensorflow=("2.19.0", "2.19.0"),
        python=("3.8", "3.11"),
        claims=(
            Claim(
                standing=Standing.DOUBTED,
                by="a user of a v4 pod",
                when="2025-05-18",
                source="tensorflow/tensorflow#93618",
                what="-pod-pjrt hangs at experimental_connect_to_cluster, -pod-se fails to "
                "initialise; the vendor's table ends at 2.18.0",
            ),
        ),
    ),
)
"""The more special ones of a runtime stand with it; of two that fit, the one of its runtime."""

IMAGE = "2.16.1"
"""The TensorFlow of the newest TPU VM images that import it as they come."""

IMAGE_OF_V6E = "2.18.0"
"""The newest in the vendor's table, which has one for v6e; that it trains there nobody says."""

NEWEST_SEEN = {"tensorflow-tpu": "2.20.0", "libtpu": "0.0.52"}
"""What the package index had last when the rows were looked at, 2026-11-23."""

JAX = Claim(
    standing=Standing.TRAINED,
    by="Keras",
    when="2026-08-22",
    source="keras-team/keras@3422977 .github/workflows/tpu_tests.yml",
    what="Keras 3 on JAX is tested on a v6e and on four v5e",
)
"""What drives the TPU where no TensorFlow does."""

FIRST_SCALING_KERAS = (3, 8)
"""The first Keras 3 whose fit scales the loss by the replicas (keras#20609)."""
