"""The meaning of the Cloud TPU API's states, health, symptoms and runtime images."""

import re
from collections.abc import Iterator

from tpudiag.hardware import GENERATIONS
from tpudiag.installs.table import IMAGE, IMAGE_OF_V6E
from tpudiag.model import Evidence, Finding, Severity
from tpudiag.signals import CloudTpu

SOURCE = "Cloud TPU API"
_WAIT = "wait until it is READY: {describe}"
_STATES = {
    "PREEMPTED": ("it was preempted: its TPU was given to others", "{again}"),
    "TERMINATED": ("it was ended, by maintenance or at the end of its life", "{again}"),
    "STOPPED": ("it is stopped", "{start}"),
    "STOPPING": ("it is being stopped", "{start}"),
    "DELETING": ("it is being deleted", "{again}"),
    "CREATING": ("it is still being created", _WAIT),
    "STARTING": ("it is still starting", _WAIT),
    "RESTARTING": ("it is restarting, and what ran on it is gone", _WAIT),
    "REIMAGING": ("its disk is being made anew, and what ran on it is gone", _WAIT),
    "REPAIRING": ("it is being repaired and may not be used", _WAIT + "; if it lasts: {again}"),
    "UNKNOWN": ("a repair of it failed", "{again}"),
    "HIDDEN": ("it is hidden", _WAIT),
}
_HEALTH = {
    "TIMEOUT": ("it does not answer its health check", "{restart}"),
    "UNHEALTHY_TENSORFLOW": ("the runtime on its workers is unhealthy", "{restart}"),
    "UNHEALTHY_MAINTENANCE": (
        "it is under maintenance, or gives way to a job of higher priority",
        _WAIT + "; save checkpoints often, and resume from the last",
    ),
}
_SYMPTOMS = {
    "LOW_MEMORY": "the host's memory is nearly full: smaller shuffle and prefetch buffers, no "
    "cache() of what does not fit",
    "OUT_OF_MEMORY": "the host ran out of memory: smaller shuffle and prefetch buffers, no cache() "
    "of what does not fit",
    "HBM_OUT_OF_MEMORY": "smaller per-replica batch, mixed_bfloat16; see TPU301",
    "EXECUTE_TIMED_OUT": "a step hung: look for a host that does not take part "
    "(tpudiag attach --tpu {name}), then {restart}",
    "MESH_BUILD_FAIL": "its chips do not find each other: {again}",
    "PROJECT_ABUSE": "the project was flagged: write to Google Cloud support",
}
_IMAGE = re.compile(r"tpu-vm-tf-(\d+)\.(\d+)(?:\.\d+)?(?P<rest>[-\w]*)")


def commands(node: CloudTpu) -> dict[str, str]:
    """The gcloud commands for this TPU, by purpose."""
    at = f"{node.name} --zone {node.zone} --project {node.project}"
    vm = "gcloud compute tpus tpu-vm"
    accelerator = f"--accelerator-type {node.accelerator_type} --version {node.runtime_version}"
    spot = " --spot" if node.preemptible else ""
    again = f"{vm} delete {at} && {vm} create {at} {accelerator}{spot}"
    one_host = len(node.workers) <= 1  # a pod can only be recreated, not stopped
    return {
        "name": node.name,
        "describe": f"{vm} describe {at}",
        "start": f"{vm} start {at}",
        "restart": f"{vm} stop {at} && {vm} start {at}" if one_host else again,
        "again": again,
    }


def trouble(node: CloudTpu) -> Iterator[Finding]:
    """What is wrong with the TPU itself: its state, its health, its symptoms."""
    words = commands(node)
    described = f" ({node.health_description})" if node.health_description else ""
    # Unspecified is what the API leaves out: no known problem.
    for name, value, fine, known in (
        ("state", node.state, "READY", _STATES),
        ("health", node.health, "HEALTHY", _HEALTH),
    ):
        if value not in (fine, f"{name.upper()}_UNSPECIFIED"):
            meaning, fix = known.get(value, (f"it is not {fine.lower()}", _WAIT))
            yield Finding(
                f"TPU {node.name} is {value}: {meaning}{described}.",
                fix.format(**words),
                (Evidence(name, value, limit=fine, source=SOURCE),),
            )
    for symptom in node.symptoms:
        # A symptom's type, worker and details come in one text; an unknown type is shown unchanged.
        kind = re.split(r"[: ]", symptom, maxsplit=1)[0]
        yield Finding(
            f"TPU {node.name} had a symptom: {symptom}.",
            _SYMPTOMS.get(kind, "{describe}").format(**words),
            (Evidence("symptom", symptom, source=SOURCE),),
            severity=Severity.WARNING,
        )


def image_tensorflow(node: CloudTpu) -> tuple[int, int] | None:
    """The TensorFlow release in the runtime image's name; None where it has none."""
    match = _IMAGE.fullmatch(node.runtime_version)
    return (int(match[1]), int(match[2])) if match else None


def working_image(node: CloudTpu, generation: str) -> str:
    """An image whose TensorFlow supports the generation, according to its vendor and users."""
    pod = "-pod" if len(node.workers) > 1 else ""
    if generation == "v6e":
        return f"tpu-vm-tf-{IMAGE_OF_V6E}{pod}-pjrt-v5e-and-v6"
    hardware = next((g for g in GENERATIONS if g.name == generation), None)
    runtime = "pjrt" if hardware is None or hardware.needs_pjrt else "se"
    return f"tpu-vm-tf-{IMAGE}{pod}-{runtime}"


def image_trouble(node: CloudTpu, generation: str) -> Iterator[tuple[str, str]]:
    """What is wrong with the runtime image for this TPU, and the image to use instead."""
    match = _IMAGE.fullmatch(node.runtime_version)
    if match is None:
        return
    release, rest = (int(match[1]), int(match[2])), match["rest"]
    pod = len(node.workers) > 1
    fitting = f"tpu-vm-tf-{match[1]}.{match[2]}.x{'-pod' if pod else ''}-pjrt"
    if pod and "-pod" not in rest:
        yield f"it is not made for pods, and the TPU has {len(node.workers)} workers", fitting
    hardware = next((g for g in GENERATIONS if g.name == generation), None)
    # Older images have no -pjrt at all: for them the TensorFlow release is reported as too old.
    if hardware and hardware.needs_pjrt and release >= (2, 15) and "-pjrt" not in rest:
        yield f"{generation} needs an image with PJRT", fitting
    if "v5p-and-below" in rest and generation in ("v5e", "v6e"):
        yield f"it is made for v5p and older, not {generation}", f"{fitting}-v5e-and-v6"
    if "v5e-and-v6" in rest and generation not in ("v5e", "v6e"):
        yield f"it is made for v5e and v6e, not {generation}", f"{fitting}-v5p-and-below"
    if release == (2, 19) and "-pod" in rest:
        yield (
            "jobs hang with it at experimental_connect_to_cluster (tensorflow#93618)",
            working_image(node, generation),
        )
