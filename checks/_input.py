"""What a fix of the input pipeline is worth, as a check says it."""

from __future__ import annotations

from tpudiag.model import Evidence
from tpudiag.signals import Pipeline

SOURCE = "the pipeline alone on this machine"


def worth(pipeline: Pipeline, fix: str) -> tuple[str, tuple[Evidence, ...]]:
    """A sentence and its evidence, both empty where it was not measured."""
    for speed in pipeline.speeds:
        if speed.fix == fix:
            before, after = round(speed.before_examples_per_s), round(speed.after_examples_per_s)
            beside = " beside a step as long as a batch takes" if fix == "prefetch" else ""
            return (
                f" {before:,} -> {after:,} examples/s on this machine{beside}.",
                (
                    Evidence("as built", before, "examples/s", source=SOURCE),
                    Evidence(f"with {fix}", after, "examples/s", source=SOURCE),
                ),
            )
    return "", ()
