"""The script's coverage in a report, and failed hooks of tpudiag."""

import re
from collections.abc import Iterator, Mapping, Sequence

from tpudiag.diagnoses import older_release
from tpudiag.diagnoses.report_parts import count, listed
from tpudiag.script_run import Coverage, HookDefect, Misfit, StepFunction, UnreachedLines

SHOWN = 4
FULL_DISK = re.compile("No space left on device|Disk quota exceeded")
_BY_KERAS = ("epochs of fit", "steps of an epoch", "batches of predict")
_LIBRARY: dict[str, str] = dict.fromkeys(
    ("one_step_on_iterator", "multi_step_on_iterator", "one_step_on_data", "train_function",
     "JAXTrainer.train_step"),
    "Keras' training step",
)  # fmt: skip


def urgent(
    coverage: Coverage | None,
    misfits: Sequence[Misfit],
    defects: Sequence[HookDefect],
    installed: Mapping[str, str],
    *,
    killed: bool = False,
) -> Iterator[str]:
    """What a reader must know first: where time ran out, and which of our hooks failed.

    `killed`: the job was ended from outside, for want of memory or time.

    `installed`: the distributions of the job's environment, with their versions.
    """
    if coverage is not None and (coverage.end == "budget" or killed):
        where = f" at {coverage.stopped_at}" if coverage.stopped_at is not None else ""
        what = "job was" if killed else "time for the rest of the script"
        yield (
            f"The {what} ended{where}, after {coverage.rest_s:.0f} s; "
            f"{_unreached(coverage.unreached)}."
            + ("" if killed else " `--budget TIME` gives it longer.")
        )
    yield from map(str, misfits)
    full = [defect for defect in defects if FULL_DISK.search(defect.error)]
    defects = [defect for defect in defects if defect not in full]
    if full:
        yield (
            f"A disk was full while the job ran ({full[0].error}): what tpudiag keeps of a run is "
            "not whole. `--log-dir DIR` and TMPDIR name other disks."
        )
    names = ", ".join(defect.hook for defect in defects[:SHOWN])
    old = older_release.too_old(installed) if defects else None
    if old is not None:
        yield f"{count(len(defects), 'hook')} of tpudiag ({names}) saw nothing: {old}."
    elif defects:
        yield (
            f"{count(len(defects), 'hook')} of tpudiag failed ({names}): our defect, not the "
            "job's, which went on without. The JSON report holds the tracebacks; please report it."
        )


def notes(coverage: Coverage | None) -> Iterator[str]:
    """The training functions, and what was shortened; a paragraph each."""
    if coverage is None:
        return
    if coverage.end == "first loop":
        yield "The script was ended after the steps observed (`--first-loop`)."
        return
    for trains, heading in ((True, "Training functions"), (False, "Cut short beside them")):
        functions = [_function(each) for each in coverage.functions if each.trains is trains]
        if functions:
            yield f"{heading}: {'; '.join(functions)}."
    shortened = [
        f"{each.kind} ({each.location}): {each.ran} of {each.asked or 'all'}"
        for each in coverage.shortened
    ]
    # A shortened loop of the script's own still reads all examples.
    by_keras = any(each.kind in _BY_KERAS for each in coverage.shortened)
    if shortened:
        yield (
            "Shortened past the steps observed: "
            + "; ".join(shortened)
            + "."
            + (
                " Of each batch that Keras then read, some examples stood for the others where its "
                "pipeline allows it."
                if by_keras
                else ""
            )
        )


def _function(function: StepFunction) -> str:
    """One training function: its name, and how often it ran and was forwarded."""
    name, place = function.name, function.location
    # A function of Keras has a name that nobody wrote: show the calling line.
    if place is None:
        name, place = _LIBRARY.get(name, name), function.called_at
    where = f" ({place})" if place is not None else ""
    ran = f"{count(function.ran, 'call')} ran"
    if function.forwarded:
        ran += f", {function.forwarded:,} more were answered with its last result"
    return f"{name}{where}: {ran}"


def _unreached(rest: Sequence[UnreachedLines]) -> str:
    if not rest:
        return "no statement of the main flow follows there"
    first = listed([str(lines) for lines in rest], SHOWN, "; ")
    return f"{count(len(rest), 'statement was', 'statements were')} not reached: {first}"
