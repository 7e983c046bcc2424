# ruff: noqa: E501  (texts of other programs stay as they are)
"""PyTorch/XLA on a TPU: what older runtimes say."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase

ERRORS = (
    KnownError(
        id="E605",
        family="xrt-runtime",
        phase=Phase.INITIALISING,
        kind=Kind.BROAD,
        patterns=(
            r"xla_client/xrt_\w{1,40}\.cc",
            r"XRT_TPU_CONFIG",
            r"XRT_SHARD_\w{1,20}",
            r"XRT_DEVICE_MAP",
            r"XRT_LOCAL_WORKER",
            r"""method "?RunStep"? not implemented""",
            r"topology_proto->num_tpu_devices_per_task",
            r"XrtComputationClient",
            r"\{\{node XRT\w{3,20}\}\}",
        ),
        cause="The program drives the TPU through XRT, PyTorch/XLA's first runtime: it is gone since 2.1, never knew v4 and later, and wants a TPU Node (or its local server) of exactly its own release on the other side. What it could not do stands in the same lines.",
        fix="""\
unset XRT_TPU_CONFIG XRT_WORKERS XRT_DEVICE_MAP
export PJRT_DEVICE=TPU                                             # the runtime of today: on the TPU's own machine (a TPU VM)
pip install -U "torch~=2.6.0" "torch_xla[tpu]~=2.6.0"              # the same release of both (2.6 as an example)
python -c "import torch_xla.core.xla_model as xm; print(xm.xla_device())"
# a TPU Node that must stay: its software version (pytorch-1.13) is the torch_xla that is installed""",
        citations=("pytorch/xla#4896", "pytorch/xla#5258", "pytorch/xla#2028"),
        example="RuntimeError: tensorflow/compiler/xla/xla_client/xrt_computation_client.cc:1403 : Check failed: parsed_device.id <= topology_proto->num_tpu_devices_per_task() (5 vs. 4)",
        yields_to=(
            "E681",
            "E101",
            "E20",
            "E29",
            "E70",
            "E06",
            "E62",
            "E109",
            "E19",
            "E22",
            "E95",
            "E30",
            "E28",
        ),
    ),
    KnownError(
        id="E614",
        family="vllm-platform",
        phase=Phase.INITIALISING,
        patterns=(
            r"Failed to infer device type",
            r"No platform detected, vLLM is running on",
            r"vLLM is running on UnspecifiedPlatform",
            r"Device string must not be empty.{0,200}?vllm",
        ),
        cause="vLLM found no device that it knows: the build for TPU is not the one that is installed (the plain package is for CUDA), its torch_xla, JAX and libtpu do not belong together so that the import of the TPU platform failed quietly, or no chip is visible.",
        fix="""\
pip uninstall -y vllm torch torch_xla; pip install vllm-tpu            # the build for TPU brings the torch_xla, JAX and libtpu of its release
VLLM_LOGGING_LEVEL=DEBUG python -c "import vllm.platforms as p; print(p.current_platform)"      # says why the TPU was not taken
ls /dev/accel* /dev/vfio/* && sudo lsof -w /dev/accel* /dev/vfio/*""",
        citations=("vllm-project/vllm#12451",),
        example="RuntimeError: Failed to infer device type",
    ),
    KnownError(
        id="E629",
        family="no-tpu-devices",
        phase=Phase.INITIALISING,
        patterns=(
            r"Defaulting to PJRT_DEVICE=CPU",
            r"`?TPUAccelerator`? can(?: ?)not run on your system",
            r"accelerator='tpu'.{0,60}?(?:requires|not available|not found)",
            r"launch a training on TPU from (?:a )?notebook",
        ),
        cause="PyTorch sees no TPU and takes the CPU: torch_xla without libtpu, a container or pod that was not given the chips, another process that holds them, or a machine that has none.",
        fix="""\
pip install "torch~=2.6.0" "torch_xla[tpu]~=2.6.0"                # with [tpu]: brings libtpu (2.6 as an example)
export PJRT_DEVICE=TPU                                              # then it says why it does not get the TPU
ls /dev/accel* /dev/vfio/* && sudo lsof -w /dev/accel* /dev/vfio/*   # docker run --privileged; GKE: resources.limits google.com/tpu: 4""",
        citations=("skypilot-org/skypilot#3947",),
        example="WARNING:root:Defaulting to PJRT_DEVICE=CPU",
    ),
)
