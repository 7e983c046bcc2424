"""tf.data's AUTOTUNE choices next to the script's own settings."""

from tpudiag.report_figures import Table
from tpudiag.signals import AutotuneChoice, Pipeline, Signals

COLUMNS = ("transformation", "line", "setting", "as built", "AUTOTUNE chose", "holds MiB")
SOURCE = "the pipeline alone on this machine"


def tables(signals: Signals) -> tuple[Table, ...]:
    """One table for each pipeline with recorded choices."""
    return tuple(_table(pipeline) for pipeline in signals.pipelines or () if pipeline.autotuned)


def _table(pipeline: Pipeline) -> Table:
    """The choices of one pipeline."""
    speed = next((speed for speed in pipeline.speeds if speed.fix == "AUTOTUNE"), None)
    title = "tf.data AUTOTUNE"
    if speed is not None:
        title += (
            f": {speed.after_examples_per_s:,.0f} examples/s, "
            f"{speed.before_examples_per_s:,.0f} with the static values"
        )
    return Table(title, COLUMNS, tuple(map(_row, pipeline.autotuned)), SOURCE)


def _row(choice: AutotuneChoice) -> tuple[str | int | float, ...]:
    """One setting."""
    # -1 is tf.data.AUTOTUNE itself.
    built = {None: "not set", -1: "AUTOTUNE"}.get(choice.built_with, str(choice.built_with))
    return (
        choice.transformation,
        str(choice.location or "added by tf.data"),
        choice.setting,
        built,
        choice.chosen,
        round(choice.held_bytes / 2**20, 2),
    )
