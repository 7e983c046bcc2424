"""The table in words: lines to copy, and what a text says of them."""

import re
from collections.abc import Sequence

from tpudiag.installs.table import FIRST_SCALING_KERAS, IMAGES, STANDS, Claim
from tpudiag.installs.table import IMAGE as IMAGE_RELEASE
from tpudiag.installs.table import JAX as JAX_CLAIM
from tpudiag.records import dataclass

IMAGE_NAME = f"tpu-vm-tf-{IMAGE_RELEASE}-pjrt"
RELEASE = STANDS.name.split()[-1]
REQUIREMENT = f"tensorflow-tpu=={RELEASE}"
_NEWEST_PYTHON = STANDS.python[1]
INSTALL = f'pip install "{REQUIREMENT}"'
"""Brings the libtpu that it requires."""

KERAS_INSTALL = f"pip install 'keras>={'.'.join(map(str, FIRST_SCALING_KERAS))}'"


@dataclass(frozen=True)
class Way:
    """What gets TensorFlow, or what takes its place, to the TPU."""

    title: str
    commands: tuple[str, ...]
    seen: str
    """How far it was tried, by whom."""

    def __str__(self) -> str:
        return "\n".join((f"# {self.title}", *self.commands))


def claimed(claim: Claim) -> str:
    """A claim with who made it, when and where."""
    return f"{claim.what} ({claim.by}, {claim.when}, {claim.source})"


_SEEN = claimed(STANDS.claims[0])
_EXPORT = (
    "export PJRT_DEVICE=TPU NEXT_PLUGGABLE_DEVICE_USE_C_API=true "
    "TF_PLUGGABLE_DEVICE_LIBRARY_PATH="
    "$({} -c 'import libtpu; print(libtpu.get_library_path())')"
)
VARIABLES = Way(
    "before TensorFlow is imported: the PJRT runtime, which v5e and later need",
    (_EXPORT.format("python"),),
    _SEEN,
)
OWN_ENVIRONMENT = Way(
    f"an environment of its own, with Python {_NEWEST_PYTHON} or older",
    (
        f"uv venv --python {_NEWEST_PYTHON} tf-tpu && uv pip install --python tf-tpu/bin/python "
        f'"{REQUIREMENT}"',
        _EXPORT.format("tf-tpu/bin/python"),
        "tf-tpu/bin/python train.py",
    ),
    _SEEN,
)
IMAGE = Way(
    "or a TPU VM whose image has TensorFlow (v4 and older: -se; a pod: -pod-pjrt; not for v6e)",
    (
        "gcloud compute tpus tpu-vm create NAME --zone=ZONE --accelerator-type=v5litepod-8 "
        f"--version={IMAGE_NAME}",
    ),
    "; ".join(claimed(claim) for claim in IMAGES.claims),
)
JAX = Way(
    "or Keras 3 on JAX: a model without tf.distribute",
    ('pip install "keras>=3" "jax[tpu]>=0.7" && KERAS_BACKEND=jax python train.py',),
    claimed(JAX_CLAIM),
)
JAX_THERE = Way(
    "or Keras 3 on JAX, which is installed there: a model without tf.distribute",
    ("KERAS_BACKEND=jax python train.py",),
    claimed(JAX_CLAIM),
)


def in_place(owners: Sequence[str]) -> Way:
    """The TensorFlow of an environment replaced by the one that finds the TPU."""
    removed = f"pip uninstall -y {' '.join(owners)} && " if owners else ""
    return Way("the TensorFlow that finds the TPU", (removed + INSTALL, *VARIABLES.commands), _SEEN)


def repaired(requirements: str) -> Way:
    """What does not go with the TensorFlow that is there, replaced."""
    return Way(
        "what goes with the TensorFlow that is there",
        (f"pip install {requirements}", *VARIABLES.commands),
        _SEEN,
    )


def tf_keras(tensorflow: str) -> str:
    """Keras 2 beside a release of TensorFlow, without the TensorFlow that it would bring."""
    minor = ".".join(tensorflow.split(".")[:2])
    release = f"'tf-keras=={minor}.*'" if minor else "tf-keras"
    return f"pip install --no-deps {release}"


def fix(ways: Sequence[Way]) -> str:
    """Ways as one fix: the shortest first, the others behind it."""
    return "\n".join(str(way) for way in ways)


BLANKS = {
    "framework": "TensorFlow",
    "tpu_install": f"{INSTALL}      # Python {' to '.join(STANDS.python)}; brings libtpu "
    f"{STANDS.libtpu[0] if STANDS.libtpu else ''}",
    "tpu_environment": OWN_ENVIRONMENT.commands[0],
    "tpu_release": RELEASE,
    "tpu_minor": ".".join(RELEASE.split(".")[:2]),
    "tpu_python": _NEWEST_PYTHON,
    "tpu_variables": VARIABLES.commands[0],
    "tpu_image": IMAGE_NAME,
    "keras_on_jax": JAX.commands[0],
    "tpu_sources": "; ".join(claimed(claim) for claim in STANDS.claims),
    "keras_on_tpu": KERAS_INSTALL,
}
"""What the blanks of a text say: `<<tpu_install>>` and so on."""


def filled(text: str) -> str:
    """A text with what the table says in its blanks."""
    if "<<" not in text:
        return text
    return re.sub(r"<<(\w+)>>", lambda hole: BLANKS.get(hole[1], hole[0]), text)
