# ruff: noqa: E501  (texts of other programs stay as they are)
"""Coral's Edge TPU, which is met where a Cloud TPU is looked for, and the reverse."""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="P176",
        family="edge-tpu",
        phase=Phase.INITIALISING,
        patterns=(
            r"Failed to load delegate from (?:lib)?edgetpu",
            r"'GetEdgeTpuContext\(",
            r"(?:lib)?edgetpu\.(?:so\.\d|dll|dylib|1\.dylib).{0,40}?(?:not found|cannot open|could not be)",
        ),
        cause="Coral's Edge TPU was not opened: a small device for TensorFlow Lite, no Cloud TPU. It is not plugged in or not seen (USB, PCIe), its driver or libedgetpu is missing or of another release than the TFLite runtime, the user may not use it, or another process holds it.",
        fix="""\
lsusb | grep -E "1a6e:089a|18d1:9302"; ls -l /dev/apex_0           # USB; PCIe and M.2: the gasket driver (dkms) for this kernel
dpkg -l | grep edgetpu; pip list | grep -iE "tflite|pycoral|ai.edge"   # libedgetpu and tflite-runtime of one age; Python that pycoral supports
sudo usermod -aG apex,plugdev $USER                                   # then log in again; a container: --device /dev/bus/usb or /dev/apex_0
sudo lsof /dev/apex_0; # another port (USB 3) or a powered hub; restart after the driver was installed""",
        rivals=(
            Rival(
                cause="the device is not seen",
                look_for="a virtual machine or container, a USB port that gives too little power",
                decide='lsusb | grep -E "1a6e:089a|18d1:9302"; ls /dev/apex_0',
                families=("no-device",),
            ),
            Rival(
                cause="libedgetpu, driver and TFLite runtime do not belong together",
                look_for="a new Python or kernel; Windows",
                decide="dpkg -l | grep edgetpu; pip list | grep -i tflite",
                families=("libtpu-pair",),
            ),
            Rival(
                cause="no right to the device, or another process holds it",
                look_for="it works with sudo; Frigate or another server runs",
                decide="ls -l /dev/apex_0; sudo lsof /dev/apex_0",
                families=("tpu-busy",),
            ),
        ),
        citations=(
            "google-coral/edgetpu#756",
            "google-coral/edgetpu#629",
            "tensorflow/tensorflow#34135",
        ),
        example="ValueError: Failed to load delegate from libedgetpu.so.1",
    ),
)
