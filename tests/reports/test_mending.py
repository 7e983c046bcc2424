"""What fix and check say of changes."""

import json
from dataclasses import replace

from tests import made
from tpudiag.catalogue import renderer
from tpudiag.model import Finding, Location, Outcome, Severity, Verdict
from tpudiag.source_change import Effect, FigureChange, Mending, Replacement, SourceChange

DIFF = "--- a/train.py\n+++ b/train.py\n@@ -1 +1 @@\n-ds.batch(8)\n+ds.batch(8, True)\n"
CHANGE = SourceChange(
    title="drop the batch that is not full",
    file="train.py",
    effect=Effect.ORDER,
    replacements=(Replacement(line=1, column=11, end_line=1, end_column=11, text=", True"),),
    diff=DIFF,
    state="proven",
    proof="rehearsed: the finding is gone",
    worth="7 -> 1 traces",
)
OPEN = Finding("open", "ds.batch(8, True)", (), Location("train.py", 1), change=CHANGE)
BY_HAND = Finding("Python", "use tf.image", (), Location("train.py", 3), no_change="it is Python")


def outcome(id_: str, finding: Finding) -> Outcome:
    return made.outcome(id_, Verdict.FAILED, finding, name="a-name", severity=Severity.WARNING)


REPORT = made.report(
    outcome("TPU102", OPEN), outcome("TPU207", BY_HAND), fix_command="tpudiag fix train.py"
)
MENDED = replace(
    REPORT,
    fix_command=None,
    mending=Mending(
        rehearsals=2, diff=DIFF, figures=(FigureChange("traces", 7, 1, "traces"),), left=2
    ),
)


def test_check_ends_with_what_fix_mends() -> None:
    assert "tpudiag fix train.py mends 1 of 2" in renderer("text")(REPORT)
    model = replace(OPEN, change=replace(CHANGE, effect=Effect.MODEL))
    unsafe = replace(REPORT, outcomes=(outcome("TPU401", model),))
    assert "mends" not in renderer("text")(unsafe)


def test_fix_shows_the_difference_the_proof_and_what_is_left() -> None:
    text = renderer("text")(MENDED)
    assert DIFF in text
    assert "proven   TPU102 train.py:1  drop the batch that is not full" in text
    assert "traces: 7 -> 1 traces" in text
    assert "by hand  TPU207 train.py:3" in text
    assert "it is Python." in text
    assert "1 of 2 findings mended, proven by 2 rehearsals" in text
    assert "--write changes the files" in text


def test_findings_that_were_not_selected_are_not_counted() -> None:
    unasked = replace(BY_HAND, no_change=None)
    text = renderer("text")(replace(MENDED, outcomes=(*REPORT.outcomes, outcome("TPU1", unasked))))
    assert "1 of 2 findings mended" in text


def test_where_nothing_is_mended_nothing_is_proven() -> None:
    dropped = replace(OPEN, change=replace(CHANGE, state="dropped", proof="the job crashed"))
    nothing = replace(MENDED, outcomes=(outcome("TPU102", dropped),))
    assert "0 of 1 findings mended, tried in 2 rehearsals" in renderer("text")(nothing)


def test_sarif_carries_the_change() -> None:
    first, second = json.loads(renderer("sarif")(REPORT))["runs"][0]["results"]
    [change] = first["fixes"][0]["artifactChanges"]
    assert change["artifactLocation"] == {"uri": "train.py"}
    assert change["replacements"] == [
        {
            "deletedRegion": {"startLine": 1, "startColumn": 11, "endLine": 1, "endColumn": 11},
            "insertedContent": {"text": ", True"},
        }
    ]
    assert "fixes" not in second


def test_html_shows_the_difference_to_be_copied() -> None:
    page = renderer("html")(REPORT)
    assert "+ds.batch(8, True)" in page
    assert "the change for TPU102" in page
    assert "No change by itself: it is Python" in page
