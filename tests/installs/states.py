"""Environments from which a TPU was searched, their vendors' pins, and the error messages."""

from dataclasses import dataclass

from tpudiag.installs import words
from tpudiag.signals import Environment, Runtime

FROM_THE_INDEX = {"libtpu": "0.0.10", "keras": "3.15.1", "protobuf": "5.29.6"}
OWN = words.OWN_ENVIRONMENT.commands[0]
REPLACED = f"pip uninstall -y {{}} && {words.INSTALL}"
_NO_KERNEL = "No OpKernel was registered to support Op 'ConfigureDistributedTPU'"
_NO_PLATFORM = "No TPU platform found. Platform manager status: OK"


@dataclass(frozen=True)
class Tried:
    """An environment and what must be said of it."""

    environment: Environment
    pin: str
    """What its vendor pins."""
    source: str
    """Where the vendor does, and what `check` names."""
    drives: bool | None
    first: str = ""
    """The first line that `check` offers; none where nothing is to be done."""
    symptom: str = ""
    """What TensorFlow, or Python, says there: what a user asks `explain` about."""
    imports: bool = True
    """Whether TensorFlow's import succeeds, and the TPU is what is missing."""


def seen(runtime: Runtime, python: str, **versions: str) -> Environment:
    """An environment as it is described: what is installed in it, by its image's own list."""
    named = {name.replace("_", "-"): version for name, version in versions.items()}
    return Environment(python, named, runtime=runtime)


def stands(**versions: str) -> Environment:
    """TensorFlow 2.19.1 for TPUs as the index gives it, but for what is named."""
    return seen("own", "3.12.1", tensorflow_tpu="2.19.1", **(FROM_THE_INDEX | versions))


_KAGGLE = seen("kaggle", "3.12.12", tensorflow_cpu="2.20.0", libtpu="0.0.17", keras="3.13.2")
_KERAS = "2.19.1 is the last that supports TPUs"
_ASKS = "tensorflow-tpu 2.19.1 asks for "
_IMAGES = "Prz00124/tpu-vm-examples-2025"
STATES = {
    "Kaggle 2024": Tried(
        seen("kaggle", "3.10.14", tensorflow="2.16.1", keras="3.4.1", jax="0.4.23"),
        "tensorflow 2.16.1 of Cloud TPU's wheels, libtpu.so 1.10.1", "Kaggle/docker-python@9587f69",
        True),
    "Kaggle 2025-10": Tried(
        _KAGGLE, "tensorflow-cpu 2.20.0, libtpu 0.0.17 for jax[tpu] (221ec49)",
        "Kaggle/docker-python@", False, OWN, _NO_KERNEL),
    "Kaggle 2026": Tried(
        _KAGGLE, "the same; Keras 3 on JAX", "Kaggle/docker-python@78aaa43", False, OWN,
        _NO_KERNEL),
    "Colab 2024": Tried(
        seen("colab", "3.10.12", tensorflow="2.15.0", protobuf="3.20.3"),
        "tensorflow 2.15.0 of Cloud TPU's wheels", "googlecolab/backend-info@027438a", True),
    "Colab 2026": Tried(
        seen("colab", "3.13.15", libtpu="0.0.21.1", jax="0.7.2", keras="3.13.2"),
        "no TensorFlow; Python 3.13, jax 0.7.2, libtpu 0.0.21.1",
        "googlecolab/backend-info@a724079", False, OWN,
        "ModuleNotFoundError: No module named 'tensorflow'", imports=False),
    "TPU VM image 2.15": Tried(
        seen("tpu-vm", "3.10.6", tensorflow="2.15.1", keras="2.15.0"), "libtpu.so 1.9.0",
        _IMAGES, True),
    "TPU VM image 2.16": Tried(
        seen("tpu-vm", "3.10.6", tensorflow="2.16.1", keras="3.3.3"), "libtpu.so 1.10.1",
        _IMAGES, True),
    "TPU VM image 2.17": Tried(
        seen("tpu-vm", "3.10.6", tensorflow_tpu="2.17.0", libtpu="2.17.0"), "libtpu.so 1.11",
        _IMAGES, None, REPLACED.format("tensorflow-tpu")),
    "TPU VM image 2.18": Tried(
        seen("tpu-vm", "3.10.6", tensorflow_tpu="2.18.0", libtpu="2.18.0"), "libtpu.so 1.12.0",
        _IMAGES, None, REPLACED.format("tensorflow-tpu")),
    "TPU VM image 2.19": Tried(
        seen("tpu-vm", "3.10.6", tensorflow="2.19.0"),
        "none: the vendor's table ends at 2.18.0", "tensorflow/tensorflow#93618", None,
        REPLACED.format("tensorflow")),
    "Debian, 2.18.0 without its libtpu": Tried(
        seen("own", "3.11.2", tensorflow_tpu="2.18.0", protobuf="5.29.6"),
        "libtpu 2.18.0, which the package index has not", "googlecolab/colabtools#5419", None,
        REPLACED.format("tensorflow-tpu"),
        "TPUs not found in the cluster. Failed in initialization: No matching devices found for "
        "'/device:TPU_SYSTEM:0' [Op:__inference__tpu_init_fn_4]"),
    "Debian, 2.19.1": Tried(
        stands(), f"libtpu 0.0.10, protobuf <6; {_KERAS}", "keras-team/keras-rs@", True,
        words.VARIABLES.commands[0], _NO_PLATFORM),
    "Debian, 2.20.0": Tried(
        seen("own", "3.11.2", tensorflow_tpu="2.20.0", libtpu="0.0.17"), _KERAS,
        "keras-team/keras@b56746fb87", False, REPLACED.format("tensorflow-tpu"), _NO_PLATFORM),
    "Debian, 2.21": Tried(
        seen("own", "3.12.1", tensorflow="2.21.0", protobuf="7.36.2"),
        f"no build for TPUs; {_KERAS}", "colabtools#5203", False, REPLACED.format("tensorflow"),
        _NO_KERNEL),
    "libtpu too new": Tried(
        stands(libtpu="0.0.52"), f"{_ASKS}libtpu 0.0.10", "asks for", None,
        'pip install "libtpu==0.0.10"',
        "ConfigureDistributedTpuOp_DoWork not available in this library.", imports=False),
    "libtpu too old": Tried(
        stands(libtpu="0.0.7.1"), f"{_ASKS}libtpu 0.0.10", "asks for", None,
        'pip install "libtpu==0.0.10"',
        "TpuEmbeddingEngine_ExecutePartitioner not available in this library.", imports=False),
    "protobuf clash": Tried(
        stands(protobuf="7.35.1"), f"{_ASKS}protobuf >=3.20.3,<6", "asks for protobuf", None,
        'pip install "protobuf>=3.20.3,<6"',
        "google.protobuf.runtime_version.VersionError: Detected incompatible Protobuf "
        "Gencode/Runtime versions when loading tensorflow/core/framework/graph.proto: gencode "
        "5.28.3 runtime 7.35.1.", imports=False),
}  # fmt: skip
"""By name. A described environment is as good as one that is there: nothing else is looked at."""
