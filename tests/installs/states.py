"""Environments from which a TPU was searched, their vendors' pins, and the error messages."""

from dataclasses import dataclass

from tpudiag.installs import words
from tpudiag.signals import Environment, Runtime

FROM_THE_INDEX = {"libtpu": "0.0.10", "keras": "3.15.1", "protobuf": "5.29.6"}
OWN = words.OWN_ENVIRONMENT.commands[0]
REPLACED = f"pip uninstall -y {{}} && {words.INSTALL}"
_NO_KERNEL = "No OpKernel was registered to support Op 'ConfigureDistributedTPU'"
_NO_PLATFORM = "No TPU platform found. Platform manager status: OK"


@dataclass(frozen=True, kw_only=True)
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
STATES = {
    "Kaggle 2024": Tried(
        environment=seen("kaggle", "3.10.14", tensorflow="2.16.1", keras="3.4.1", jax="0.4.23"),
        pin="tensorflow 2.16.1 of Cloud TPU's wheels, libtpu.so 1.10.1",
        source="Kaggle/docker-python@9587f69",
        drives=True,
    ),
    "Kaggle 2025-10": Tried(
        environment=_KAGGLE,
        pin="tensorflow-cpu 2.20.0, libtpu 0.0.17 for jax[tpu] (221ec49)",
        source="Kaggle/docker-python@",
        drives=False,
        first=OWN,
        symptom=_NO_KERNEL,
    ),
    "Kaggle 2026": Tried(
        environment=_KAGGLE,
        pin="the same; Keras 3 on JAX",
        source="Kaggle/docker-python@78aaa43",
        drives=False,
        first=OWN,
        symptom=_NO_KERNEL,
    ),
    "Colab 2024": Tried(
        environment=seen("colab", "3.10.12", tensorflow="2.15.0", protobuf="3.20.3"),
        pin="tensorflow 2.15.0 of Cloud TPU's wheels",
        source="googlecolab/backend-info@027438a",
        drives=True,
    ),
    "Colab 2026": Tried(
        environment=seen("colab", "3.13.15", libtpu="0.0.21.1", jax="0.7.2", keras="3.13.2"),
        pin="no TensorFlow; Python 3.13, jax 0.7.2, libtpu 0.0.21.1",
        source="googlecolab/backend-info@a724079",
        drives=False,
        first=OWN,
        symptom="ModuleNotFoundError: No module named 'tensorflow'",
        imports=False,
    ),
    "TPU VM image 2.15": Tried(
        environment=seen("tpu-vm", "3.10.6", tensorflow="2.15.1", keras="2.15.0"),
        pin="libtpu.so 1.9.0",
        source="Prz00124/tpu-vm-examples-2025",
        drives=True,
    ),
    "TPU VM image 2.16": Tried(
        environment=seen("tpu-vm", "3.10.6", tensorflow="2.16.1", keras="3.3.3"),
        pin="libtpu.so 1.10.1",
        source="Prz00124/tpu-vm-examples-2025",
        drives=True,
    ),
    "TPU VM image 2.17": Tried(
        environment=seen("tpu-vm", "3.10.6", tensorflow_tpu="2.17.0", libtpu="2.17.0"),
        pin="libtpu.so 1.11",
        source="Prz00124/tpu-vm-examples-2025",
        drives=None,
        first=REPLACED.format("tensorflow-tpu"),
    ),
    "TPU VM image 2.18": Tried(
        environment=seen("tpu-vm", "3.10.6", tensorflow_tpu="2.18.0", libtpu="2.18.0"),
        pin="libtpu.so 1.12.0",
        source="Prz00124/tpu-vm-examples-2025",
        drives=None,
        first=REPLACED.format("tensorflow-tpu"),
    ),
    "TPU VM image 2.19": Tried(
        environment=seen("tpu-vm", "3.10.6", tensorflow="2.19.0"),
        pin="none: the vendor's table ends at 2.18.0",
        source="tensorflow/tensorflow#93618",
        drives=None,
        first=REPLACED.format("tensorflow"),
    ),
    "Debian, 2.18.0 without its libtpu": Tried(
        environment=seen("own", "3.11.2", tensorflow_tpu="2.18.0", protobuf="5.29.6"),
        pin="libtpu 2.18.0, which the package index has not",
        source="googlecolab/colabtools#5419",
        drives=None,
        first=REPLACED.format("tensorflow-tpu"),
        symptom="TPUs not found in the cluster. Failed in initialization: No matching devices "
        "found for '/device:TPU_SYSTEM:0' [Op:__inference__tpu_init_fn_4]",
    ),
    "Debian, 2.19.1": Tried(
        environment=stands(),
        pin=f"libtpu 0.0.10, protobuf <6; {_KERAS}",
        source="keras-team/keras-rs@",
        drives=True,
        first=words.VARIABLES.commands[0],
        symptom=_NO_PLATFORM,
    ),
    "Debian, 2.20.0": Tried(
        environment=seen("own", "3.11.2", tensorflow_tpu="2.20.0", libtpu="0.0.17"),
        pin=_KERAS,
        source="keras-team/keras@b56746fb87",
        drives=False,
        first=REPLACED.format("tensorflow-tpu"),
        symptom=_NO_PLATFORM,
    ),
    "Debian, 2.21": Tried(
        environment=seen("own", "3.12.1", tensorflow="2.21.0", protobuf="7.36.2"),
        pin=f"no build for TPUs; {_KERAS}",
        source="colabtools#5203",
        drives=False,
        first=REPLACED.format("tensorflow"),
        symptom=_NO_KERNEL,
    ),
    "libtpu too new": Tried(
        environment=stands(libtpu="0.0.52"),
        pin="tensorflow-tpu 2.19.1 asks for libtpu 0.0.10",
        source="asks for",
        drives=None,
        first='pip install "libtpu==0.0.10"',
        symptom="ConfigureDistributedTpuOp_DoWork not available in this library.",
        imports=False,
    ),
    "libtpu too old": Tried(
        environment=stands(libtpu="0.0.7.1"),
        pin="tensorflow-tpu 2.19.1 asks for libtpu 0.0.10",
        source="asks for",
        drives=None,
        first='pip install "libtpu==0.0.10"',
        symptom="TpuEmbeddingEngine_ExecutePartitioner not available in this library.",
        imports=False,
    ),
    "protobuf clash": Tried(
        environment=stands(protobuf="7.35.1"),
        pin="tensorflow-tpu 2.19.1 asks for protobuf >=3.20.3,<6",
        source="asks for protobuf",
        drives=None,
        first='pip install "protobuf>=3.20.3,<6"',
        symptom="google.protobuf.runtime_version.VersionError: Detected incompatible Protobuf "
        "Gencode/Runtime versions when loading tensorflow/core/framework/graph.proto: gencode "
        "5.28.3 runtime 7.35.1.",
        imports=False,
    ),
}  # fmt: skip
"""By name. A described environment is as good as one that is there: nothing else is looked at."""
