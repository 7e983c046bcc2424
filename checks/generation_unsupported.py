from collections.abc import Iterator

from tpudiag.installs import words
from tpudiag.installs.table import STANDS
from tpudiag.model import Evidence, Finding, Judgement, NotMeasured, Severity, check
from tpudiag.signals import CloudTpu, Signals

from ._cloud_tpu import SOURCE, commands, image_tensorflow, image_trouble, working_image
from ._need import need, of_a_job, two_numbers

_NO_TENSORFLOW = (
    "choose a v6e or older (`--for v6e-8`), or train with JAX: of a Keras 3 script that is\n"
    "KERAS_BACKEND=jax and keras.distribution.DataParallel() in place of TPUStrategy"
)
_DESCRIBE = "`gcloud compute tpus tpu-vm describe` tells the accelerator type"


@check("TPU004", Severity.ERROR)
def generation_unsupported(signals: Signals) -> Judgement:
    """This TensorFlow cannot drive the TPU generation.

    ## What it sees
    The version of TensorFlow that the job imports, and the generation of the target. With `tpudiag
    attach --tpu NAME`, the runtime image of the TPU and the TensorFlow in its name.

    ## Why it costs
    The job fails at start ("No TPU platform registered"), after the TPU has been booked.

    ## What to do
    v5e, v5p and v6e need TensorFlow 2.15 or newer and a -pjrt runtime image; TPU7x has no
    TensorFlow at all: train on v6e, or with JAX, which drives every generation. A Keras 3 model
    goes over by its backend (`KERAS_BACKEND=jax`, `keras.distribution.DataParallel()` in place of
    TPUStrategy); `tpudiag check` looks at that script as it does at this one.
    ```
    <<tpu_install>>
    ```

    ## Source
    Cloud TPU documentation, software versions; tensorflow#90807.
    """
    # The TensorFlow of the machine that asks is not that of the TPU's workers.
    if signals.cloud_tpu is not None:
        yield from _of_image(signals.cloud_tpu, signals)
        return
    of_a_job(signals, "the version of TensorFlow")
    target = need(signals.target, "the target", "name it: `--for v5e-8`")
    seen = need(signals.tensorflow, "TensorFlow's import")
    version = need(seen.version, "TensorFlow's version (its import failed: see TPU002)")
    minimum = target.hardware.minimum_tensorflow
    if minimum is None:
        yield Finding(
            f"{target.generation} is not supported by any TensorFlow.",
            _NO_TENSORFLOW,
            (Evidence("tensorflow", version, limit="none", source="job"),),
        )
        return
    needed = ".".join(map(str, minimum))
    release = two_numbers(version)
    if release < minimum:
        yield Finding(
            f"TensorFlow {version} cannot drive {target.generation}: it needs {needed} or newer.",
            words.INSTALL,
            (Evidence("tensorflow", version, limit=needed),),
        )
    yield Evidence("tensorflow", version, limit=f">= {needed} for {target.generation}")
    newest, claim = STANDS.name, STANDS.deciding
    if STANDS.tensorflow is not None and release > two_numbers(newest.split()[-1]):
        yield Evidence("newest that finds a TPU", newest, source=words.claimed(claim))


def _of_image(node: CloudTpu, signals: Signals) -> Judgement:
    target = need(signals.target, f"a known generation in {node.accelerator_type}", _DESCRIBE)
    seen = Evidence("runtime version", node.runtime_version, source=SOURCE)
    release = image_tensorflow(node)
    if release is None:
        raise NotMeasured(
            f"the runtime image {node.runtime_version} names no TensorFlow: it is what was "
            "installed on the workers",
            "on a worker: `tpudiag check --tpu local`",
        )
    minimum = target.hardware.minimum_tensorflow
    version = ".".join(map(str, release))
    if minimum is None or release < minimum:
        needed = "no TensorFlow drives it" if minimum is None else "it needs {}.{}".format(*minimum)
        yield Finding(
            f"The runtime image's TensorFlow {version} cannot drive {target.generation}: {needed}.",
            _NO_TENSORFLOW
            if minimum is None
            else commands(node)["again"].replace(
                node.runtime_version, working_image(node, target.generation)
            ),
            (seen,),
        )
    for fault, instead in image_trouble(node, target.generation):
        yield Finding(
            f"The runtime image {node.runtime_version} does not fit: {fault}.",
            commands(node)["again"].replace(node.runtime_version, instead),
            (seen,),
        )
    yield from _of_installed(version, signals)
    yield seen


def _of_installed(image: str, signals: Signals) -> Iterator[Finding]:
    installed = signals.environment.distributions if signals.environment is not None else {}
    for name in ("tensorflow-tpu", "tensorflow"):
        own = installed.get(name)
        if own is not None and ".".join(own.split(".")[:2]) != image:
            yield Finding(
                f"{name} {own} is installed in an image made for TensorFlow {image}: the "
                "libtpu of the image may not fit it.",
                f"pip install '{name}=={image}.*', or an image for {own}",
                (Evidence(name, own, limit=image, source="installed packages"),),
                severity=Severity.WARNING,
            )
