from tpudiag.compiled import Compilation, HbmTensor
from tpudiag.model import BOTH, Evidence, Finding, Judgement, Severity, check
from tpudiag.signals import Signals

from ._compiler import program_of, tensor_text
from ._need import ON_THE_TPU, mib, need, share_of
from ._profile import replicas_of, whole_trace

LIMIT = 0.10
"""Share of HBM that the padding of one result may take."""


WORST = "padding of the worst result"
FIX = "make the last dimension a multiple of 128 and the one before it a multiple of 8"


@check("TPU302", Severity.WARNING, needs_model=True, frameworks=BOTH)
def padding_waste(signals: Signals, limit: float = LIMIT) -> Judgement:
    """Tile padding fills a good part of HBM.

    ## What it sees
    In the program that the TPU compiler makes of the lowered step, and in a profile, the shape and
    tiled layout of every operation's result in HBM: its size without and with the padding to whole
    tiles (8 x 128 for float32). The largest loss is compared with the HBM that the compiler may
    use.

    ## Why it costs
    A result of 8,192 x 8 floats takes the space of 8,192 x 128: HBM and its bandwidth, sixteenfold.

    ## What to do
    Keep the last dimension a multiple of 128, the one before it a multiple of 8:
    ```python
    x = tf.reshape(x, (batch, height * channels))   # not (batch, height, channels=3)
    keras.layers.Dense(128)                         # not Dense(100)
    ```

    ## Source
    openxla/xla tiled_layout.md; XProf's memory viewer (padding)
    """
    compiled = program_of(signals)
    if compiled is not None:
        step, program = compiled
        yield from _compiled(step, program.padded, limit)
        return
    profile, _ = replicas_of(signals)
    tensors = need(profile.padded, "the tiled layout of an operation's result", ON_THE_TPU)
    target = need(signals.target, "the kind of the devices", ON_THE_TPU)
    usable, worst = target.hardware.usable_hbm_bytes, tensors[0]
    lost = worst.padded_bytes - worst.logical_bytes
    evidence = (
        share_of(WORST, lost / usable, "% of HBM", limit, profile.source),
        Evidence("padded size", worst.padded_bytes, "bytes", source=profile.source),
        Evidence("size without padding", worst.logical_bytes, "bytes", source=profile.source),
    )
    if lost > limit * usable:
        yield Finding(
            f"{worst.name} takes {mib(worst.padded_bytes)} for {mib(worst.logical_bytes)} of "
            f"data: its shape {worst.shape} is padded up to whole tiles.",
            FIX,
            evidence,
            cost_bytes=lost,
        )
    else:
        whole_trace(profile)
    yield from evidence


def _compiled(step: Compilation, tensors: tuple[HbmTensor, ...], limit: float) -> Judgement:
    lost = tensors[0].padded_bytes - tensors[0].logical_bytes if tensors else 0
    share = lost / step.usable_bytes
    each = (
        Evidence(tensor_text(t), t.padded_bytes - t.logical_bytes, "B lost", source=step.source)
        for t in tensors
    )
    evidence = (share_of(WORST, share, "% of HBM", limit, step.source), *each)
    if share > limit:
        yield Finding(
            f"{tensor_text(tensors[0])}: its shape is padded up to whole tiles.",
            FIX,
            evidence,
            tensors[0].location,
            cost_bytes=lost,
        )
    yield from evidence
