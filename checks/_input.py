"""The gain of an input pipeline fix, for messages."""

from tpudiag.model import Evidence
from tpudiag.signals import Pipeline

SOURCE = "the pipeline alone on this machine"


NO_FASTER = 0.95
"""A fix after which the pipeline reached less than this share of its rate is none."""
FASTER = 1.05
"""From this factor on a fix is reported as a gain: less is noise."""
TAKEN = 0.15
"""From this share of the cores on, taken by others, no gain of parallel work is no evidence."""


def refuted(pipeline: Pipeline, fix: str) -> bool:
    """Whether the measurement shows that a fix makes the pipeline slower than it ever was."""
    return any(
        speed.fix == fix
        and (speed.others or 0.0) < TAKEN
        and speed.after_examples_per_s
        # Compared with the slowest turn without the fix: on a shared machine turns differ as much.
        < NO_FASTER * (speed.slowest_before_examples_per_s or speed.before_examples_per_s)
        for speed in pipeline.speeds
    )


def worth(pipeline: Pipeline, fix: str) -> tuple[str, tuple[Evidence, ...]]:
    """A sentence and its evidence; no sentence for no gain, and neither where unmeasured.

    Contradictory turns, on a shared machine, are no evidence.
    """
    for speed in pipeline.speeds:
        slower = speed.after_examples_per_s < NO_FASTER * speed.before_examples_per_s
        if speed.fix == fix and (not slower or refuted(pipeline, fix)):
            before, after = round(speed.before_examples_per_s), round(speed.after_examples_per_s)
            beside = " beside a step as long as a batch takes" if fix == "prefetch" else ""
            gains = after >= FASTER * before
            return (
                f" {before:,} -> {after:,} examples/s on this machine{beside}." if gains else "",
                (
                    Evidence("as built", before, "examples/s", source=SOURCE),
                    Evidence(f"with {fix}", after, "examples/s", source=SOURCE),
                ),
            )
    return "", ()
