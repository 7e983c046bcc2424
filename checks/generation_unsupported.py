"""TPU004."""

from __future__ import annotations

from collections.abc import Iterator

from tpudiag.model import Evidence, Finding, Severity, check
from tpudiag.signals import Signals

from ._need import need, of_a_job

NEWEST_TENSORFLOW_TPU = (2, 20)
"""The newest release of tensorflow-tpu known here."""


@check("TPU004", Severity.ERROR)
def generation_unsupported(signals: Signals) -> Iterator[Finding | Evidence]:
    """This TensorFlow cannot drive the TPU generation.

    ## What it sees
    The version of TensorFlow that the job imports, and the generation of the target.

    ## Why it costs
    The job fails at start ("No TPU platform registered"), after the TPU has been booked.

    ## What to do
    v5e, v5p and v6e need TensorFlow 2.15 or newer and a -pjrt runtime image; TPU7x has no
    TensorFlow at all: train on v6e, or with JAX.
    ```
    pip install 'tensorflow-tpu==2.20.*' 'libtpu<=0.0.31'
    ```

    ## Source
    Cloud TPU documentation, software versions; tensorflow#90807.
    """
    of_a_job(signals, "the version of TensorFlow")
    target = need(signals.target, "the target", "name it: `--for v5e-8`")
    seen = need(signals.tensorflow, "TensorFlow's import")
    version = need(seen.version, "TensorFlow's version (its import failed: see TPU002)")
    minimum = target.hardware.minimum_tensorflow
    if minimum is None:
        yield Finding(
            f"{target.generation} is not supported by any TensorFlow.",
            "choose a v6e or older (`--for v6e-8`), or train with JAX",
            (Evidence("tensorflow", version, limit="none", source="job"),),
        )
        return
    needed = ".".join(map(str, minimum))
    found = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if found < minimum:
        yield Finding(
            f"TensorFlow {version} cannot drive {target.generation}: it needs {needed} or newer.",
            "pip install 'tensorflow-tpu==2.20.*' 'libtpu<=0.0.31'",
            (Evidence("tensorflow", version, limit=needed),),
        )
    yield Evidence("tensorflow", version, limit=f">= {needed} for {target.generation}")
    if found > NEWEST_TENSORFLOW_TPU:
        yield Evidence("newest tensorflow-tpu known", "2.20", source="package index, 2026-11")
